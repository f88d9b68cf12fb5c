// The functions of PyTorch that this library takes the place of. Being preloaded it comes
// first in every look-up by name, so PyTorch's own calls of these come here too (they go
// through its dynamic symbol table: run with 2.8, 2.11 and 2.15, in C++ and in Python). Each
// does what the real one does, by calling it, and only looks on.
//
// Exceptions of the real functions pass through: nothing here has a destructor to run, and
// nothing of ours throws. Objects passed by value in C++ (intrusive_ptr, which has a
// destructor) are passed by address in the ABI; results of such types are written where a
// hidden first argument points.
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/sources/torch/collectives.h"
#include "tracer/sources/torch/layout.h"
#include "tracer/sources/torch/library.h"
#include "tracer/sources/torch/memory.h"
#include "tracer/sources/torch/source.h"

namespace tutti::tracer::torch {
namespace {

constexpr char kC10[] = "libc10.so";
constexpr char kTorchCpu[] = "libtorch_cpu.so";

// The real function behind an interposed one, looked up at the first call. Two threads may
// both look it up; they find the same.
template <typename Function>
class Real {
 public:
  constexpr Real(const char* soname, const char* symbol) noexcept
      : soname_(soname), symbol_(symbol) {}

  Function* Get() noexcept {
    Function* function = function_.load(std::memory_order_relaxed);
    return function != nullptr ? function : LookUp();
  }

 private:
  // Whoever called us by this name has a library with the real one, so it is found.
  [[gnu::noinline]] Function* LookUp() noexcept {
    auto* function = reinterpret_cast<Function*>(FindReal(soname_, symbol_));
    if (function == nullptr) {
      __builtin_trap();
    }
    function_.store(function, std::memory_order_relaxed);
    return function;
  }

