// What a value read from a trace can be. A file that is damaged or made to do harm may
// hold any number: one outside these bounds is taken as unknown and counted, so that
// nothing sized by it exhausts memory and no sum of it overflows.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace tutti::analyzer {

inline constexpr int64_t kMostRanks = int64_t{1} << 17;     // of a job or a communicator
inline constexpr int64_t kMostBytes = int64_t{1} << 50;     // of a collective or an allocation
inline constexpr int64_t kMostCount = int64_t{1} << 50;     // of samples, tokens or lost events
inline constexpr int64_t kLatestTimeNs = int64_t{1} << 61;  // sums of a few don't overflow

// Empties `value` if it is not in [least, most]. Returns how many were emptied, 0 or 1.
inline int64_t EmptyUnlessIn(std::optional<int64_t>& value, int64_t least, int64_t most) {
  if (!value || (*value >= least && *value <= most)) return 0;
  value.reset();
  return 1;
}

// The same for a value that must be there: sets it to `otherwise`.
inline int64_t ReplaceUnlessIn(int64_t& value, int64_t least, int64_t most, int64_t otherwise) {
  if (value >= least && value <= most) return 0;
  value = otherwise;
  return 1;
}

// a + b, or the nearest that fits.
inline int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

}  // namespace tutti::analyzer
