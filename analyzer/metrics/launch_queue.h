// From a launch call to its work: how long the work waited, behind what, and how much was
// waiting at a time.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/interval.h"

namespace tutti::analyzer {

// Work of one stream and the call that launched it.
struct LaunchedPiece {
  Interval call;
  Interval work;
};

// What a piece waited between the end of its call and its begin.
struct LaunchWait {
  int64_t delay_ns = 0;  // begin of the work - end of the call, never negative
  int64_t queue_ns = 0;  // of it, while earlier work of the stream ran
  int64_t skew_ns = 0;   // by how much the work seems to begin before its call: clock skew
};

// By the order given. `stream` holds all work of the stream in order of its begin; `pieces`
// those of it with a known call, in the same order. O(n log n).
std::vector<LaunchWait> LaunchWaits(std::span<const LaunchedPiece> pieces,
                                    std::span<const Interval> stream);

// Pieces that were launched and had not begun, after each moment at which that changed: up
// at the begin of the call, down at the begin of the work. At equal times up comes first, so
// that the length is never negative. In order of time; 2 entries a piece.
struct QueueLength {
  int64_t time_ns = 0;
  int64_t length = 0;
};
std::vector<QueueLength> QueueLengths(std::span<const LaunchedPiece> pieces);

struct QueueSummary {
  int64_t max_length = 0;
  double mean_length = 0;  // over the time from the first to the last entry
  int64_t p50_length = 0;  // half of that time it was at most so long
  int64_t full_ns = 0;     // time at 1,024 or more: a launch then blocks the host
};
QueueSummary SummarizeQueue(std::span<const QueueLength> lengths);

// Work that may be launched to a stream of CUDA before a launch call blocks.
inline constexpr int64_t kFullQueue = 1024;

// Highest length in each of `spans` equal parts of the time from the first to the last
// entry; fewer where the time has not so many nanoseconds.
struct QueueSpan {
  Interval time;
  int64_t max_length = 0;
};
std::vector<QueueSpan> QueueTimeline(std::span<const QueueLength> lengths, int64_t spans);

}  // namespace tutti::analyzer
