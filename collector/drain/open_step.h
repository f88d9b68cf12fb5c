// The training step that a process is in, as its rings show it while it runs. One thread.
#pragma once

#include <cstdint>
#include <optional>

#include "collector/session/segment.h"

namespace tutti::collector::drain {

// The number of the open step (tracer/annotate.h) of any thread, the highest if there are several;
// absent between steps, and where ranges are not recorded. Reads the open spans of claimed rings:
// some hundred nanoseconds a ring.
std::optional<int64_t> OpenStep(const session::Segment& segment);

}  // namespace tutti::collector::drain
