// Ticks -> time of the trace, by interpolation between enclosing clock readings in
// 128-bit integers: monotone, exact at the readings, never extrapolated.
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collector/clock/clock_reading.h"

namespace tutti::collector::clock {

class TickClock {
 public:
  explicit TickClock(Anchor anchor) : anchor_(anchor) {}

  // Adds a reading at the end. One that does not lie after the last in both clocks
  // tells nothing new and is left out. Returns whether it was taken.
  bool Add(const ClockReading& reading);

  bool empty() const { return knots_.empty(); }
  // Both require !empty().
  uint64_t first_ticks() const { return knots_.front().ticks; }
  uint64_t last_ticks() const { return knots_.back().ticks; }

  // Whether readings enclose |ticks|.
  bool Covers(uint64_t ticks) const {
    return !knots_.empty() && ticks >= first_ticks() && ticks <= last_ticks();
  }

  // Time of the trace in ns; a stamp outside the readings gets the nearest one's time.
  // Requires !empty(). O(1) for stamps near the last one asked for, else O(log n).
  int64_t ToTraceNs(uint64_t ticks) const;

 private:
  struct Knot {
    uint64_t ticks;
    int64_t trace_ns;
  };
  const Knot& SegmentOf(uint64_t ticks) const;

  Anchor anchor_;
  std::vector<Knot> knots_;
  mutable size_t last_segment_ = 0;  // of the last question: stamps come nearly in order
};

}  // namespace tutti::collector::clock
