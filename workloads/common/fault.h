// Faults that a workload can inject into itself, so that a diagnosis can be checked against
// what really was wrong. A fault is written KIND[:AMOUNT][@RANKS][#STEPS]:
//
//   slow_loader:30ms@1          rank 1's loader workers share a disk that takes 30 ms a batch
//   extra_compute:5ms@0,2-3#10: ranks 0, 2 and 3 compute 5 ms more in every step from step 10
//   late_allreduce              gradients are all-reduced only after backward, on all ranks
//   skip_collective:30s@1#20    rank 1 leaves step 20's all-reduce out and is gone 30 s later
//
// AMOUNT is a duration with unit (ns, us, ms, s). RANKS is a list of ranks and inclusive
// ranges (default: all; skip_collective: 1). STEPS is one step or a half-open range A:B with
// either end optional (default: all; skip_collective: 10). Pure functions of values; std only.
#ifndef TUTTI_WORKLOADS_COMMON_FAULT_H_
#define TUTTI_WORKLOADS_COMMON_FAULT_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::workloads {

enum class FaultKind { kSlowLoader, kExtraCompute, kLateAllReduce, kSkipCollective };

struct Fault {
  FaultKind kind;
  int64_t amount_ns = 0;   // 0 for kinds without an amount
  std::vector<int> ranks;  // ascending; empty means all
  int64_t begin_step = 0;  // half-open range of steps
  int64_t end_step = std::numeric_limits<int64_t>::max();
};

// "slow_loader", "extra_compute", …
std::string_view FaultName(FaultKind kind);

// Throws std::invalid_argument with a message for the user, naming |text| and the mistake.
Fault ParseFault(std::string_view text);

// |fault| as it acts in a run of |steps| steps on |world_size| ranks, as compact JSON:
// {"kind":"slow_loader","amount_ns":30000000,"ranks":[1],"steps":[0,60]}, steps half-open.
std::string FaultTruth(const Fault& fault, int world_size, int64_t steps);

// What is wrong with this rank. Immutable, so any thread may ask.
class FaultPlan {
 public:
  FaultPlan() = default;
  FaultPlan(std::vector<Fault> faults, int rank) : faults_(std::move(faults)), rank_(rank) {}

  // Sum of the amounts of the faults of this kind that act on this rank in |step|; nothing if
  // none does. Kinds without an amount yield 0.
  std::optional<int64_t> AmountNs(FaultKind kind, int64_t step) const;

  const std::vector<Fault>& faults() const { return faults_; }

 private:
  std::vector<Fault> faults_;
  int rank_ = 0;
};

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_FAULT_H_
