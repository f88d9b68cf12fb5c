#include "tests/gpu/spin.h"

namespace tutti::gpu {
namespace {

__device__ unsigned long long GlobalNs() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
  return ns;
}

__global__ void Spin(unsigned long long ns, unsigned* touched) {
  const unsigned long long begin = GlobalNs();
  if (touched != nullptr) ++*touched;
  while (GlobalNs() - begin < ns) {
  }
}

}  // namespace

cudaError_t LaunchSpin(cudaStream_t stream, uint64_t ns, unsigned* touched) {
  unsigned long long duration_ns = ns;
  void* arguments[] = {&duration_ns, &touched};
  return cudaLaunchKernel(reinterpret_cast<const void*>(&Spin), dim3(1), dim3(1), arguments, 0,
                          stream);
}

}  // namespace tutti::gpu
