// Where a computation is divided among ranks and where its parts become one again: sums over a
// group that gradients flow through. One thread per group; blocks until all ranks are there.
#ifndef TUTTI_WORKLOADS_COMMON_SEAMS_H_
#define TUTTI_WORKLOADS_COMMON_SEAMS_H_

#include <torch/types.h>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

namespace tutti::workloads {

// |input|, which is the same on all ranks or of which each rank's loss depends; backward sums its
// gradients over the ranks.
at::Tensor EnterParts(const at::Tensor& input, const c10::intrusive_ptr<c10d::ProcessGroup>& group);

// The sum of all ranks' |part|; backward passes the gradient on as it is.
at::Tensor SumParts(const at::Tensor& part, const c10::intrusive_ptr<c10d::ProcessGroup>& group);

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_SEAMS_H_
