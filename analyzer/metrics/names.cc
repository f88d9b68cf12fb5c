#include "analyzer/metrics/names.h"

#include <algorithm>
#include <array>

namespace tutti::analyzer {
namespace {

// Operators whose own time is waiting: for a collective's end, or for all ranks.
constexpr std::array<std::string_view, 5> kBlockingOps = {
    "_c10d_functional::wait_tensor", "c10d_functional::wait_tensor", "c10d::monitored_barrier_",
    "c10d::barrier", "gloo:"};

// Calls into c10d. On a GPU they are host calls beside the device's work; on the CPU they
// run while Gloo's thread, which often shares their core, already communicates. The ranges of
// fully_shard wait for the collective as well, in Python, within a backward function.
constexpr std::array<std::string_view, 5> kHandOverOps = {
    "c10d::", "_c10d_functional::", "c10d_functional::", "FSDP::all_gather (",
    "FSDP::post_backward_reduce"};

template <size_t kCount>
bool StartsWithAny(std::string_view name, const std::array<std::string_view, kCount>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

constexpr std::array<std::string_view, 4> kDeviceReads = {"aten::item", "aten::_local_scalar_dense",
                                                          "aten::is_nonzero", "aten::equal"};

constexpr std::array<std::string_view, 25> kBlockingCalls = {"cudaDeviceSynchronize",
                                                             "cudaStreamSynchronize",
                                                             "cudaEventSynchronize",
                                                             "cudaMalloc",
                                                             "cudaFree",
                                                             "cudaHostAlloc",
                                                             "cudaMallocHost",
                                                             "cudaFreeHost",
                                                             "cudaMemcpy",
                                                             "cudaMemcpy2D",
                                                             "cudaMemset",
                                                             "cuCtxSynchronize",
                                                             "cuStreamSynchronize",
                                                             "cuEventSynchronize",
                                                             "cuMemAlloc",
                                                             "cuMemFree",
                                                             "hipDeviceSynchronize",
                                                             "hipStreamSynchronize",
                                                             "hipEventSynchronize",
                                                             "hipMalloc",
                                                             "hipFree",
                                                             "hipHostMalloc",
                                                             "hipMemcpy",
                                                             "hipMemcpyWithStream",
                                                             "hipHostFree"};

// A node that a program defined in C++ (torch::autograd::Function) may do anything, also wait for a
// collective. What it computes are operators of their own.
bool IsCustomNode(std::string_view name) {
  constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function: ";
  if (name.starts_with(kEvaluate)) name.remove_prefix(kEvaluate.size());
  return name.starts_with("torch::autograd::CppNode<");
}

}  // namespace

OpRole RoleOfOp(std::string_view name, int64_t scope) {
  if (IsCustomNode(name)) return OpRole::kRange;
  if (StartsWithAny(name, kBlockingOps)) return OpRole::kBlocking;
  if (StartsWithAny(name, kHandOverOps)) return OpRole::kHandOver;
  return scope == kScopeFunction || scope == kScopeBackward ? OpRole::kCompute : OpRole::kRange;
}

bool IsOptimizerStep(std::string_view name) { return name.starts_with("Optimizer.step#"); }

bool ReadsFromDevice(std::string_view name) {
  return std::find(kDeviceReads.begin(), kDeviceReads.end(), name) != kDeviceReads.end();
}

bool IsBlockingCall(std::string_view name) {
  // Names may carry a version suffix: cudaMalloc_v3020, cuMemFree_v2.
  const std::string_view base = name.substr(0, name.find("_v"));
  return std::find(kBlockingCalls.begin(), kBlockingCalls.end(), base) != kBlockingCalls.end();
}

}  // namespace tutti::analyzer
