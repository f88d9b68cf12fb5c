// The one kernel of these programs: it keeps one thread block busy for a time told beforehand, by
// the GPU's own clock.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tests/gpu/truth.h"

namespace tutti::gpu {

// Launches it on |stream|. |touched|: a word that it adds one to; nullptr: none.
cudaError_t LaunchSpin(cudaStream_t stream, uint64_t ns, unsigned* touched = nullptr);

// The GPU's clock moves in steps of up to 1 us, and a kernel starts and ends in some us more.
inline constexpr int64_t kClockStepNs = 2'000;
inline constexpr int64_t kStartAndEndNs = 60'000;

// |count| rows of kernels that spin for |ns|.
inline Expectation SpinKernels(int64_t count, int64_t ns) {
  Expectation kernels{.what = "kernels of " + std::to_string(ns / 1000) + " us", .table = "kernel"};
  kernels.texts = {{"name", "%Spin%"}};
  kernels.count = count;
  kernels.least_ns = ns - kClockStepNs;
  kernels.most_ns = ns + kStartAndEndNs;
  return kernels;
}

}  // namespace tutti::gpu
