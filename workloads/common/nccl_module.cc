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

MakeFunction* LoadModule() {
  const auto path =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libtutti_workload_nccl.so";
  if (!std::filesystem::exists(path)) {
    throw std::runtime_error(
        "--backend nccl: not in this build, which found no CUDA side of LibTorch or its headers");
  }
  // Never closed: LibTorch registers its operators from it for good.
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* const make = handle ? dlsym(handle, "TuttiMakeNcclBackend") : nullptr;
  if (make == nullptr) {
    throw std::runtime_error(std::string("--backend nccl: ") +
                             dlerror());  // NOLINT(concurrency-mt-unsafe): at start-up
  }
  if (!torch::cuda::is_available()) {
    throw std::runtime_error("--backend nccl: no CUDA device is visible");
  }
  return reinterpret_cast<MakeFunction*>(make);
}

MakeFunction* Module() {
  static MakeFunction* const make = LoadModule();
  return make;
}

}  // namespace

void LoadCuda() { Module(); }

c10::intrusive_ptr<c10d::Backend> MakeNccl(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                           int world_size, std::chrono::milliseconds timeout) {
  return c10::intrusive_ptr<c10d::Backend>::reclaim(
      Module()(store, rank, world_size, timeout.count()));
}

}  // namespace tutti::workloads
