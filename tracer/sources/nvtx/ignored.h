// Calls that are accepted and not recorded: names of CUDA and OpenCL objects, user-defined
// synchronisation objects, resources, deferred events. They are counted, and the trace says
// so; nothing of a program disappears silently.
#pragma once

#include <cstdint>

#include "tracer/sources/nvtx/abi.h"

namespace tutti::tracer::nvtx {

enum class IgnoredGroup : uint32_t {
  kCudaNames,
  kOpenClNames,
  kCudartNames,
  kSync,
  kResources,
  kDeferredEvents,
  kExtensions,
};
inline constexpr uint32_t kIgnoredGroups = 7;

// Counts a call. Writes a note at the 1st, 2nd, 4th, 8th … call of a group (in a candidate,
// when it is promoted), with the number of calls since the note before.
void CountIgnored(IgnoredGroup group) noexcept;

// Calls of |group| so far.
uint64_t IgnoredCalls(IgnoredGroup group) noexcept;

// Notes what was counted before the process became a rank.
void EmitIgnored() noexcept;

// Installs counting functions in the modules CUDA, OPENCL, CUDART and SYNC, whose table is
// |table| of |size| slots.
void InstallIgnored(NvtxCallbackModule module, NvtxFunctionTable table, unsigned size) noexcept;

}  // namespace tutti::tracer::nvtx
