#include "collector/clock/clock_reading.h"

#include <time.h>

#include <string>

#include "collector/os/files.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace tutti::collector::clock {
namespace {

constexpr int kWindows = 8;  // a window hit by an interrupt is wide; eight in a row are rare

int64_t Now(clockid_t id) {
  timespec now{};
  ::clock_gettime(id, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

uint64_t Ticks(wire::ClockKind kind) {
#if defined(__x86_64__)
  if (kind == wire::ClockKind::kTsc) return __rdtsc();
#endif
  (void)kind;
  return static_cast<uint64_t>(Now(CLOCK_MONOTONIC_RAW));
}

// raw, ticks, real, ticks, raw: the three midpoints are one moment, give or take the
// width of the window.
ClockReading ReadWindow(wire::ClockKind kind) {
  const int64_t raw_before = Now(CLOCK_MONOTONIC_RAW);
  const uint64_t ticks_before = Ticks(kind);
  const int64_t realtime = Now(CLOCK_REALTIME);
  const uint64_t ticks_after = Ticks(kind);
  const int64_t raw_after = Now(CLOCK_MONOTONIC_RAW);
  return {ticks_before + (ticks_after - ticks_before) / 2, realtime,
          raw_before + (raw_after - raw_before) / 2, raw_after - raw_before};
}

}  // namespace

wire::ClockKind ChooseClockKind() {
#if defined(__x86_64__)
  const auto source =
      os::ReadSmallFile("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  const auto cpu = os::ReadSmallFile("/proc/cpuinfo");
  const auto has = [&cpu](const char* flag) { return cpu->find(flag) != std::string::npos; };
  if (source.ok() && cpu.ok() && *source == "tsc\n" && has(" constant_tsc") &&
      has(" nonstop_tsc")) {
    return wire::ClockKind::kTsc;
  }
#endif
  return wire::ClockKind::kMonotonicRaw;
}

ClockReading ReadClocks(wire::ClockKind kind) {
  ClockReading best = ReadWindow(kind);
  for (int window = 1; window < kWindows; ++window) {
    const ClockReading reading = ReadWindow(kind);
    if (reading.uncertainty_ns < best.uncertainty_ns) best = reading;
  }
  if (kind == wire::ClockKind::kMonotonicRaw) {
    best.ticks = static_cast<uint64_t>(best.monotonic_raw_ns);  // one clock: equal by definition
  }
  return best;
}

int64_t ThreadCpuNs() { return Now(CLOCK_THREAD_CPUTIME_ID); }

int64_t MonotonicRawNs() { return Now(CLOCK_MONOTONIC_RAW); }

}  // namespace tutti::collector::clock
