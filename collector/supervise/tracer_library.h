// Where the library is that is loaded into the ranks. Any thread.
#pragma once

#include <string>

#include "common/status.h"

namespace tutti::collector::supervise {

// Absolute path of libtutti_tracer.so: $TUTTI_TRACER, else beside this program as it is
// installed (../lib) or built (../tracer). kUnavailable: not there, or a path that
// LD_PRELOAD can't name (it is split at blanks and colons).
Result<std::string> FindTracerLibrary();

}  // namespace tutti::collector::supervise
