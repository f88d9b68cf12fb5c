#include "collector/live/step_times.h"

#include <algorithm>
#include <utility>

namespace tutti::collector::live {

void StepTimes::Add(int64_t number, int64_t begin_ns, int64_t end_ns) {
  const int64_t ns = end_ns - begin_ns;
  if (lengths_.size() >= kEnough) {
    const int64_t median_ns = MedianNs();
    if (median_ns > 0 && static_cast<double>(ns) > slow_factor_ * static_cast<double>(median_ns)) {
      ++slow_steps_;
      slow_ = Slow{number, ns, median_ns};
    }
  }
  if (lengths_.size() < kKept) {
    lengths_.push_back(ns);
  } else {
    lengths_[next_] = ns;
  }
  next_ = (next_ + 1) % kKept;
  ++steps_;
  last_number_ = number;
  last_ns_ = ns;
  last_end_ns_ = std::max(last_end_ns_, end_ns);
}

int64_t StepTimes::MedianNs() const {
  if (lengths_.empty()) return 0;
  std::vector<int64_t> sorted = lengths_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

int64_t StepTimes::LongestNs() const {
  return lengths_.empty() ? 0 : *std::ranges::max_element(lengths_);
}

std::optional<StepTimes::Slow> StepTimes::TakeSlow() { return std::exchange(slow_, std::nullopt); }

}  // namespace tutti::collector::live
