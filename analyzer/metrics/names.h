// What a torch operator or a CUDA call does, told by its name. Kernels: kernel_names.h.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::analyzer {

// at::RecordScope as in cpu_op.scope.
inline constexpr int64_t kScopeFunction = 0;
inline constexpr int64_t kScopeBackward = 1;
inline constexpr int64_t kScopeUser = 7;

enum class OpRole {
  kCompute,   // its time is compute on a compute lane
  kHandOver,  // hands work to the communication backend: host time, never compute, also
              // inside a compute operator (a bucket is reduced inside a backward function)
  kBlocking,  // waits for something else: the same
  kRange,     // a user's range: says where time was spent, not that it was computed
};
OpRole RoleOfOp(std::string_view name, int64_t scope);

// "Optimizer.step#SGD.step" and the like.
bool IsOptimizerStep(std::string_view name);

// aten::item and its like: the host reads a value of the GPU, so it waits for it.
bool ReadsFromDevice(std::string_view name);

// A CUDA or HIP call that blocks the host until the device has done something: waits, copies
// that are not asynchronous, and allocations.
bool IsBlockingCall(std::string_view name);

}  // namespace tutti::analyzer