  const char* const soname_;
  const char* const symbol_;
  std::atomic<Function*> function_{nullptr};
};

// The first sight of PyTorch at work. Until it is attached to, look again now and then: an
// allocation may come from a part of it that is loaded first.
inline void NoticePyTorch() noexcept {
  constexpr uint32_t kEvery = 256;
  static constinit std::atomic<uint32_t> calls{0};
  if (TheSource().state.load(std::memory_order_relaxed) == Source::State::kWaiting &&
      calls.fetch_add(1, std::memory_order_relaxed) % kEvery == 0) [[unlikely]] {
    Attach();
  }
}

}  // namespace

// Declares |function| as this library's exported definition of |symbol|, a mangled name, and
// real_|function| as what it forwards to.
#define TUTTI_INTERPOSE(result, function, parameters, soname, symbol)                   \
  extern "C" [[gnu::visibility("default")]] result function parameters __asm__(symbol); \
  namespace {                                                                           \
  constinit Real<result parameters> real_##function(soname, symbol);                    \
  }

// void* c10::alloc_cpu(size_t nbytes)
TUTTI_INTERPOSE(void*, AllocCpu, (size_t bytes), kC10, "_ZN3c109alloc_cpuEm")
void* AllocCpu(size_t bytes) {
  NoticePyTorch();
  void* address = real_AllocCpu.Get()(bytes);
  OnCpuAllocate(address, bytes);
  return address;
}

// void c10::free_cpu(void* data)
TUTTI_INTERPOSE(void, FreeCpu, (void* address), kC10, "_ZN3c108free_cpuEPv")
void FreeCpu(void* address) {
  // Before it is released: afterwards another thread may be given the same address.
  OnCpuRelease(address);
  real_FreeCpu.Get()(address);
}

// void c10::reportMemoryUsageToProfiler(void*, int64_t alloc_size, size_t total_allocated,
//                                       size_t total_reserved, c10::Device)
TUTTI_INTERPOSE(void, ReportMemory,
                (void* address, int64_t bytes, size_t allocated, size_t reserved, uint16_t device),
                kC10, "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE")
void ReportMemory(void* address, int64_t bytes, size_t allocated, size_t reserved,
                  uint16_t device) {
  OnMemoryReport(address, bytes, allocated, reserved, device);
  real_ReportMemory.Get()(address, bytes, allocated, reserved, device);
}

// void c10::reportOutOfMemoryToProfiler(int64_t alloc_size, size_t total_allocated,
//                                       size_t total_reserved, c10::Device)
TUTTI_INTERPOSE(void, ReportOutOfMemory,
                (int64_t bytes, size_t allocated, size_t reserved, uint16_t device), kC10,
                "_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE")
void ReportOutOfMemory(int64_t bytes, size_t allocated, size_t reserved, uint16_t device) {
  OnOutOfMemory(bytes, allocated, reserved, device);
  real_ReportOutOfMemory.Get()(bytes, allocated, reserved, device);
}

#define TUTTI_GLOO "_ZN4c10d16ProcessGroupGloo"
#define TUTTI_WORK_PTR_TAIL "NS1_6detail34intrusive_target_default_null_typeIS3_EEEE"
#define TUTTI_TENSORS "ERSt6vectorIN2at6TensorESaIS3_EE"

// ProcessGroupGloo(const intrusive_ptr<Store>&, int rank, int size, intrusive_ptr<Options>)
TUTTI_INTERPOSE(void, ConstructGloo,
                (void* gloo, const void* store, int32_t rank, int32_t size, void* options),
                kTorchCpu,
                TUTTI_GLOO
                "C1ERKN3c1013intrusive_ptrINS_5StoreENS1_6detail34intrusive_target_default_null_"
                "typeIS3_EEEEiiNS2_INS0_7OptionsENS5_ISA_EEEE")
void ConstructGloo(void* gloo, const void* store, int32_t rank, int32_t size, void* options) {
  OnGroupConstruct(gloo, rank, size);
  real_ConstructGloo.Get()(gloo, store, rank, size, options);
}

// void ProcessGroupGloo::enqueue(intrusive_ptr<AsyncWork> work)
TUTTI_INTERPOSE(void, Enqueue, (void* gloo, void** work), kTorchCpu,
                TUTTI_GLOO "7enqueueEN3c1013intrusive_ptrINS0_9AsyncWorkE" TUTTI_WORK_PTR_TAIL)
void Enqueue(void* gloo, void** work) {
  // Before it is in the queue: a worker may take it up and finish it at once.
  OnEnqueue(gloo, *work);
  real_Enqueue.Get()(gloo, work);
}

// static void ProcessGroupGloo::AsyncWork::execute(const intrusive_ptr<AsyncWork>& work)
TUTTI_INTERPOSE(void, Execute, (void** work), kTorchCpu,
                TUTTI_GLOO
                "9AsyncWork7executeERKN3c1013intrusive_ptrIS1_NS2_6detail34intrusive_target_"
                "default_null_typeIS1_EEEE")
void Execute(void** work) {
  OnWorkBegin(*work);
  real_Execute.Get()(work);
  OnWorkEnd();
}

// intrusive_ptr<Work> ProcessGroupGloo::broadcast(vector<Tensor>&, const BroadcastOptions&)
TUTTI_INTERPOSE(void*, Broadcast, (void* result, void* gloo, void* tensors, const void* options),
                kTorchCpu, TUTTI_GLOO "9broadcast" TUTTI_TENSORS "RKNS_16BroadcastOptionsE")
void* Broadcast(void* result, void* gloo, void* tensors, const void* options) {
  OnRootedCall(gloo, LoadField<int64_t>(options, options::kBroadcastRoot));
  return real_Broadcast.Get()(result, gloo, tensors, options);
}

// intrusive_ptr<Work> ProcessGroupGloo::reduce(vector<Tensor>&, const ReduceOptions&)
TUTTI_INTERPOSE(void*, Reduce, (void* result, void* gloo, void* tensors, const void* options),
                kTorchCpu, TUTTI_GLOO "6reduce" TUTTI_TENSORS "RKNS_13ReduceOptionsE")
void* Reduce(void* result, void* gloo, void* tensors, const void* options) {
  OnRootedCall(gloo, LoadField<int64_t>(options, options::kReduceRoot));
  return real_Reduce.Get()(result, gloo, tensors, options);
}

// intrusive_ptr<Work> ProcessGroupGloo::gather(vector<vector<Tensor>>& outputs,
//                                              vector<Tensor>& inputs, const GatherOptions&)
TUTTI_INTERPOSE(void*, Gather,
                (void* result, void* gloo, void* outputs, void* inputs, const void* options),
                kTorchCpu,
                TUTTI_GLOO
                "6gatherERSt6vectorIS1_IN2at6TensorESaIS3_EESaIS5_EERS5_"
                "RKNS_13GatherOptionsE")
void* Gather(void* result, void* gloo, void* outputs, void* inputs, const void* options) {
  OnRootedCall(gloo, LoadField<int64_t>(options, options::kGatherRoot));
  return real_Gather.Get()(result, gloo, outputs, inputs, options);
}

// intrusive_ptr<Work> ProcessGroupGloo::scatter(vector<Tensor>& outputs,
//                                               vector<vector<Tensor>>& inputs,
//                                               const ScatterOptions&)
TUTTI_INTERPOSE(void*, Scatter,
                (void* result, void* gloo, void* outputs, void* inputs, const void* options),
                kTorchCpu,
                TUTTI_GLOO "7scatter" TUTTI_TENSORS "RS1_IS5_SaIS5_EERKNS_14ScatterOptionsE")
void* Scatter(void* result, void* gloo, void* outputs, void* inputs, const void* options) {
  OnScatterCall(gloo, LoadField<int64_t>(options, options::kScatterRoot), outputs);
  return real_Scatter.Get()(result, gloo, outputs, inputs, options);
}

// intrusive_ptr<Work> ProcessGroupGloo::send(vector<Tensor>&, int dstRank, int tag)
TUTTI_INTERPOSE(void*, Send,
                (void* result, void* gloo, void* tensors, int32_t destination, int32_t tag),
                kTorchCpu, TUTTI_GLOO "4send" TUTTI_TENSORS "ii")
void* Send(void* result, void* gloo, void* tensors, int32_t destination, int32_t tag) {
  OnPeerCall(gloo, destination);
  return real_Send.Get()(result, gloo, tensors, destination, tag);
}

// intrusive_ptr<Work> ProcessGroupGloo::recv(vector<Tensor>&, int srcRank, int tag)
TUTTI_INTERPOSE(void*, Receive,
                (void* result, void* gloo, void* tensors, int32_t source, int32_t tag), kTorchCpu,
                TUTTI_GLOO "4recv" TUTTI_TENSORS "ii")
void* Receive(void* result, void* gloo, void* tensors, int32_t source, int32_t tag) {
  OnPeerCall(gloo, source);
  return real_Receive.Get()(result, gloo, tensors, source, tag);
}

// intrusive_ptr<Work> ProcessGroupGloo::recvAnysource(vector<Tensor>&, int tag)
TUTTI_INTERPOSE(void*, ReceiveAny, (void* result, void* gloo, void* tensors, int32_t tag),
                kTorchCpu, TUTTI_GLOO "13recvAnysource" TUTTI_TENSORS "i")
void* ReceiveAny(void* result, void* gloo, void* tensors, int32_t tag) {
  constexpr int32_t kAnyPeer = -1;
  OnPeerCall(gloo, kAnyPeer);
  return real_ReceiveAny.Get()(result, gloo, tensors, tag);
}

}  // namespace tutti::tracer::torch
