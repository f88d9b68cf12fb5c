// NVTX's payload extension.
#pragma once

#include "tracer/sources/nvtx/abi.h"

namespace tutti::tracer::nvtx {

// InitializeInjectionNvtxExtension: installs our functions in the slots of |module|. 1, or 0
// for a module that can't be one.
int InitializeExtension(nvtxExtModuleInfo_t* module) noexcept;

}  // namespace tutti::tracer::nvtx
