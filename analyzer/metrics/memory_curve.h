// Allocated bytes over time in few points, peaks kept.
// Pure functions; callable from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/interval.h"

namespace tutti::analyzer {

// From `time_ns` on `bytes` are allocated, until the next sample.
struct MemorySample {
  int64_t time_ns = 0;
  int64_t bytes = 0;
};

struct MemorySpan {
  Interval time;
  int64_t max_bytes = 0;   // most at a moment of the span
  int64_t last_bytes = 0;  // at its end
  friend bool operator==(const MemorySpan&, const MemorySpan&) = default;
};

// Cuts [first sample, last sample] into at most `most_spans` spans of equal length (the
// last may be shorter). `samples` sorted by time; several at one moment: the last counts
// from there on, the highest for the maximum. O(samples + spans).
std::vector<MemorySpan> MemoryCurve(std::span<const MemorySample> samples, size_t most_spans);

}  // namespace tutti::analyzer
