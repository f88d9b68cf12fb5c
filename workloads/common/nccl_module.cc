#include "workloads/common/nccl_module.h"

#include <dlfcn.h>
#include <torch/torch.h>

#include <filesystem>
#include <stdexcept>

namespace tutti::workloads {
namespace {

// nccl_backend.cc; the pointer is one reference, which the caller takes over.
using MakeFunction = c10d::Backend*(const c10::intrusive_ptr<c10d::Store>&, int rank,
                                    int world_size, int64_t timeout_ms);

using ForwardFunction = void(const std::shared_ptr<torch::nn::LinearImpl>& model,
                             const at::Tensor& input, at::Tensor& output);

struct Functions {
  MakeFunction* make;
  ForwardFunction* forward;
};

Functions LoadModule() {
  const auto path =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libtutti_workload_nccl.so";
  if (!std::filesystem::exists(path)) {
    throw std::runtime_error(
        "--backend nccl: not in this build, which found no CUDA side of LibTorch or its headers");
  }
  // Never closed: LibTorch registers its operators from it for good.
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* const make = handle ? dlsym(handle, "TuttiMakeNcclBackend") : nullptr;
  void* const forward = handle ? dlsym(handle, "TuttiForwardOnAllGpus") : nullptr;
  if (make == nullptr || forward == nullptr) {
    throw std::runtime_error(std::string("--backend nccl: ") +
                             dlerror());  // NOLINT(concurrency-mt-unsafe): at start-up
  }
  if (!torch::cuda::is_available()) {
    throw std::runtime_error("--backend nccl: no CUDA device is visible");
  }
  return {reinterpret_cast<MakeFunction*>(make), reinterpret_cast<ForwardFunction*>(forward)};
}

const Functions& Module() {
  static const Functions functions = LoadModule();
  return functions;
}

}  // namespace

void LoadCuda() { Module(); }

c10::intrusive_ptr<c10d::Backend> MakeNccl(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                           int world_size, std::chrono::milliseconds timeout) {
  return c10::intrusive_ptr<c10d::Backend>::reclaim(
      Module().make(store, rank, world_size, timeout.count()));
}

at::Tensor ForwardOnAllGpus(const std::shared_ptr<torch::nn::LinearImpl>& model,
                            const at::Tensor& input) {
  at::Tensor output;
  Module().forward(model, input, output);
  return output;
}

}  // namespace tutti::workloads
