// A value over time (a counter, allocated memory), packed with a pyramid of its least and
// largest values, so that a peak of one sample is seen at any zoom. Immutable; any threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::viewer {

struct Sample {
  int64_t time_ns = 0;
  double value = 0;
};

struct Extent {
  double least = 0;
  double largest = 0;
  bool is_empty = true;
  void Add(double value);
  void Add(const Extent& other);
};

class Series {
 public:
  Series() = default;
  explicit Series(std::vector<Sample> samples);  // in any order

  // The same values `shift_ns` later.
  Series MovedBy(int64_t shift_ns) const;

  size_t size() const { return samples_.size(); }
  const Sample& sample(size_t index) const { return samples_[index]; }
  Extent extent() const { return In(0, samples_.size()); }

  // The first sample at or after `time_ns`; size() if none.
  size_t FirstAt(int64_t time_ns) const;
  // Of the samples [first, last).
  Extent In(size_t first, size_t last) const;
  // Values that hold at some moment of [begin_ns, end_ns): a value holds until the next sample.
  Extent Holding(int64_t begin_ns, int64_t end_ns) const;

 private:
  std::vector<Sample> samples_;
  std::vector<std::vector<Extent>> levels_;  // of 16, 256, … samples a node
};

}  // namespace tutti::viewer
