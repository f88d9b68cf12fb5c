#include "analyzer/metrics/coarsen.h"

#include <algorithm>
#include <numeric>

namespace tutti::analyzer {
namespace {

// Which gaps to close, by the interval that follows them.
std::vector<bool> ClosedGaps(std::span<const Interval> intervals, size_t most) {
  std::vector<bool> closed(intervals.size(), false);
  if (intervals.size() <= most) return closed;
  std::vector<size_t> gaps(intervals.size() - 1);
  std::iota(gaps.begin(), gaps.end(), 1);
  std::stable_sort(gaps.begin(), gaps.end(), [&](size_t a, size_t b) {
    return intervals[a].begin_ns - intervals[a - 1].end_ns <
           intervals[b].begin_ns - intervals[b - 1].end_ns;
  });
  gaps.resize(intervals.size() - std::max<size_t>(most, 1));
  for (const size_t gap : gaps) closed[gap] = true;
  return closed;
}

}  // namespace

std::vector<CoarseSpan> Coarsen(std::span<const Interval> intervals, size_t most) {
  const std::vector<bool> closed = ClosedGaps(intervals, most);
  std::vector<CoarseSpan> spans;
  for (size_t i = 0; i < intervals.size(); ++i) {
    if (!closed[i]) spans.push_back({intervals[i], 0});
    spans.back().interval.end_ns = intervals[i].end_ns;
    spans.back().busy_ns += intervals[i].length_ns();
  }
  return spans;
}

}  // namespace tutti::analyzer
