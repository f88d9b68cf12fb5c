// Allocations: in the order of a stream, managed, and one that fails.
#include "tests/gpu/programs.h"
#include "tests/gpu/spin.h"

namespace tutti::gpu {
namespace {

constexpr int64_t kTimes = 16;
constexpr size_t kBytes = size_t{3} << 20;
constexpr uint64_t kKernelNs = 50'000;

// Rows of one allocation each, or of one release.
Expectation Allocations(int64_t count, int64_t bytes) {
  return {.what = std::string(bytes > 0 ? "allocations" : "releases") + " of device memory",
          .table = "memory_event",
          .texts = {{"device_type", "cuda"}},
          .numbers = {{"delta_bytes", bytes}},
          .count = count};
}

}  // namespace

bool RunPools(Truth& truth) {
  cudaStream_t stream;
  TUTTI_CUDA(cudaStreamCreate(&stream));
  for (int64_t n = 0; n < kTimes; ++n) {
    void* memory = nullptr;
    TUTTI_CUDA(cudaMallocAsync(&memory, kBytes, stream));
    TUTTI_CUDA(LaunchSpin(stream, kKernelNs, static_cast<unsigned*>(memory)));
    TUTTI_CUDA(cudaFreeAsync(memory, stream));
  }
  TUTTI_CUDA(cudaStreamSynchronize(stream));
  truth.Expect(SpinKernels(kTimes, kKernelNs));
  truth.Expect(Allocations(kTimes, static_cast<int64_t>(kBytes)));
  truth.Expect(Allocations(kTimes, -static_cast<int64_t>(kBytes)));
  truth.ExpectCalls("cudaMallocAsync", kTimes);
  truth.ExpectCalls("cudaFreeAsync", kTimes);
  return true;
}

bool RunManaged(Truth& truth) {
  constexpr uint64_t kLongNs = 2'000'000;  // longer than it takes to fetch the page
  unsigned* memory = nullptr;
  cudaStream_t stream;
  TUTTI_CUDA(cudaStreamCreate(&stream));
  TUTTI_CUDA(cudaMallocManaged(reinterpret_cast<void**>(&memory), kBytes, cudaMemAttachGlobal));
  for (int64_t n = 0; n < kTimes; ++n) TUTTI_CUDA(LaunchSpin(stream, kLongNs, memory));
  TUTTI_CUDA(cudaStreamSynchronize(stream));
  TUTTI_CUDA(cudaFree(memory));
  truth.Expect(SpinKernels(kTimes, kLongNs));
  truth.Expect(Allocations(1, static_cast<int64_t>(kBytes)));
  truth.Expect(Allocations(1, -static_cast<int64_t>(kBytes)));
  truth.ExpectCalls("cudaMallocManaged", 1);
  return true;
}

bool RunOutOfMemory(Truth& truth) {
  constexpr size_t kTooMuch = size_t{1} << 46;  // 64 TiB
  void* memory = nullptr;
  if (cudaMalloc(&memory, kTooMuch) != cudaErrorMemoryAllocation) return false;
  cudaGetLastError();  // it is not sticky
  TUTTI_CUDA(cudaMalloc(&memory, kBytes));
  TUTTI_CUDA(cudaFree(memory));
  truth.ExpectCalls("cudaMalloc", 1, cudaErrorMemoryAllocation);
  truth.ExpectCalls("cudaMalloc", 1);
  truth.Expect(Allocations(1, static_cast<int64_t>(kBytes)));
  return true;
}

}  // namespace tutti::gpu
