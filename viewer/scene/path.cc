#include "viewer/scene/path.h"

#include <algorithm>

namespace tutti::viewer {
namespace {

// The name of a piece may say more than that of the event: "all_reduce float32 20480 B".
bool IsNamed(std::string_view event, std::string_view piece) {
  return !event.empty() && piece.starts_with(event) &&
         (piece.size() == event.size() || piece[event.size()] == ' ');
}

class PathMarker {
 public:
  PathMarker(const RunSummary& summary, const RankTraces& ranks, const NameTable& names,
             const Scene& scene)
      : summary_(summary), ranks_(ranks), names_(names), scene_(scene) {}

  // Bottom of what shows the piece, nullopt: nothing on screen does.
  std::optional<float> PlaceOf(const PathPiece& piece) const {
    const std::optional<size_t> slot = summary_.SlotOf(piece.rank);
    if (!slot.has_value() || ranks_[*slot] == nullptr) return std::nullopt;
    std::optional<float> of_rank;
    for (const SceneRow& row : scene_.rows) {
      if (row.row.rank != *slot) continue;
      if (row.row.kind == RowKind::kRank) of_rank = row.y + row.row.height - 3;
      if (row.row.kind != RowKind::kTrack || piece.name.empty()) continue;
      const Track& track = ranks_[*slot]->tracks[row.row.track];
      const size_t shown = row.row.lanes_shown == 0 ? track.lanes.size() : row.row.lanes_shown;
      for (size_t lane = 0; lane < std::min(shown, track.lanes.size()); ++lane) {
        if (!Runs(track.lanes[lane], piece)) continue;
        if (row.row.lanes_shown == 0) return row.y + row.row.height - 3;
        return row.y + kLaneHeight * static_cast<float>(lane + 1) - 1;
      }
    }
    return of_rank;
  }

 private:
  // Whether the lane has an event of the piece's name in the middle of it.
  bool Runs(const Lane& lane, const PathPiece& piece) const {
    const int64_t middle = piece.begin_ns + (piece.end_ns - piece.begin_ns) / 2;
    const uint32_t index = lane.FirstEndingAfter(middle);
    return index < lane.size() && lane.begin_ns(index) <= middle &&
           IsNamed(names_.Text(lane.name(index).name), piece.name);
  }

  const RunSummary& summary_;
  const RankTraces& ranks_;
  const NameTable& names_;
  const Scene& scene_;
};

}  // namespace

std::vector<PathMark> MarkPath(std::span<const PathPiece> pieces, const RunSummary& summary,
                               const RankTraces& ranks, const NameTable& names,
                               const Scene& scene) {
  const PathMarker marker(summary, ranks, names, scene);
  const Viewport& viewport = scene.viewport;
  const auto x_of = [&](int64_t time_ns) {
    return static_cast<float>(
        std::clamp(viewport.ToX(time_ns), -8.0, static_cast<double>(viewport.width_px) + 8.0));
  };
  std::vector<PathMark> marks;
  auto piece = std::partition_point(pieces.begin(), pieces.end(), [&](const PathPiece& candidate) {
    return candidate.end_ns <= viewport.begin_ns;
  });
  float last_looked = -16;  // x of the last piece that was looked for: one a pixel is enough
  for (; piece != pieces.end() && piece->begin_ns < viewport.end_ns; ++piece) {
    const float x0 = x_of(piece->begin_ns);
    const float x1 = x_of(piece->end_ns);
    const bool is_tiny = x1 - x0 < 1 && x0 - last_looked < 1;
    if (is_tiny) {
      if (!marks.empty() && x0 - marks.back().x1 < 1) {
        marks.back().x1 = std::max(marks.back().x1, x1);
      }
      continue;
    }
    last_looked = x0;
    const std::optional<float> y = marker.PlaceOf(*piece);
    if (!y.has_value()) continue;
    if (!marks.empty() && marks.back().y == *y && x0 - marks.back().x1 < 1) {
      marks.back().x1 = x1;
    } else {
      marks.push_back({x0, x1, *y});
    }
  }
  return marks;
}

}  // namespace tutti::viewer
