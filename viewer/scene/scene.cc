#include "viewer/scene/scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "viewer/scene/format.h"

namespace tutti::viewer {
namespace {

constexpr double kTickDistance = 110;    // pixels, about
constexpr int kBandColumn = 2;           // pixels
constexpr double kStepLabelWidth = 34;   // narrower steps have no label
constexpr double kStepLineDistance = 3;  // closer lines are not drawn

// Until a rank's events are there, its band is made of its steps' parts.
std::vector<BandMark> BandOfSteps(const RunSummary& summary, int64_t rank,
                                  const Viewport& viewport) {
  std::vector<BandMark> band;
  for (const schema::StepWindowRow& window : summary.windows) {
    if (window.rank != rank || window.end_ns <= viewport.begin_ns ||
        window.begin_ns >= viewport.end_ns || window.step_ns <= 0) {
      continue;
    }
    const schema::StepBreakdownRow* parts = summary.FindBreakdown(rank, window.step);
    if (parts == nullptr) continue;
    const double whole = static_cast<double>(window.step_ns);
    BandMark mark{std::max(0, viewport.ColumnOf(window.begin_ns)),
                  std::min(viewport.width_px, viewport.ColumnOf(window.end_ns) + 1),
                  {}};
    const auto share = [&](Category category, int64_t ns) {
      mark.share[static_cast<size_t>(category)] =
          static_cast<float>(static_cast<double>(ns) / whole);
    };
    share(Category::kCompute, parts->compute_ns);
    share(Category::kCommunication, parts->exposed_comm_transfer_ns + parts->exposed_comm_wait_ns +
                                        parts->exposed_comm_unsplit_ns);
    share(Category::kCopy, parts->exposed_copy_ns);
    share(Category::kLoader, parts->input_wait_ns);
    share(Category::kWait, parts->sync_ns);
    band.push_back(mark);
  }
  return band;
}

std::vector<DeltaMark> DeltasOf(const RunSummary& summary, size_t slot, const Viewport& viewport) {
  std::vector<DeltaMark> marks;
  const std::optional<size_t> peer = summary.PeerOf(slot);
  if (!peer.has_value()) return marks;
  for (const schema::RunStepRow& step : summary.steps) {
    if (step.end_ns <= viewport.begin_ns || step.begin_ns >= viewport.end_ns) continue;
    const auto* a = summary.FindWindow(summary.ranks[slot].rank, step.step);
    const auto* b = summary.FindWindow(summary.ranks[*peer].rank, step.step);
    if (a == nullptr || b == nullptr) continue;
    const auto x0 = static_cast<float>(viewport.ToX(step.begin_ns));
    const auto x1 = static_cast<float>(viewport.ToX(step.end_ns));
    // A step may be longer than the time until the next begins.
    if (!marks.empty()) marks.back().x1 = std::min(marks.back().x1, std::max(x0, marks.back().x0));
    if (!marks.empty() && x0 - marks.back().x0 < 2) {
      DeltaMark& last = marks.back();
      last.x1 = std::max(last.x1, x1);
      last.a_ns += a->step_ns;
      last.b_ns += b->step_ns;
      ++last.steps;
    } else {
      marks.push_back({x0, x1, a->step_ns, b->step_ns, step.step});
    }
  }
  return marks;
}

// Whether a band says how busy something is, not what a track has.
bool ShowsWork(const RankTraces& ranks, const Row& row) {
  return row.track == kNoTrack || ranks[row.rank]->tracks[row.track].kind == TrackKind::kStream;
}

// A lane in which a thread does nothing but be in ranges that the program names.
bool HasOnlyRanges(const Lane& lane) {
  return std::all_of(lane.names().begin(), lane.names().end(),
                     [](const LaneName& entry) { return entry.category == Category::kStep; });
}

SceneRow BuildRow(const RunSummary& summary, const RankTraces& ranks, const Row& row, float y,
                  const Viewport& viewport) {
  SceneRow built;
  built.row = row;
  built.y = y;
  if (row.kind == RowKind::kDelta) {
    built.deltas = DeltasOf(summary, row.rank, viewport);
    return built;
  }
  if (row.kind == RowKind::kSeries) {
    const Track& track = ranks[row.rank]->tracks[row.track];
    built.envelope = EnvelopeOf(track.series, viewport);
    built.extent = track.series.extent();
    built.unit = track.unit;
    return built;
  }
  if (row.lanes_shown == 0) {
    const bool is_loading = row.kind == RowKind::kRank && ranks[row.rank] == nullptr;
    built.band =
        is_loading ? BandOfSteps(summary, summary.ranks[row.rank].rank, viewport)
                   : BandOf(LanesOf(ranks, row.band), viewport, ShowsWork(ranks, row), kBandColumn);
    return built;
  }
  built.lanes.resize(row.lanes_shown);
  const std::vector<Lane>& lanes = ranks[row.rank]->tracks[row.track].lanes;
  for (uint32_t i = 0; i < row.lanes_shown; ++i) {
    AppendMarks(lanes[i], viewport, &built.lanes[i]);
  }
  return built;
}

int64_t TickStep(const Viewport& viewport) {
  const double wanted = viewport.ns_per_px() * kTickDistance;
  int64_t step = 1;
  for (int64_t decade = 1; decade < int64_t{1} << 58; decade *= 10) {
    for (const int64_t factor : {1, 2, 5}) {
      step = decade * factor;
      if (static_cast<double>(step) >= wanted) return step;
    }
  }
  return step;
}

std::vector<StepLine> StepLinesOf(const RunSummary& summary, const Viewport& viewport) {
  std::vector<StepLine> lines;
  for (const schema::RunStepRow& step : summary.steps) {
    if (step.end_ns <= viewport.begin_ns || step.begin_ns >= viewport.end_ns) continue;
    StepLine line;
    line.x0 = static_cast<float>(viewport.ToX(step.begin_ns));
    line.x1 = static_cast<float>(viewport.ToX(step.end_ns));
    line.step = step.step;
    if (line.x1 - line.x0 >= kStepLabelWidth) line.label = std::to_string(step.number);
    const bool is_near = !lines.empty() && line.x0 - lines.back().x0 < kStepLineDistance;
    if (!is_near) lines.push_back(line);
  }
  return lines;
}

Hit HitRow(const SceneRow& row, float x, float y) {
  Hit hit;
  hit.row = &row;
  const auto lane = static_cast<int>((y - row.y - 1) / kLaneHeight);
  if (lane < 0 || lane >= static_cast<int>(row.lanes.size())) return hit;
  float best = 2;  // pixels beside a thin mark that still count
  for (const SpanMark& mark : row.lanes[static_cast<size_t>(lane)]) {
    if (mark.x0 > x + best) break;
    const float distance = std::max({0.0F, mark.x0 - x, x - mark.x1});
    if (distance >= best && distance > 0) continue;
    best = distance;
    hit.mark = &mark;
    hit.event = {row.row.rank, row.row.track, static_cast<uint32_t>(lane), mark.index};
  }
  return hit;
}

const SceneRow* RowAt(const std::vector<SceneRow>& rows, float y) {
  for (const SceneRow& row : rows) {
    if (y >= row.y && y < row.y + row.row.height) return &row;
  }
  return nullptr;
}

// Makes rows, or takes them from those that were made before.
struct RowSource {
  const RunSummary& summary;
  const RankTraces& ranks;
  const Viewport& viewport;
  std::vector<SceneRow> built;

