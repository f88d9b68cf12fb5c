// As much of CUDA's runtime as the programs of tests/gpu use, on the GPU of fake_gpu.h: the same
// programs run, and tell the same truth, on a machine without one.
#include <cuda_runtime_api.h>
#include <cupti.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "tests/gpu/spin.h"
#include "tests/gpu/testing/fake_gpu.h"

namespace {

using tutti::fake_gpu::Call;

constexpr size_t kDeviceBytes = size_t{80} << 30;
constexpr uint32_t kNullStream = 7;

// What CUDA's opaque pointers point to here.
struct Stream {
  uint32_t id;
  std::vector<uint64_t>* captures = nullptr;  // lengths of the kernels of the graph being made
};
struct Event {
  uint32_t stream = kNullStream;
};
struct Graph {
  std::vector<uint64_t> kernels_ns;
};

template <typename T, typename Handle>
T* As(Handle handle) {
  return reinterpret_cast<T*>(handle);
}
uint32_t IdOf(cudaStream_t stream) {
  return stream != nullptr ? As<Stream>(stream)->id : kNullStream;
}

// Blocks by address: what kind of memory it is.
struct Block {
  size_t bytes;
  CUpti_ActivityMemoryKind kind;
};
std::mutex mutex;
std::map<const void*, Block> blocks;

cudaError_t Allocate(const Call& call, void** address, size_t bytes,
                     CUpti_ActivityMemoryKind kind) {
  if (bytes > kDeviceBytes) return cudaErrorMemoryAllocation;
  *address = std::malloc(bytes);
  const std::lock_guard lock(mutex);
  blocks[*address] = {bytes, kind};
  tutti::fake_gpu::Allocation(call, *address, bytes, kind, false);
  return cudaSuccess;
}

cudaError_t Release(const Call& call, void* address) {
  const std::lock_guard lock(mutex);
  if (const auto block = blocks.extract(address)) {
    tutti::fake_gpu::Allocation(call, address, block.mapped().bytes, block.mapped().kind, true);
  }
  std::free(address);
  return cudaSuccess;
}

CUpti_ActivityMemoryKind KindOf(const void* address) {
  const std::lock_guard lock(mutex);
  const auto block = blocks.find(address);
  return block != blocks.end() ? block->second.kind : CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
}

void CopyOn(const Call& call, cudaStream_t stream, void* to, const void* from, size_t bytes,
            bool is_async) {
  const auto source = KindOf(from);
  const auto destination = KindOf(to);
  const bool from_device = source == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  const bool to_device = destination == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  const auto kind =
      from_device ? (to_device ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOD : CUPTI_ACTIVITY_MEMCPY_KIND_DTOH)
                  : CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  tutti::fake_gpu::Copy(call, IdOf(stream),
                        {static_cast<uint8_t>(kind), static_cast<uint8_t>(source),
                         static_cast<uint8_t>(destination), is_async},
                        bytes);
}

}  // namespace

namespace tutti::gpu {

cudaError_t LaunchSpin(cudaStream_t stream, uint64_t ns, unsigned*) {
  Call call(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
  if (auto* captures = As<Stream>(stream)->captures) {
    captures->push_back(ns);
  } else {
    fake_gpu::Kernel(call, IdOf(stream), ns);
  }
  return cudaSuccess;
}

}  // namespace tutti::gpu

extern "C" {

cudaError_t cudaSetDevice(int) { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory" : "error of the fake";
}
cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaMalloc(void** address, size_t bytes) {
  Call call(CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020);
  const cudaError_t result = Allocate(call, address, bytes, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
  call.set_result(static_cast<uint32_t>(result));
  return result;
}
cudaError_t cudaMallocAsync(void** address, size_t bytes, cudaStream_t) {
  Call call(CUPTI_RUNTIME_TRACE_CBID_cudaMallocAsync_v11020);
  return Allocate(call, address, bytes, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
}
cudaError_t cudaMallocManaged(void** address, size_t bytes, unsigned) {
  Call call(CUPTI_RUNTIME_TRACE_CBID_cudaMallocManaged_v6000);
  return Allocate(call, address, bytes, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED);
}
cudaError_t cudaMallocHost(void** address, size_t bytes) {
  Call call(CUPTI_RUNTIME_TRACE_CBID_cudaMallocHost_v3020);
  return Allocate(call, address, bytes, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
}
cudaError_t cudaFree(void* address) {
  tutti::fake_gpu::Initialize();  // cudaFree(nullptr) is how programs do it
  Call call(CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020);
  return Release(call, address);
}
cudaError_t cudaFreeAsync(void* address, cudaStream_t) {
  Call call(CUPTI_RUNTIME_TRACE_CBID_cudaFreeAsync_v11020);
  return Release(call, address);
}
cudaError_t cudaFreeHost(void* address) {
  Call call(CUPTI_RUNTIME_TRACE_CBID_cudaFreeHost_v3020);
  return Release(call, address);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  Call call(CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020);
  CopyOn(call, nullptr, to, from, bytes, false);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  Call call(CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020);
  CopyOn(call, stream, to, from, bytes, true);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void*, int value, size_t bytes, cudaStream_t stream) {
  Call call(CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020);
  tutti::fake_gpu::Fill(call, IdOf(stream), value, bytes);
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = As<CUstream_st>(new Stream{tutti::fake_gpu::NewStream()});
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return cudaStreamCreate(stream);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete As<Stream>(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  Call call(CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020);
  tutti::fake_gpu::HostWait(call, IdOf(stream),
                            CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  Call call(CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020);
  tutti::fake_gpu::HostWait(call, 0, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE);
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = As<CUevent_st>(new Event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  As<Event>(event)->stream = IdOf(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  Call call(CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020);
  tutti::fake_gpu::StreamWait(call, IdOf(stream), As<Event>(event)->stream);
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  As<Stream>(stream)->captures = new std::vector<uint64_t>;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  std::vector<uint64_t>* const captures = As<Stream>(stream)->captures;
  *graph = As<CUgraph_st>(new Graph{*captures});
  delete captures;
  As<Stream>(stream)->captures = nullptr;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long) {
  *executable = As<CUgraphExec_st>(new Graph(*As<Graph>(graph)));
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  Call call(CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000);
  tutti::fake_gpu::Graph(call, IdOf(stream), As<Graph>(executable)->kernels_ns);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete As<Graph>(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete As<Graph>(executable);
  return cudaSuccess;
}

}  // extern "C"
