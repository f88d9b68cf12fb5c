// The faults that a training loop carries, at the places where it would have them by mistake.
#ifndef TUTTI_WORKLOADS_COMMON_LOOP_FAULTS_H_
#define TUTTI_WORKLOADS_COMMON_LOOP_FAULTS_H_

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "workloads/common/fault.h"

namespace tutti::workloads {

// Used by the training thread; nothing here changes what is computed. One object a process.
class LoopFaults {
 public:
  // |group| may be null: trains alone. Throws std::runtime_error if a fault of |plan| needs what
  // is not here, in words for the user.
  LoopFaults(FaultPlan plan, torch::Device device, c10::intrusive_ptr<c10d::ProcessGroup> group);
  ~LoopFaults();

  // When the step has begun: cpu_contention.
  void BeginStep(int64_t step);

  // In forward: extra_compute, hiccups, tiny_operators, allocation_churn, sync_every_step.
  void InForward(int64_t step);

  // After the optimizer, before the step ends: memory_leak, needless_barrier, log_pause,
  // checkpoint_pause.
  void EndStep(int64_t step);

 private:
  class Spinners;

  const FaultPlan plan_;
  const torch::Device device_;
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  std::unique_ptr<Spinners> spinners_;  // while cpu_contention acts
  std::vector<torch::Tensor> kept_;     // by memory_leak and fragmentation
};

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_LOOP_FAULTS_H_
