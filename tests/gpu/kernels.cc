// Kernels of set length, on one stream and on several.
#include <array>

#include "tests/gpu/programs.h"
#include "tests/gpu/spin.h"

namespace tutti::gpu {
namespace {

constexpr uint64_t kShortNs = 50'000;
constexpr uint64_t kLongNs = 1'000'000;
constexpr int64_t kShorts = 200;
constexpr int64_t kLongs = 20;

}  // namespace

bool RunKernels(Truth& truth) {
  cudaStream_t stream;
  TUTTI_CUDA(cudaStreamCreate(&stream));
  for (int64_t n = 0; n < kLongs; ++n) TUTTI_CUDA(LaunchSpin(stream, kLongNs));
  TUTTI_CUDA(cudaStreamSynchronize(stream));
  TUTTI_CUDA(cudaStreamDestroy(stream));
  truth.Expect(SpinKernels(kLongs, kLongNs));
  truth.ExpectCalls("cudaLaunchKernel%", kLongs);
  truth.ExpectCalls("cudaStreamSynchronize", 1);
  return true;
}

// Three streams at once; the last of the first one waits for an event of the second.
bool RunStreams(Truth& truth) {
  std::array<cudaStream_t, 3> streams;
  for (auto& stream : streams) {
    TUTTI_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  for (int64_t n = 0; n < kShorts; ++n) {
    for (const auto& stream : streams) TUTTI_CUDA(LaunchSpin(stream, kShortNs));
  }
  cudaEvent_t event;
  TUTTI_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  TUTTI_CUDA(cudaEventRecord(event, streams[1]));
  TUTTI_CUDA(cudaStreamWaitEvent(streams[0], event, 0));
  TUTTI_CUDA(LaunchSpin(streams[0], kShortNs));
  TUTTI_CUDA(cudaDeviceSynchronize());
  const auto launches = static_cast<int64_t>(streams.size()) * kShorts + 1;
  truth.Expect(SpinKernels(launches, kShortNs));
  truth.ExpectCalls("cudaLaunchKernel%", launches);
  truth.ExpectCalls("cudaStreamWaitEvent%", 1);
  truth.Expect({.what = "waits of a stream for an event",
                .table = "sync",
                .texts = {{"kind", "stream_wait_event"}},
                .count = 1});
  truth.Expect({.what = "waits of the host for the device",
                .table = "sync",
                .texts = {{"kind", "context"}},
                .count = 1});
  return true;
}

}  // namespace tutti::gpu
