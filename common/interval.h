// Sets of time as sorted lists of half-open intervals [begin_ns, end_ns).
// Pure functions; callable from any thread. Spans given to them must be sorted by
// begin_ns; intervals in one list may overlap or touch (concurrent streams) and
// count once. Empty intervals (begin == end) hold no time. end >= begin required.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

struct Interval {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;

  int64_t length_ns() const { return end_ns - begin_ns; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// Sorted, disjoint, non-touching, non-empty intervals: the canonical form of a set.
using IntervalSet = std::vector<Interval>;

// Sorts by begin_ns; O(n) when already sorted.
void SortByBegin(std::vector<Interval>& intervals);

// The canonical form of a sorted list. O(n).
IntervalSet Union(std::span<const Interval> sorted);

// Both arguments canonical; results canonical. O(a + b).
IntervalSet Intersect(std::span<const Interval> a, std::span<const Interval> b);
IntervalSet Subtract(std::span<const Interval> a, std::span<const Interval> b);
IntervalSet Merge(std::span<const Interval> a, std::span<const Interval> b);

// The union of lists that are each sorted, as those of threads and streams are. Faster than
// sorting them together: O(n), by digits of the times, wherever intervals are shorter than 4.3 s
// and not sparser than 4,096 in that time; there O(n log n).
IntervalSet UnionOfRuns(const std::vector<std::span<const Interval>>& runs);

// Sum of the lengths of a canonical set in ns.
int64_t TotalNs(std::span<const Interval> set);

// The part of a canonical set inside `window`. O(log n + k).
IntervalSet Clip(std::span<const Interval> set, Interval window);

}  // namespace tutti
