// What one rank's part of a job is made with.
#ifndef TUTTI_WORKLOADS_COMMON_JOB_H_
#define TUTTI_WORKLOADS_COMMON_JOB_H_

#include <torch/types.h>

#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "workloads/common/fault.h"
#include "workloads/common/loop_faults.h"
#include "workloads/common/options.h"
#include "workloads/common/rank_env.h"

namespace tutti::workloads {

// Outlives the workload that is made with it.
struct Job {
  const Options& options;
  const RankEnv& env;
  torch::Device device;                          // of model and batches
  FaultPlan faults;                              // of this rank
  c10::intrusive_ptr<c10d::ProcessGroup> group;  // of all ranks; null if this one trains alone
  std::unique_ptr<LoopFaults> loop_faults;       // never null when a workload is made
};

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_JOB_H_
