// Faults that a workload can inject into itself, so that a diagnosis can be checked against
// what really was wrong. A fault is written KIND[:AMOUNT][@RANKS][#STEPS]:
//
//   slow_loader:30ms@1          rank 1's loader workers share a disk that takes 30 ms a batch
//   extra_compute:5ms@0,2-3#10: ranks 0, 2 and 3 compute 5 ms more in every step from step 10
//   late_allreduce              gradients are all-reduced only after backward, on all ranks
//   skip_collective:30s@1#20    rank 1 leaves step 20's all-reduce out and is gone 30 s later
//
// AMOUNT is what the kind says: a duration with unit (ns, us, ms, s), a count, a size with unit
// (B, KiB, MiB, GiB) or a share (%). RANKS is a list of ranks and inclusive ranges (default: all,
// or rank 1 where a fault of all ranks would be none). STEPS is one step or a half-open range A:B
// with either end optional (default: all; step 10 for those that stop the job). The table of
// kinds is in fault.cc; FaultList() prints it. Pure functions of values; std only.
#ifndef TUTTI_WORKLOADS_COMMON_FAULT_H_
#define TUTTI_WORKLOADS_COMMON_FAULT_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::workloads {

enum class FaultKind {
  // The data loader's.
  kSlowLoader,
  kFewWorkers,
  kEpochStall,
  kDataImbalance,
  kShapeChurn,
  // The gradient reducer's.
  kSingleBucket,
  kTinyBuckets,
  kLateAllReduce,
  // The training loop's.
  kExtraCompute,
  kHiccups,
  kNeedlessBarrier,
  kSyncEveryStep,
  kTinyOperators,
  kAllocationChurn,
  kMemoryLeak,
  kFragmentation,
  kCpuContention,
  kCheckpointPause,
  kLogPause,
  // Those that stop the job.
  kSkipCollective,
  kMismatchedSize,
  // Of some workloads only.
  kPerParameterOptimizer,
  kSkewedExperts,
  kPipelineImbalance,
  kRecompute,
  kFp32,
};

struct Fault {
  FaultKind kind;
  int64_t amount = 0;      // ns, count, bytes or percent, as the kind says; 0 for kinds without
  std::vector<int> ranks;  // ascending; empty means all
  int64_t begin_step = 0;  // half-open range of steps
  int64_t end_step = std::numeric_limits<int64_t>::max();
};

// "slow_loader", "extra_compute", …
std::string_view FaultName(FaultKind kind);

// The kinds that the data loader, the reducer and the training loop that workloads share carry:
// all but the last group of FaultKind.
std::span<const FaultKind> SharedFaults();

// Of these kinds, one a line: how each is written, and what it does.
std::string FaultList(std::span<const FaultKind> kinds);

// Throws std::invalid_argument with a message for the user, naming |text| and the mistake.
Fault ParseFault(std::string_view text);

// |fault| as it acts in a run of |steps| steps on |world_size| ranks, as compact JSON:
// {"kind":"slow_loader","amount_ns":30000000,"ranks":[1],"steps":[0,60]}, steps half-open. The
// amount is "amount_ns", "amount_count", "amount_bytes" or "amount_percent"; kinds without one
// have none.
std::string FaultTruth(const Fault& fault, int world_size, int64_t steps);

// What is wrong with this rank. Immutable, so any thread may ask.
class FaultPlan {
 public:
  FaultPlan() = default;
  FaultPlan(std::vector<Fault> faults, int rank) : faults_(std::move(faults)), rank_(rank) {}

  // Sum of the amounts of the faults of this kind that act on this rank in |step|; nothing if
  // none does. Kinds without an amount yield 0.
  std::optional<int64_t> Amount(FaultKind kind, int64_t step) const;

  bool Has(FaultKind kind, int64_t step) const { return Amount(kind, step).has_value(); }

  // Of kinds that act on the whole run.
  std::optional<int64_t> Amount(FaultKind kind) const { return Amount(kind, 0); }

  const std::vector<Fault>& faults() const { return faults_; }
  int rank() const { return rank_; }

 private:
  std::vector<Fault> faults_;
  int rank_ = 0;
};

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_FAULT_H_