  SceneRow Of(const Row& row, float y) {
    const auto found = std::find_if(built.begin(), built.end(), [&](const SceneRow& candidate) {
      return candidate.row.key == row.key;
    });
    if (found == built.end()) return BuildRow(summary, ranks, row, y, viewport);
    SceneRow taken = std::move(*found);
    built.erase(found);
    taken.row = row;  // of the two rows of a pinned one only the lower has children
    taken.y = y;
    return taken;
  }
};

void AddPinned(const std::vector<Row>& rows, const SceneView& view, RowSource* source,
               Scene* scene) {
  for (const Row& row : rows) scene->pinned_total += row.height;
  scene->pinned_height = std::min(scene->pinned_total, std::floor(view.height * kPinnedShare));
  scene->pinned_scroll =
      std::clamp(view.pinned_scroll, 0.0F, scene->pinned_total - scene->pinned_height);
  float y = 0 - scene->pinned_scroll;  // no negative nought
  for (const Row& row : rows) {
    if (y + row.height > 0 && y < scene->pinned_height) {
      scene->pinned.push_back(source->Of(row, y));
    }
    y += row.height;
  }
}

}  // namespace

std::vector<const Lane*> LanesOf(const RankTraces& ranks, const std::vector<TrackRef>& refs) {
  std::vector<const Lane*> lanes;
  for (const TrackRef& ref : refs) {
    if (ref.rank >= ranks.size() || ranks[ref.rank] == nullptr) continue;
    const Track& track = ranks[ref.rank]->tracks[ref.track];
    // Of calls that nest, the outermost lane says when the thread is busy; below it come lanes that
    // say no more, above it ranges.
    const bool nests = track.kind == TrackKind::kThread;
    for (const Lane& lane : track.lanes) {
      if (nests && HasOnlyRanges(lane) && &lane != &track.lanes.back()) continue;
      lanes.push_back(&lane);
      if (nests) break;
    }
  }
  return lanes;
}

std::vector<Tick> TicksOf(const Viewport& viewport, int64_t origin_ns) {
  const int64_t step = TickStep(viewport);
  std::vector<Tick> ticks;
  int64_t since = (viewport.begin_ns - origin_ns) / step * step;
  for (; since + origin_ns < viewport.end_ns; since += step) {
    if (since + origin_ns < viewport.begin_ns) continue;
    ticks.push_back({static_cast<float>(viewport.ToX(since + origin_ns)), FormatTime(since, step)});
  }
  return ticks;
}

Scene BuildScene(const RunSummary& summary, const RankTraces& ranks, const RowTree& tree,
                 const SceneView& view, std::vector<SceneRow> built) {
  Scene scene;
  scene.viewport = view.viewport;
  RowSource source{summary, ranks, view.viewport, std::move(built)};
  AddPinned(tree.pinned, view, &source, &scene);
  float y = scene.pinned_height - view.scroll_y;
  for (const Row& row : tree.rows) {
    if (y + row.height > scene.pinned_height && y < view.height) {
      // A rank with one GPU has the band of that GPU.
      const bool is_same = row.kind == RowKind::kDevice && !scene.rows.empty() &&
                           scene.rows.back().row.kind == RowKind::kRank &&
                           scene.rows.back().row.band == row.band;
      if (is_same) {
        SceneRow copy = scene.rows.back();
        copy.row = row;
        copy.y = y;
        scene.rows.push_back(std::move(copy));
      } else {
        scene.rows.push_back(source.Of(row, y));
      }
    }
    y += row.height;
  }
  scene.total_height = y - scene.pinned_height + view.scroll_y;
  scene.ticks = TicksOf(view.viewport, summary.begin_ns);
  scene.steps = StepLinesOf(summary, view.viewport);
  return scene;
}

Hit HitTest(const Scene& scene, float x, float y) {
  if (y < scene.pinned_height) {
    const SceneRow* pinned = RowAt(scene.pinned, y);
    return pinned == nullptr ? Hit{} : HitRow(*pinned, x, y);
  }
  const SceneRow* row = RowAt(scene.rows, y);
  return row == nullptr ? Hit{} : HitRow(*row, x, y);
}

const SceneRow* FindSceneRow(const Scene& scene, const EventRef& ref) {
  for (const SceneRow& row : scene.rows) {
    if (row.row.rank == ref.rank && row.row.track == ref.track && ref.lane < row.lanes.size()) {
      return &row;
    }
  }
  return nullptr;
}

}  // namespace tutti::viewer
