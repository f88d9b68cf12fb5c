// A set of intervals drawn with fewer: those with the shortest gaps between them are joined,
// so that what is seen stays where it is.
// Pure functions; callable from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/interval.h"

namespace tutti::analyzer {

struct CoarseSpan {
  Interval interval;
  int64_t busy_ns = 0;  // of it that the set holds; its length where nothing was joined
  friend bool operator==(const CoarseSpan&, const CoarseSpan&) = default;
};

// At most |most| spans (at least one) that cover the canonical set |intervals|. Of equal gaps the
// earlier is closed first. O(n log n).
std::vector<CoarseSpan> Coarsen(std::span<const Interval> intervals, size_t most);

}  // namespace tutti::analyzer
