// Depth of spans on a lane while they come in order of time: how many are open below each.
// Value type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace tutti::collector::importers::kineto {

class SpanStack {
 public:
  // Depth of a span. Spans are expected by begin, and of equal ones the longest first; if
  // one comes late, its depth and that of those around it are wrong and is_disordered()
  // becomes true. A span without an end counts up to the end of the one around it.
  int64_t Enter(int64_t begin_ns, std::optional<int64_t> end_ns) {
    const int64_t last_ns = end_ns.value_or(std::numeric_limits<int64_t>::min());
    if (begin_ns < begin_ns_ || (begin_ns == begin_ns_ && last_ns > last_ns_)) disordered_ = true;
    begin_ns_ = begin_ns;
    last_ns_ = last_ns;
    while (!ends_.empty() && ends_.back() <= begin_ns) ends_.pop_back();
    const auto depth = static_cast<int64_t>(ends_.size());
    const int64_t end = end_ns ? *end_ns : ends_.empty() ? begin_ns : ends_.back();
    // Latest end first; spans that overlap without nesting make it not the order of arrival.
    size_t place = ends_.size();
    const size_t lowest = place - std::min(place, kMostOverlaps);
    while (place > lowest && ends_[place - 1] < end) --place;
    ends_.insert(ends_.begin() + static_cast<ptrdiff_t>(place), end);
    return depth;
  }

  bool is_disordered() const { return disordered_; }

 private:
  // That many spans of one lane overlap without nesting; beyond it depths are approximate.
  static constexpr size_t kMostOverlaps = 1'000;

  std::vector<int64_t> ends_;  // of the open spans, descending
  int64_t begin_ns_ = std::numeric_limits<int64_t>::min();
  int64_t last_ns_ = std::numeric_limits<int64_t>::max();
  bool disordered_ = false;
};

}  // namespace tutti::collector::importers::kineto
