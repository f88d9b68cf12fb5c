// Activation checkpointing, which LibTorch has only in Python (torch.utils.checkpoint).
#ifndef TUTTI_WORKLOADS_COMMON_RECOMPUTE_H_
#define TUTTI_WORKLOADS_COMMON_RECOMPUTE_H_

#include <torch/types.h>

#include <functional>

namespace tutti::workloads {

// Returns function(input) and keeps nothing of its inside: backward calls |function| once more,
// under the same autocast, and runs backward through it, which leaves gradients in the parameters
// that |function| uses. It must give the same result each time; |input| must need a gradient.
torch::Tensor Recomputed(std::function<torch::Tensor(const torch::Tensor&)> function,
                         const torch::Tensor& input);

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_RECOMPUTE_H_
