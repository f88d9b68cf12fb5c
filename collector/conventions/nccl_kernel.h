// What the name of one of NCCL's kernels tells. Source of the names: NCCL's
// src/device/generate.py; older releases (up to 2.18) have another order of words. RCCL's
// kernels are called the same. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace tutti::collector::conventions {

// Parts that the name does not tell are empty.
struct NcclKernel {
  std::string op;         // 'all_reduce', …; empty for kernels that serve several ops
  std::string dtype;      // torch's name, 'float32', …
  std::string algorithm;  // 'RING', 'TREE', 'NVLS', …
  std::string protocol;   // 'LL', 'LL128', 'SIMPLE'
};

// |name|: demangled, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs…)".
NcclKernel ParseNcclKernel(std::string_view name);

}  // namespace tutti::collector::conventions
