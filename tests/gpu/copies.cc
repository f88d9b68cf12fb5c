// Copies in every direction, from and to pageable and pinned memory, and fills.
#include <vector>

#include "tests/gpu/programs.h"

namespace tutti::gpu {
namespace {

constexpr int64_t kTimes = 8;
constexpr size_t kBytes = size_t{1} << 20;  // too long for a copy within the command buffer

Expectation Copies(const char* kind, const char* source, const char* destination) {
  return {
      .what = std::string("copies ") + kind + " from " + source + " to " + destination,
      .table = "memcpy",
      .texts = {{"copy_kind", kind}, {"source_kind", source}, {"destination_kind", destination}},
      .count = kTimes,
      .bytes = kTimes * static_cast<int64_t>(kBytes)};
}

// |kTimes| copies that wait, and are waited for.
bool Copy(void* to, const void* from, cudaMemcpyKind kind) {
  for (int64_t n = 0; n < kTimes; ++n) TUTTI_CUDA(cudaMemcpy(to, from, kBytes, kind));
  return true;
}

bool CopyAsync(void* to, const void* from, cudaMemcpyKind kind, cudaStream_t stream) {
  for (int64_t n = 0; n < kTimes; ++n) {
    TUTTI_CUDA(cudaMemcpyAsync(to, from, kBytes, kind, stream));
  }
  return true;
}

}  // namespace

bool RunCopies(Truth& truth) {
  std::vector<char> pageable(kBytes, 1);
  void* pinned = nullptr;
  void* device = nullptr;
  void* other = nullptr;
  cudaStream_t stream;
  TUTTI_CUDA(cudaMallocHost(&pinned, kBytes));
  TUTTI_CUDA(cudaMalloc(&device, kBytes));
  TUTTI_CUDA(cudaMalloc(&other, kBytes));
  TUTTI_CUDA(cudaStreamCreate(&stream));
  if (!Copy(device, pageable.data(), cudaMemcpyHostToDevice) ||
      !Copy(pageable.data(), device, cudaMemcpyDeviceToHost) ||
      !CopyAsync(device, pinned, cudaMemcpyHostToDevice, stream) ||
      !CopyAsync(pinned, device, cudaMemcpyDeviceToHost, stream) ||
      !CopyAsync(other, device, cudaMemcpyDeviceToDevice, stream)) {
    return false;
  }
  for (int64_t n = 0; n < kTimes; ++n) TUTTI_CUDA(cudaMemsetAsync(device, 7, kBytes, stream));
  TUTTI_CUDA(cudaStreamSynchronize(stream));
  TUTTI_CUDA(cudaFree(device));
  TUTTI_CUDA(cudaFree(other));
  TUTTI_CUDA(cudaFreeHost(pinned));
  truth.Expect(Copies("HtoD", "pageable", "device"));
  truth.Expect(Copies("DtoH", "device", "pageable"));
  truth.Expect(Copies("HtoD", "pinned", "device"));
  truth.Expect(Copies("DtoH", "device", "pinned"));
  truth.Expect(Copies("DtoD", "device", "device"));
  truth.Expect({.what = "fills",
                .table = "memset",
                .numbers = {{"value", 7}},
                .count = kTimes,
                .bytes = kTimes * static_cast<int64_t>(kBytes)});
  truth.ExpectCalls("cudaMemcpy", 2 * kTimes);
  truth.ExpectCalls("cudaMemcpyAsync", 3 * kTimes);
  return true;
}

}  // namespace tutti::gpu
