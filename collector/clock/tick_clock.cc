#include "collector/clock/tick_clock.h"

#include <algorithm>

namespace tutti::collector::clock {
namespace {

__extension__ using Wide = unsigned __int128;

}  // namespace

bool TickClock::Add(const ClockReading& reading) {
  const Knot knot{reading.ticks, anchor_.ToTraceNs(reading.monotonic_raw_ns)};
  if (!knots_.empty() &&
      (knot.ticks <= knots_.back().ticks || knot.trace_ns <= knots_.back().trace_ns)) {
    return false;
  }
  knots_.push_back(knot);
  return true;
}

// The knot at or before |ticks| that has a successor. Requires two knots and that they
// enclose |ticks|.
const TickClock::Knot& TickClock::SegmentOf(uint64_t ticks) const {
  const auto holds = [this, ticks](size_t segment) {
    return segment + 1 < knots_.size() && knots_[segment].ticks <= ticks &&
           ticks < knots_[segment + 1].ticks;
  };
  if (holds(last_segment_)) return knots_[last_segment_];
  if (holds(last_segment_ + 1)) return knots_[++last_segment_];
  const auto after =
      std::upper_bound(knots_.begin(), knots_.end(), ticks,
                       [](uint64_t value, const Knot& knot) { return value < knot.ticks; });
  last_segment_ = static_cast<size_t>(after - knots_.begin()) - 1;
  return knots_[last_segment_];
}

int64_t TickClock::ToTraceNs(uint64_t ticks) const {
  if (ticks <= first_ticks()) return knots_.front().trace_ns;
  if (ticks >= last_ticks()) return knots_.back().trace_ns;
  const Knot& from = SegmentOf(ticks);
  const Knot& to = *(&from + 1);
  const Wide passed = ticks - from.ticks;
  const Wide span_ns = static_cast<uint64_t>(to.trace_ns - from.trace_ns);
  return from.trace_ns + static_cast<int64_t>(passed * span_ns / (to.ticks - from.ticks));
}

}  // namespace tutti::collector::clock
