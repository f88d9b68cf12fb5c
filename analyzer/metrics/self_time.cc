#include "analyzer/metrics/self_time.h"

#include <algorithm>
#include <limits>

namespace tutti::analyzer {

std::vector<int64_t> SelfTimes(std::span<const Interval> spans) {
  std::vector<int64_t> self(spans.size(), 0);
  std::vector<size_t> open;  // innermost last
  int64_t now = std::numeric_limits<int64_t>::min();
  // Charges time up to `until` to the spans that are innermost on the way there.
  const auto advance = [&](int64_t until) {
    while (!open.empty() && now < until) {
      const size_t top = open.back();
      const int64_t end = std::min(spans[top].end_ns, until);
      if (end > now) {
        self[top] += end - now;
        now = end;
      }
      if (spans[top].end_ns > until) return;
      open.pop_back();
    }
  };
  for (size_t i = 0; i < spans.size(); ++i) {
    advance(spans[i].begin_ns);
    now = spans[i].begin_ns;
    open.push_back(i);
  }
  advance(std::numeric_limits<int64_t>::max());
  return self;
}

}  // namespace tutti::analyzer
