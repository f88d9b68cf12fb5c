#include "analyzer/metrics/names.h"

#include <algorithm>
#include <array>
#include <string>

namespace tutti::analyzer {
namespace {

// Operators whose own time is waiting: for a collective's end, or for all ranks.
constexpr std::array<std::string_view, 5> kBlockingOps = {
    "_c10d_functional::wait_tensor", "c10d_functional::wait_tensor", "c10d::monitored_barrier_",
    "c10d::barrier", "gloo:"};

// Calls into c10d. On a GPU they are host calls beside the device's work; on the CPU they
// run while Gloo's thread, which often shares their core, already communicates.
constexpr std::array<std::string_view, 3> kHandOverOps = {
    "c10d::", "_c10d_functional::", "c10d_functional::"};

template <size_t kCount>
bool StartsWithAny(std::string_view name, const std::array<std::string_view, kCount>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// In lower case. Families of kernels that move data between ranks: NCCL, RCCL and MSCCL
// device kernels; custom all-reduces of vLLM, SGLang, FlashInfer, TensorRT-LLM and AITER;
// torch's symmetric memory; DeepEP; NVSHMEM.
constexpr std::array<std::string_view, 5> kCommPrefixes = {"nccl", "rccl", "msccl", "nvshmem",
                                                           "multimem_"};
constexpr std::array<std::string_view, 10> kCommParts = {"::cross_device_reduce",
                                                         "cross_device_reduce_",
                                                         "multimem_all_reduce",
                                                         "multimem_one_shot",
                                                         "one_shot_all_reduce_",
                                                         "two_shot_all_reduce_",
                                                         "allreduce_fusion",
                                                         "deep_ep::",
                                                         "nvshmem_",
                                                         "::trtllm_allreduce"};

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

}  // namespace

OpRole RoleOfOp(std::string_view name, int64_t scope) {
  if (StartsWithAny(name, kBlockingOps)) return OpRole::kBlocking;
  if (StartsWithAny(name, kHandOverOps)) return OpRole::kHandOver;
  return scope == kScopeFunction || scope == kScopeBackward ? OpRole::kCompute : OpRole::kRange;
}

bool IsOptimizerStep(std::string_view name) { return name.starts_with("Optimizer.step#"); }

KernelRole RoleOfKernel(std::string_view name) {
  const std::string lower = Lower(name);
  if (lower.starts_with("memcpy ptop")) return KernelRole::kPeerCopy;
  if (lower.starts_with("triton_")) return KernelRole::kCompute;  // names of fused operators
  const bool communicates =
      StartsWithAny(lower, kCommPrefixes) ||
      std::any_of(kCommParts.begin(), kCommParts.end(),
                  [&](std::string_view part) { return lower.find(part) != std::string::npos; });
  return communicates ? KernelRole::kCommunication : KernelRole::kCompute;
}

}  // namespace tutti::analyzer
