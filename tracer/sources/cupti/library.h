// Finds the libcupti that the traced process has. CUPTI is always reached by dlopen: nothing of
// the tracer needs CUDA to load.
//
// Nothing of CUPTI may be called in a process without a driver: cuptiGetVersion of CUDA 13.2
// crashes there. So this is called only after the driver has called us.
#pragma once

#include "tracer/sources/cupti/abi.h"

namespace tutti::tracer::cupti {

struct Library {
  Functions functions;
  uint32_t version = 0;  // cuptiGetVersion()
};

// In this order: the file that TUTTI_CUPTI_LIBRARY names, a copy that is loaded already (a
// second one would confuse both), what the loader finds by name, the toolkit's usual places.
// nullptr on success, else a literal or text in a static buffer that says what is missing.
const char* FindLibrary(Library* library) noexcept;

}  // namespace tutti::tracer::cupti
