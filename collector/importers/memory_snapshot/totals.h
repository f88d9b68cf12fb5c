// What an allocator held before its history begins. A history is a ring: it starts at
// some moment, and only the snapshot at its end tells totals.
// Value type.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace tutti::collector::importers::memory_snapshot {

// Of one total (allocated, reserved) of one device: gather all changes, then ask.
class OpeningBalance {
 public:
  // A change so large that the sum would overflow is not counted.
  void Add(int64_t change) {
    if (__builtin_add_overflow(sum_, change, &sum_)) return;
    lowest_ = std::min(lowest_, sum_);
  }

  // `closing`: the total at the end, nothing if no snapshot tells it. Never such that the
  // total would become negative in between: then the history lacks something.
  int64_t Opening(std::optional<int64_t> closing) const {
    int64_t opening = 0;
    if (!closing || __builtin_sub_overflow(*closing, sum_, &opening)) opening = 0;
    return std::max(opening, -std::max(lowest_, -std::numeric_limits<int64_t>::max()));
  }
  bool Agrees(std::optional<int64_t> closing) const {
    return !closing || Opening(closing) + sum_ == *closing;
  }

 private:
  int64_t sum_ = 0;
  int64_t lowest_ = 0;  // of the sum so far
};

}  // namespace tutti::collector::importers::memory_snapshot
