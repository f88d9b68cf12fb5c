// A time of one run on an axis that two runs share: the same time plus a shift that grows now and
// then and never shrinks, so that order is kept. The empty map changes nothing. Value type.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace tutti::viewer {

class TimeMap {
 public:
  // From `time_ns` on times are shifted by `shift_ns`; in order of time. What comes before the
  // first is shifted as the first.
  void Add(int64_t time_ns, int64_t shift_ns) { shifts_.emplace_back(time_ns, shift_ns); }

  int64_t operator()(int64_t time_ns) const {
    if (shifts_.empty()) return time_ns;
    const auto next = std::partition_point(
        shifts_.begin(), shifts_.end(),
        [time_ns](const std::pair<int64_t, int64_t>& shift) { return shift.first <= time_ns; });
    return time_ns + (next == shifts_.begin() ? next->second : (next - 1)->second);
  }

  // The time that is moved to `axis_ns`.
  int64_t Back(int64_t axis_ns) const {
    if (shifts_.empty()) return axis_ns;
    const auto next = std::partition_point(shifts_.begin(), shifts_.end(),
                                           [axis_ns](const std::pair<int64_t, int64_t>& shift) {
                                             return shift.first + shift.second <= axis_ns;
                                           });
    return axis_ns - (next == shifts_.begin() ? next->second : (next - 1)->second);
  }

 private:
  std::vector<std::pair<int64_t, int64_t>> shifts_;
};

}  // namespace tutti::viewer
