// Self time of nested spans of one thread: each moment belongs to the innermost open
// span, that is the one that began last.
//
//   ns      0         10        20        30
//   outer   [=============================)      self 15
//   inner        [==============)                self 10
//   leaf              [====)                     self 5
//
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/interval.h"

namespace tutti::analyzer {

// Self time in ns of each span, by the order given. `spans` sorted by begin_ns, of
// equal begins the longer first. Spans that overlap without nesting (asynchronous
// ones) are allowed: no moment is counted twice. O(n).
std::vector<int64_t> SelfTimes(std::span<const Interval> spans);

}  // namespace tutti::analyzer
