// When to look at the rings next: often enough that none fills up, seldom enough that
// looking costs nothing. Pure arithmetic, one thread.
#pragma once

#include <cstdint>

namespace tutti::collector::drain {

class Pacer {
 public:
  // |flush_ns|: events should not stay in the rings longer than this.
  explicit Pacer(int64_t flush_ns);

  // Takes note of what a look found: whether there were events, and how full the fullest
  // ring was. Returns how long to wait before the next one.
  int64_t AfterPoll(bool found_events, double max_fill_frac);

 private:
  int64_t active_limit_ns_;
  int64_t idle_limit_ns_;
  int64_t interval_ns_;
};

}  // namespace tutti::collector::drain
