// How far clocks are apart, from events that end at the same moment for all who saw them: the
// ends of NCCL collectives in which every rank waits for every other (all ranks leave one
// within microseconds; Gloo's don't).
//
//   clock 0   [arrive ....=====)          offset 0
//   clock 1         [==========)   + 500  offset -500: the same end reads 500 later
//
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti::analyzer {

// What one clock read when an event ended. An event is seen at most once by a clock.
struct ClockReading {
  int64_t event = 0;
  size_t clock = 0;  // from 0, without holes
  int64_t time_ns = 0;
};

struct ClockFit {
  size_t reference = 0;   // lowest clock that it is aligned with; itself if with none
  int64_t offset_ns = 0;  // its time + this = the reference's time, at from_ns
  double drift = 0;       // by which that grows for each ns since from_ns
  int64_t from_ns = 0;    // on its own clock, 0 without drift
  int64_t error_ns = 0;   // bound: nine in ten readings differ by less; summed along the way
  int64_t readings = 0;   // that the offset rests on, 0 none
};

// One fit per clock. Two clocks are compared where they saw at least `fewest` events together;
// others through those in between. Offset: the median of the differences. Drift: the median slope
// between the medians of at most 64 stretches of time, where it at least halves the error: less
// than that can't be told from noise, and is within the bound. O(n log n).
std::vector<ClockFit> FitClocks(std::span<const ClockReading> readings, size_t clocks,
                                size_t fewest = 3);

}  // namespace tutti::analyzer
