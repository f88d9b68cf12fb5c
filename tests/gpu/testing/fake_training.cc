// Stands in for tests/gpu/training.py on the fake GPU, with the same options and the same output:
// steps of two kernels, and on request what a profiler in the process would have seen of them.
#include <nvtx3/nvToolsExt.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/gpu/spin.h"
#include "tracer/annotate.h"

namespace {

constexpr int64_t kKernelNs = 400'000;
constexpr int64_t kWarmUpSteps = 3;

int64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

int64_t Step(cudaStream_t stream, int64_t number) {
  const int64_t begin_ns = MonotonicNs();
  tutti_step_begin(number);
  for (int kernel = 0; kernel < 2; ++kernel) tutti::gpu::LaunchSpin(stream, kKernelNs);
  cudaStreamSynchronize(stream);
  // A step of at least 1 ms, whatever the fake GPU does while nobody records it.
  while (MonotonicNs() < begin_ns + 1'000'000) {
  }
  tutti_step_end();
  return MonotonicNs() - begin_ns;
}

}  // namespace

int main(int argc, char** argv) {
  int64_t steps = 20;
  bool profiler = false;
  for (int n = 1; n < argc; ++n) {
    if (std::strcmp(argv[n], "--profiler") == 0) profiler = true;
    if (std::strcmp(argv[n], "--steps") == 0 && n + 1 < argc) steps = std::atoll(argv[n + 1]);
  }
  tutti_step_begin(-1);
  tutti_step_end();
  cudaFree(nullptr);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  for (int64_t number = 0; number < kWarmUpSteps; ++number) Step(stream, number);
  std::string times;
  nvtxRangePushA("measured");
  for (int64_t number = 0; number < steps; ++number) {
    times += (times.empty() ? "" : ",") + std::to_string(Step(stream, kWarmUpSteps + number));
  }
  nvtxRangePop();
  std::string kernels;
  if (profiler) {
    kernels = "[\"tutti::gpu::(anonymous namespace)::Spin(unsigned long long, unsigned int*)\"," +
              std::to_string(2 * steps) + "," + std::to_string(2 * steps * kKernelNs) + "]";
  }
  std::printf("{\"program\":\"training\",\"step_ns\":[%s],\"kernels\":[%s]}\n", times.c_str(),
              kernels.c_str());
  return 0;
}
