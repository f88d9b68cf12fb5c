// Time stamps of records. No conversion happens in the traced process: the collector
// interpolates TSC readings between its clock triples.
#pragma once

#include <x86intrin.h>

#include <cstdint>
#include <ctime>

#include "common/wire/wire.h"

namespace tutti::tracer {

// Ticks of |kind|: about 10 ns for the TSC, 25 ns through the vDSO. The TSC is read without
// a fence, as everybody's profiler does: a few instructions of slack either way cost less
// than the serialisation.
inline uint64_t NowTicks(wire::ClockKind kind) noexcept {
  if (kind == wire::ClockKind::kTsc) [[likely]]
    return __rdtsc();
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// For deadlines, which a count of short sleeps would miss by as much as the machine is busy.
inline int64_t MonotonicNs() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace tutti::tracer
