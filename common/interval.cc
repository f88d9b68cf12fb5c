#include "common/interval.h"

#include <algorithm>

namespace tutti {
namespace {

void AppendNonEmpty(IntervalSet& set, int64_t begin_ns, int64_t end_ns) {
  if (begin_ns >= end_ns) return;
  if (!set.empty() && set.back().end_ns >= begin_ns) {
    set.back().end_ns = std::max(set.back().end_ns, end_ns);
  } else {
    set.push_back({begin_ns, end_ns});
  }
}

bool BeginsEarlier(const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; }

}  // namespace

void SortByBegin(std::vector<Interval>& intervals) {
  if (!std::is_sorted(intervals.begin(), intervals.end(), BeginsEarlier)) {
    std::sort(intervals.begin(), intervals.end(), BeginsEarlier);
  }
}

IntervalSet Union(std::span<const Interval> sorted) {
  IntervalSet result;
  for (const Interval& interval : sorted) {
    AppendNonEmpty(result, interval.begin_ns, interval.end_ns);
  }
  return result;
}

IntervalSet Intersect(std::span<const Interval> a, std::span<const Interval> b) {
  IntervalSet result;
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    AppendNonEmpty(result, std::max(left->begin_ns, right->begin_ns),
                   std::min(left->end_ns, right->end_ns));
    if (left->end_ns < right->end_ns) {
      ++left;
    } else {
      ++right;
    }
  }
  return result;
}

IntervalSet Subtract(std::span<const Interval> a, std::span<const Interval> b) {
  IntervalSet result;
  auto hole = b.begin();
  for (const Interval& interval : a) {
    int64_t begin_ns = interval.begin_ns;
    while (hole != b.end() && hole->end_ns <= begin_ns) ++hole;
    for (auto next = hole; next != b.end() && next->begin_ns < interval.end_ns; ++next) {
      AppendNonEmpty(result, begin_ns, next->begin_ns);
      begin_ns = std::max(begin_ns, next->end_ns);
    }
    AppendNonEmpty(result, begin_ns, interval.end_ns);
  }
  return result;
}

IntervalSet Merge(std::span<const Interval> a, std::span<const Interval> b) {
  std::vector<Interval> both(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), both.begin(), BeginsEarlier);
  return Union(both);
}

int64_t TotalNs(std::span<const Interval> set) {
  int64_t total_ns = 0;
  for (const Interval& interval : set) total_ns += interval.length_ns();
  return total_ns;
}

IntervalSet Clip(std::span<const Interval> set, Interval window) {
  const auto first = std::partition_point(set.begin(), set.end(), [&](const Interval& interval) {
    return interval.end_ns <= window.begin_ns;
  });
  IntervalSet result;
  for (auto it = first; it != set.end() && it->begin_ns < window.end_ns; ++it) {
    AppendNonEmpty(result, std::max(it->begin_ns, window.begin_ns),
                   std::min(it->end_ns, window.end_ns));
  }
  return result;
}

}  // namespace tutti
