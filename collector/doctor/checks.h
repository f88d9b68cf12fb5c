// The checks, by what they look at. Each returns what it found, whatever it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collector/doctor.h"
#include "collector/doctor/machine.h"

namespace tutti::collector::doctor {

// Whether a tracer can record here at all: its library, sealed memory, pages that a fork wipes.
std::vector<Checkup> CheckTracer();

// What makes times coarse or noisy: clock source, frequency governor, NUMA balancing, swapping.
std::vector<Checkup> CheckTimes(const Machine& machine);

// What training runs out of: CPU quota of the container for |cpus| processors, shared memory of
// |shm_bytes| free bytes, |open_files| allowed, the queue of connections.
struct Limits {
  int64_t cpus = 0;
  int64_t shm_bytes = 0;
  int64_t open_files = 0;
};
Limits CurrentLimits();
std::vector<Checkup> CheckLimits(const Machine& machine, const Limits& limits);

// NVIDIA's driver, who may profile, and tools that take the place of Tutti's.
std::vector<Checkup> CheckGpu(const Machine& machine, bool is_admin);

// How fast a file, or the largest files below a folder, can be read past the page cache.
Result<Checkup> CheckDataSpeed(const std::string& path);

// Whether the ranks of a run had the same versions.
Result<std::vector<Checkup>> CheckRanks(const std::string& run);

}  // namespace tutti::collector::doctor
