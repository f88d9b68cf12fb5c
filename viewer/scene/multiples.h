// Steps of one rank below one another on one axis that begins with each: what is different in a
// slow step is seen at a glance. Pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "viewer/model/event_set.h"
#include "viewer/model/run_summary.h"
#include "viewer/scene/lod.h"

namespace tutti::viewer {

struct StepBand {
  int64_t step = 0;
  int64_t length_ns = 0;
  float end_x = 0;             // of the step; it may lie beyond the width
  std::vector<BandMark> band;  // of the lanes that work, until the step's end
};

// How long the axis is: as long as the longest step of the run, without the fiftieth part.
int64_t StepAxisNs(const RunSummary& summary);

// Of the windows of the rank in `slot` from the `first`-th on, at most `count`.
std::vector<StepBand> StepBands(const RunSummary& summary, const RankTraces& ranks, uint32_t slot,
                                size_t first, size_t count, int width_px);

}  // namespace tutti::viewer
