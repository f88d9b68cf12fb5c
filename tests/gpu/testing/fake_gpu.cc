#include "tests/gpu/testing/fake_gpu.h"

#include <cupti.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>

#include "tracer/sources/cupti/testing/fake_cupti.h"

namespace tutti::fake_gpu {
namespace {

using fake_cupti::Now;

constexpr char kSpinName[] = "_ZN5tutti3gpu12_GLOBAL__N_14SpinEyPj";
constexpr uint64_t kCopyNs = 20'000;

struct Gpu {
  std::mutex mutex;
  double ticks_per_ns = 0;
  uint32_t correlation = 0;
  std::map<uint32_t, uint64_t> busy_until;  // stream to ticks
};
Gpu& It() {
  static Gpu* gpu = new Gpu;  // outlives main()
  return *gpu;
}

uint64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// How fast the tool's clock is, measured over 50 ms.
double MeasureClock() {
  const uint64_t begin_ns = MonotonicNs();
  const uint64_t begin = Now();
  while (MonotonicNs() < begin_ns + 50'000'000) {
  }
  const uint64_t ns = MonotonicNs() - begin_ns;
  return static_cast<double>(Now() - begin) / static_cast<double>(ns);
}

uint64_t Ticks(uint64_t ns) {
  return static_cast<uint64_t>(static_cast<double>(ns) * It().ticks_per_ns);
}

// Work of |ns| at the end of |stream|.
fake_cupti::Work Place(const Call& call, uint32_t stream, uint64_t ns) {
  const std::lock_guard lock(It().mutex);
  uint64_t& busy_until = It().busy_until[stream];
  fake_cupti::Work work;
  work.stream = stream;
  work.begin = std::max(Now() + Ticks(3'000), busy_until);
  work.end = work.begin + Ticks(ns);
  work.correlation = call.correlation();
  busy_until = work.end;
  return work;
}

void AddSynchronization(const Call& call, uint32_t stream, int type, uint64_t begin) {
  CUpti_ActivitySynchronization2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  record.type = static_cast<CUpti_ActivitySynchronizationType>(type);
  record.start = begin;
  record.end = Now();
  record.correlationId = call.correlation();
  record.contextId = fake_cupti::kContext;
  record.streamId = stream != 0 ? stream : CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  record.cudaEventId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  fake_cupti::Add(&record, sizeof(record));
}

}  // namespace

void Initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    fake_cupti::InitializeDriver();
    if (Now() == 0) return;
    fake_cupti::AddDevice();
    It().ticks_per_ns = MeasureClock();
  });
}

Call::Call(uint32_t callback_id) : callback_id_(callback_id), begin_(Now()) {
  const std::lock_guard lock(It().mutex);
  correlation_ = ++It().correlation;
}

Call::~Call() {
  CUpti_ActivityAPI record{};
  record.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  record.cbid = callback_id_;
  record.start = begin_;
  record.end = Now();
  record.processId = static_cast<uint32_t>(getpid());
  record.threadId = static_cast<uint32_t>(gettid());
  record.correlationId = correlation_;
  record.returnValue = result_;
  fake_cupti::Add(&record, sizeof(record));
}

uint32_t NewStream() {
  const std::lock_guard lock(It().mutex);
  const auto stream = static_cast<uint32_t>(13 + It().busy_until.size());
  It().busy_until[stream] = 0;
  return stream;
}

void Kernel(const Call& call, uint32_t stream, uint64_t ns, uint64_t graph_node) {
  fake_cupti::Work work = Place(call, stream, ns);
  work.name = kSpinName;
  work.graph_node = graph_node;
  fake_cupti::AddKernel(work);
}

void Graph(const Call& call, uint32_t stream, const std::vector<uint64_t>& kernels_ns) {
  if (!fake_cupti::Records(CUPTI_ACTIVITY_KIND_GRAPH_TRACE)) {
    uint64_t node = 0;
    for (const uint64_t ns : kernels_ns) Kernel(call, stream, ns, ++node);
    return;
  }
  const uint64_t total_ns = std::accumulate(kernels_ns.begin(), kernels_ns.end(), uint64_t{0});
  const fake_cupti::Work work = Place(call, stream, total_ns);
  CUpti_ActivityGraphTrace2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  record.correlationId = call.correlation();
  record.start = work.begin;
  record.end = work.end;
  record.deviceId = fake_cupti::kDevice;
  record.graphId = 1;
  record.contextId = fake_cupti::kContext;
  record.streamId = stream;
  fake_cupti::Add(&record, sizeof(record));
}

void Copy(const Call& call, uint32_t stream, const CopyEnds& ends, size_t bytes) {
  const fake_cupti::Work work = Place(call, stream, kCopyNs);
  CUpti_ActivityMemcpy6 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  record.copyKind = ends.copy_kind;
  record.srcKind = ends.source;
  record.dstKind = ends.destination;
  record.flags = ends.is_async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
  record.bytes = bytes;
  record.start = work.begin;
  record.end = work.end;
  record.deviceId = fake_cupti::kDevice;
  record.contextId = fake_cupti::kContext;
  record.streamId = stream;
  record.correlationId = call.correlation();
  fake_cupti::Add(&record, sizeof(record));
}

void Fill(const Call& call, uint32_t stream, int value, size_t bytes) {
  const fake_cupti::Work work = Place(call, stream, kCopyNs);
  CUpti_ActivityMemset4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  record.value = static_cast<uint32_t>(value);
  record.bytes = bytes;
  record.start = work.begin;
  record.end = work.end;
  record.deviceId = fake_cupti::kDevice;
  record.contextId = fake_cupti::kContext;
  record.streamId = stream;
  record.correlationId = call.correlation();
  fake_cupti::Add(&record, sizeof(record));
}

void Allocation(const Call& call, const void* address, size_t bytes, int kind, bool is_release) {
  CUpti_ActivityMemory4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  record.memoryOperationType = is_release ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
                                          : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  record.memoryKind = static_cast<CUpti_ActivityMemoryKind>(kind);
  record.correlationId = call.correlation();
  record.address = reinterpret_cast<uint64_t>(address);
  record.bytes = bytes;
  record.timestamp = Now();
  record.processId = static_cast<uint32_t>(getpid());
  record.deviceId = fake_cupti::kDevice;
  record.contextId = fake_cupti::kContext;
  record.streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  fake_cupti::Add(&record, sizeof(record));
}

void HostWait(const Call& call, uint32_t stream, int type) {
  const uint64_t begin = Now();
  uint64_t until = 0;
  {
    const std::lock_guard lock(It().mutex);
    for (const auto& [id, busy_until] : It().busy_until) {
      if (stream == 0 || id == stream) until = std::max(until, busy_until);
    }
  }
  while (Now() != 0 && Now() < until) usleep(100);
  AddSynchronization(call, stream, type, begin);
}

void StreamWait(const Call& call, uint32_t stream, uint32_t other) {
  {
    const std::lock_guard lock(It().mutex);
    uint64_t& busy_until = It().busy_until[stream];
    busy_until = std::max(busy_until, It().busy_until[other]);
  }
  AddSynchronization(call, stream, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, Now());
}

}  // namespace tutti::fake_gpu
