// What the host does besides: ranges around launches, and a fork between them.
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "tests/gpu/programs.h"
#include "tests/gpu/spin.h"

namespace tutti::gpu {
namespace {

constexpr int64_t kTimes = 10;
constexpr uint64_t kKernelNs = 50'000;

Expectation Ranges(const char* name, int64_t count) {
  return {.what = std::string("ranges '") + name + "'",
          .table = "range",
          .texts = {{"name", name}},
          .count = count};
}

}  // namespace

bool RunNvtx(Truth& truth) {
  cudaStream_t stream;
  TUTTI_CUDA(cudaStreamCreate(&stream));
  for (int64_t n = 0; n < kTimes; ++n) {
    const nvtxRangeId_t across = nvtxRangeStartA("from thread to thread");
    nvtxRangePushA("outer");
    nvtxRangePushA("inner");
    TUTTI_CUDA(LaunchSpin(stream, kKernelNs));
    nvtxRangePop();
    nvtxRangePop();
    std::thread([across] { nvtxRangeEnd(across); }).join();
  }
  TUTTI_CUDA(cudaStreamSynchronize(stream));
  truth.Expect(SpinKernels(kTimes, kKernelNs));
  truth.Expect(Ranges("outer", kTimes));
  truth.Expect(Ranges("inner", kTimes));
  truth.Expect(Ranges("from thread to thread", kTimes));
  truth.Expect({.what = "ranges 'inner' on the GPU",
                .table = "gpu_range",
                .texts = {{"name", "inner"}},
                .count = kTimes,
                .least_ns = static_cast<int64_t>(kKernelNs) - kClockStepNs,
                .most_ns = static_cast<int64_t>(kKernelNs) + kStartAndEndNs});
  return true;
}

// The child is as a data loader's worker: it does nothing of CUDA, and ends on its own.
bool RunFork(Truth& truth) {
  cudaStream_t stream;
  TUTTI_CUDA(cudaStreamCreate(&stream));
  for (int64_t n = 0; n < kTimes; ++n) TUTTI_CUDA(LaunchSpin(stream, kKernelNs));
  const pid_t child = fork();
  if (child == 0) {
    usleep(200'000);
    _exit(0);
  }
  for (int64_t n = 0; n < kTimes; ++n) TUTTI_CUDA(LaunchSpin(stream, kKernelNs));
  TUTTI_CUDA(cudaStreamSynchronize(stream));
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return false;
  truth.Expect(SpinKernels(2 * kTimes, kKernelNs));
  truth.ExpectCalls("cudaLaunchKernel%", 2 * kTimes);
  return true;
}

}  // namespace tutti::gpu
