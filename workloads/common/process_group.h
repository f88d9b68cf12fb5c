// Joins the ranks of a job into one c10d process group.
#ifndef TUTTI_WORKLOADS_COMMON_PROCESS_GROUP_H_
#define TUTTI_WORKLOADS_COMMON_PROCESS_GROUP_H_

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "workloads/common/rank_env.h"

namespace tutti::workloads {

// Meets the other ranks at the master's TCP store and returns the group over all of them.
// |env| must be distributed; |backend| is gloo (CPU tensors) or nccl (CUDA tensors). Blocks
// until all ranks are there; throws std::exception if they are not within |timeout|, or if the
// backend cannot be had here. |timeout| holds for each later collective too.
c10::intrusive_ptr<c10d::ProcessGroup> JoinProcessGroup(const RankEnv& env,
                                                        const std::string& backend,
                                                        std::chrono::milliseconds timeout);

// A group of some of |world|'s ranks, among them this one. Each of them calls this with the same
// |ranks| and |name|; names must differ, and so do those of groups without a common rank.
c10::intrusive_ptr<c10d::ProcessGroup> JoinSubgroup(
    const c10::intrusive_ptr<c10d::ProcessGroup>& world, const std::vector<int>& ranks,
    const std::string& name, const RankEnv& env, const std::string& backend,
    std::chrono::milliseconds timeout);

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_PROCESS_GROUP_H_
