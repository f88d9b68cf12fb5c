// The module libtutti_workload_nccl.so: all of the workloads that needs LibTorch's CUDA side.
// Loaded by nccl_module.cc.
#include <torch/nn/parallel/data_parallel.h>
#include <torch/torch.h>

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

extern "C" __attribute__((visibility("default"))) c10d::Backend* TuttiMakeNcclBackend(
    const c10::intrusive_ptr<c10d::Store>& store, int rank, int world_size, int64_t timeout_ms) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = std::chrono::milliseconds(timeout_ms);
  c10::intrusive_ptr<c10d::Backend> backend =
      c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, world_size, std::move(options));
  return backend.release();
}

extern "C" __attribute__((visibility("default"))) void TuttiForwardOnAllGpus(
    const std::shared_ptr<torch::nn::LinearImpl>& model, const at::Tensor& input,
    at::Tensor& output) {
  output = torch::nn::parallel::data_parallel(torch::nn::Linear(model), input);
}
