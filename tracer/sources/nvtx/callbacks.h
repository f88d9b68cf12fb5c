// The functions that NVTX calls in place of its own, for modules CORE and CORE2.
#pragma once

#include "tracer/sources/nvtx/abi.h"

namespace tutti::tracer::nvtx {

// Install them in a library's table of |size| slots.
void InstallCore(NvtxFunctionTable table, unsigned size) noexcept;
void InstallCore2(NvtxFunctionTable table, unsigned size) noexcept;

}  // namespace tutti::tracer::nvtx
