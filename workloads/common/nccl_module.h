// Training on GPUs. LibTorch's CUDA side lives in a module of its own that is loaded only when
// asked for, so that a workload on the CPU neither links nor needs any of CUDA.
#ifndef TUTTI_WORKLOADS_COMMON_NCCL_MODULE_H_
#define TUTTI_WORKLOADS_COMMON_NCCL_MODULE_H_

#include <chrono>
#include <memory>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace torch::nn {
class LinearImpl;
}  // namespace torch::nn

namespace tutti::workloads {

// Loads the module, which lies beside the running program, and checks that there is a GPU.
// Throws std::runtime_error with one line that says what is missing. Idempotent.
void LoadCuda();

// ProcessGroupNCCL; calls LoadCuda first.
c10::intrusive_ptr<c10d::Backend> MakeNccl(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                           int world_size, std::chrono::milliseconds timeout);

// torch::nn::parallel::data_parallel on all GPUs, which LibTorch has on its CUDA side only; calls
// LoadCuda first. The result is on the first GPU.
at::Tensor ForwardOnAllGpus(const std::shared_ptr<torch::nn::LinearImpl>& model,
                            const at::Tensor& input);

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_NCCL_MODULE_H_
