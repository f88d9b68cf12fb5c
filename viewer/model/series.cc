#include "viewer/model/series.h"

#include <algorithm>

namespace tutti::viewer {
namespace {

constexpr size_t kFan = 16;

}  // namespace

void Extent::Add(double value) { Add(Extent{value, value, false}); }

void Extent::Add(const Extent& other) {
  if (other.is_empty) return;
  least = is_empty ? other.least : std::min(least, other.least);
  largest = is_empty ? other.largest : std::max(largest, other.largest);
  is_empty = false;
}

Series::Series(std::vector<Sample> samples) : samples_(std::move(samples)) {
  std::stable_sort(samples_.begin(), samples_.end(),
                   [](const Sample& a, const Sample& b) { return a.time_ns < b.time_ns; });
  for (size_t below = samples_.size(); below > kFan;) {
    std::vector<Extent> level((below + kFan - 1) / kFan);
    for (size_t i = 0; i < below; ++i) {
      if (levels_.empty()) {
        level[i / kFan].Add(samples_[i].value);
      } else {
        level[i / kFan].Add(levels_.back()[i]);
      }
    }
    below = level.size();
    levels_.push_back(std::move(level));
  }
}

Series Series::MovedBy(int64_t shift_ns) const {
  Series moved = *this;
  for (Sample& sample : moved.samples_) sample.time_ns += shift_ns;
  return moved;
}

size_t Series::FirstAt(int64_t time_ns) const {
  const auto found =
      std::lower_bound(samples_.begin(), samples_.end(), time_ns,
                       [](const Sample& sample, int64_t t) { return sample.time_ns < t; });
  return static_cast<size_t>(found - samples_.begin());
}

Extent Series::In(size_t first, size_t last) const {
  Extent extent;
  size_t level = 0;
  const auto add = [&](size_t i) {
    if (level == 0) {
      extent.Add(samples_[i].value);
    } else {
      extent.Add(levels_[level - 1][i]);
    }
  };
  while (first < last) {
    if (level == levels_.size()) {
      for (; first < last; ++first) add(first);
      break;
    }
    for (; first < last && first % kFan != 0; ++first) add(first);
    for (; first < last && last % kFan != 0; --last) add(last - 1);
    first /= kFan;
    last /= kFan;
    ++level;
  }
  return extent;
}

Extent Series::Holding(int64_t begin_ns, int64_t end_ns) const {
  size_t first = FirstAt(begin_ns);
  const size_t last = FirstAt(end_ns);
  if (first > 0 && (first == samples_.size() || samples_[first].time_ns > begin_ns)) --first;
  return In(first, std::max(first, last));
}

}  // namespace tutti::viewer
