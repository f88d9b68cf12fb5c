#include "viewer/scene/multiples.h"

#include <algorithm>

#include "viewer/scene/rows.h"
#include "viewer/scene/scene.h"

namespace tutti::viewer {
namespace {

// What begins at or behind `width` goes, what reaches over it is cut.
void CutAt(float width, std::vector<BandMark>* band) {
  std::erase_if(*band, [&](const BandMark& mark) { return static_cast<float>(mark.x0) >= width; });
  for (BandMark& mark : *band) mark.x1 = std::min(mark.x1, static_cast<int>(width) + 1);
}

}  // namespace

int64_t StepAxisNs(const RunSummary& summary) {
  std::vector<int64_t> lengths;
  for (const schema::StepWindowRow& window : summary.windows) lengths.push_back(window.step_ns);
  if (lengths.empty()) return 1;
  std::sort(lengths.begin(), lengths.end());
  return std::max<int64_t>(Viewport::kShortestNs,
                           lengths[lengths.size() - 1 - lengths.size() / 50]);
}

std::vector<StepBand> StepBands(const RunSummary& summary, const RankTraces& ranks, uint32_t slot,
                                size_t first, size_t count, int width_px) {
  std::vector<StepBand> bands;
  if (slot >= ranks.size() || ranks[slot] == nullptr || width_px < 1) return bands;
  const int64_t axis_ns = StepAxisNs(summary);
  const std::vector<const Lane*> lanes = LanesOf(ranks, WorkTracks(ranks, slot));
  const int64_t rank = summary.ranks[slot].rank;
  size_t place = 0;
  for (const schema::StepWindowRow& window : summary.windows) {
    if (window.rank != rank || place++ < first) continue;
    if (bands.size() == count) break;
    const Viewport viewport{window.begin_ns, window.begin_ns + axis_ns, width_px};
    StepBand band{window.step, window.step_ns, static_cast<float>(viewport.ToX(window.end_ns)),
                  BandOf(lanes, viewport, true)};
    CutAt(band.end_x, &band.band);
    bands.push_back(std::move(band));
  }
  return bands;
}

}  // namespace tutti::viewer
