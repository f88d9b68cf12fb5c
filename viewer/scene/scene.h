// All that a frame of the timeline shows, as a value: rows with their places, marks, labels,
// ticks. What draws it adds nothing of its own, so that a text of it (dump.h) is the picture.
// Pure functions; no interface.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viewer/scene/lod.h"
#include "viewer/scene/rows.h"
#include "viewer/scene/viewport.h"

namespace tutti::viewer {

// By how much a step of run B is longer than the same of run A; of steps that share a pixel, their
// sums.
struct DeltaMark {
  float x0 = 0;
  float x1 = 0;
  int64_t a_ns = 0;
  int64_t b_ns = 0;
  int64_t step = 0;  // the first of them
  int64_t steps = 1;
};

struct SceneRow {
  Row row;
  float y = 0;  // of the top, from that of the timeline's rows; negative above the screen
  std::vector<std::vector<SpanMark>> lanes;
  std::vector<BandMark> band;
  std::vector<SeriesMark> envelope;
  std::vector<DeltaMark> deltas;
  Extent extent;  // of the whole series
  std::string unit;
};

struct Tick {
  float x = 0;
  std::string label;
};

// A step's begin over all ranks.
struct StepLine {
  float x0 = 0;
  float x1 = 0;
  int64_t step = 0;
  std::string label;
};

// A stretch of the critical path below what runs then; from one to the next goes a line.
struct PathMark {
  float x0 = 0;
  float x1 = 0;
  float y = 0;
};

// From where to where the begin of an event may lie.
struct WhiskerMark {
  float x0 = 0;
  float x1 = 0;
  float y = 0;
};

struct Scene {
  Viewport viewport;
  std::vector<SceneRow> pinned;  // y counts from the top of the pinned rows
  std::vector<SceneRow> rows;    // those that are on screen
  std::vector<Tick> ticks;
  std::vector<StepLine> steps;
  std::vector<PathMark> path;         // empty unless it is asked for
  std::vector<WhiskerMark> whiskers;  // of the selected event and what belongs to it
  float pinned_height = 0;            // of what is shown of the pinned rows
  float pinned_total = 0;             // of all pinned rows, seen or not
  float pinned_scroll = 0;            // of those that are scrolled out above
  float total_height = 0;             // of all others, seen or not
};

struct SceneView {
  Viewport viewport;
  float scroll_y = 0;
  float height = 0;         // of the part of the screen that shows rows, pinned ones included
  float pinned_scroll = 0;  // as far as there are pinned rows
};

// At most this share of the height is for pinned rows: more of them scroll.
inline constexpr float kPinnedShare = 0.4F;

// Whether there are pinned rows that are not on screen.
inline bool HidesPinned(const Scene& scene) { return scene.pinned_total > scene.pinned_height; }

// The lanes that say when the tracks are busy.
std::vector<const Lane*> LanesOf(const RankTraces& ranks, const std::vector<TrackRef>& refs);

// `built`: rows of another scene of the same tree and viewport, scrolled otherwise; those that are
// still to be seen are taken, as making them is what costs.
Scene BuildScene(const RunSummary& summary, const RankTraces& ranks, const RowTree& tree,
                 const SceneView& view, std::vector<SceneRow> built = {});

// Ticks at round times since `origin_ns`, about 100 pixels apart.
std::vector<Tick> TicksOf(const Viewport& viewport, int64_t origin_ns);

// What is at a point of the scene.
struct Hit {
  const SceneRow* row = nullptr;   // nullptr: below the last
  const SpanMark* mark = nullptr;  // nullptr: none there
  EventRef event;                  // of the mark
};
// `y` counts from the top of the pinned rows, x from the left edge of the viewport.
Hit HitTest(const Scene& scene, float x, float y);

// Where an event is on screen: its row and lane; nullptr if its row is not.
const SceneRow* FindSceneRow(const Scene& scene, const EventRef& ref);

}  // namespace tutti::viewer
