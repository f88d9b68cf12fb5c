// How long a rank's GPU usually takes to begin work that nothing holds up.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <span>

#include "analyzer/input/device_events.h"

namespace tutti::analyzer {

struct DeviceLatency {
  int64_t launch_ns =
      5'000;  // from the begin of the launch call to that of the work, if its stream is free
  int64_t stream_ns =
      1'000;  // between two pieces of work of a stream, if the second was launched long before
};

// Medians of what is seen. `events` sorted by begin. O(n).
DeviceLatency LatencyOf(std::span<const DeviceEvent> events, std::span<const ApiEvent> calls);

}  // namespace tutti::analyzer
