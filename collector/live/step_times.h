// The steps of one running process: how many have ended, how long they took. A ring of the newest
// few hundred. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tutti::collector::live {

class StepTimes {
 public:
  // A step is slow if it takes more than so many times the median of those before it, of which
  // there are kEnough.
  explicit StepTimes(double slow_factor = kSlowFactor) : slow_factor_(slow_factor) {}

  // A step that ended at `end_ns`. Steps come in order of their ends, or nearly.
  void Add(int64_t number, int64_t begin_ns, int64_t end_ns);

  int64_t steps() const { return steps_; }
  int64_t last_number() const { return last_number_; }
  int64_t last_ns() const { return last_ns_; }  // length of the newest step
  int64_t last_end_ns() const { return last_end_ns_; }
  int64_t slow_steps() const { return slow_steps_; }
  // Of the newest kKept steps; 0 without any.
  int64_t MedianNs() const;
  int64_t LongestNs() const;

  // The newest step that was slow, once: for a message.
  struct Slow {
    int64_t number = 0;
    int64_t ns = 0;
    int64_t median_ns = 0;
  };
  std::optional<Slow> TakeSlow();

  static constexpr size_t kKept = 256;
  static constexpr double kSlowFactor = 3;
  static constexpr size_t kEnough = 20;

 private:
  double slow_factor_;
  std::vector<int64_t> lengths_;  // a ring of kKept
  size_t next_ = 0;
  int64_t steps_ = 0;
  int64_t last_number_ = -1;
  int64_t last_ns_ = 0;
  int64_t last_end_ns_ = 0;
  int64_t slow_steps_ = 0;
  std::optional<Slow> slow_;
};

}  // namespace tutti::collector::live
