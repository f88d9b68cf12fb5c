// Clocks of this machine read together. The tracer stamps events with ticks only
// (TSC where it can be trusted); readings taken around them turn ticks into time.
// Callable from any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/wire/wire.h"

namespace tutti::collector::clock {

// One moment on three clocks, plain data (it is also a chunk of the spool).
struct ClockReading {
  uint64_t ticks;            // of the session's ClockKind
  int64_t realtime_ns;       // CLOCK_REALTIME
  int64_t monotonic_raw_ns;  // CLOCK_MONOTONIC_RAW
  int64_t uncertainty_ns;    // width of the window in which the three were read
};
static_assert(sizeof(ClockReading) == 32);

// Where a trace's time starts: trace_ns = realtime_ns + (raw - monotonic_raw_ns).
// All recorders of a run on one boot of one machine share it.
struct Anchor {
  int64_t realtime_ns;
  int64_t monotonic_raw_ns;

  // What no clock can have told (a damaged spool's reading) is the nearest time there is.
  int64_t ToTraceNs(int64_t raw_ns) const {
    __extension__ using Wide = __int128;
    const Wide time_ns = Wide{realtime_ns} + raw_ns - monotonic_raw_ns;
    return static_cast<int64_t>(std::clamp<Wide>(time_ns, std::numeric_limits<int64_t>::min(),
                                                 std::numeric_limits<int64_t>::max()));
  }
};

// kTsc if the TSC ticks at a constant rate on this CPU in every state and the kernel
// itself keeps time with it (it watches and gives up a TSC that drifts), else
// kMonotonicRaw.
wire::ClockKind ChooseClockKind();

// Reads the three clocks, the middle of the narrowest of several windows.
ClockReading ReadClocks(wire::ClockKind kind);

// CPU time that the calling thread has used, in ns.
int64_t ThreadCpuNs();

// CLOCK_MONOTONIC_RAW in ns.
int64_t MonotonicRawNs();

}  // namespace tutti::collector::clock
