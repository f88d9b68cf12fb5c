// The library. Its C functions are CUPTI's, of which it does what the tracer relies on.
#include "tracer/sources/cupti/testing/fake_cupti.h"

#include <cupti.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tracer/sources/cupti/testing/fake_options.h"

namespace tutti::fake_cupti {
namespace {

// The layouts of the headers that this is built with.
#if CUPTI_API_VERSION >= 130000 && CUPTI_API_VERSION < 130100
using Kernel = CUpti_ActivityKernel10;
using Copy = CUpti_ActivityMemcpy6;
using Fill = CUpti_ActivityMemset4;
using Device = CUpti_ActivityDevice5;
using Context = CUpti_ActivityContext3;
using Memory = CUpti_ActivityMemory4;
#else
#error "say which records this release of CUPTI writes"
#endif

struct State {
  std::mutex mutex;
  Options options = ReadOptions();
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  CUpti_TimestampCallbackFunc now = nullptr;
  std::set<int> kinds;
  uint8_t* buffer = nullptr;
  size_t buffer_bytes = 0;
  size_t used = 0;
  uint8_t* held = nullptr;  // options.swaps_buffers: full, and kept back
  size_t held_bytes = 0;
  size_t dropped = 0;
  uint64_t given = 0;
  uint64_t refused = 0;
  struct Sum {
    uint64_t count = 0;
    uint64_t ticks = 0;
  };
  std::map<int, Sum> truth;  // by kind
  std::string truth_path;
  bool ended = false;  // the forced flush has been
};

State& It() {
  static State* state = new State;  // outlives main()
  return *state;
}

#define TUTTI_CALL(name) \
  { CUPTI_RUNTIME_TRACE_CBID_##name, #name }
struct Call {
  uint32_t id;
  const char* name;
};
constexpr Call kCalls[] = {
    TUTTI_CALL(cudaLaunchKernel_v7000),
    TUTTI_CALL(cudaGraphLaunch_v10000),
    TUTTI_CALL(cudaMemcpy_v3020),
    TUTTI_CALL(cudaMemcpyAsync_v3020),
    TUTTI_CALL(cudaMemsetAsync_v3020),
    TUTTI_CALL(cudaMalloc_v3020),
    TUTTI_CALL(cudaFree_v3020),
    TUTTI_CALL(cudaMallocManaged_v6000),
    TUTTI_CALL(cudaMallocAsync_v11020),
    TUTTI_CALL(cudaFreeAsync_v11020),
    TUTTI_CALL(cudaStreamSynchronize_v3020),
    TUTTI_CALL(cudaDeviceSynchronize_v3020),
    TUTTI_CALL(cudaStreamWaitEvent_v3020),
    TUTTI_CALL(cudaMallocHost_v3020),
    TUTTI_CALL(cudaFreeHost_v3020),
};
#undef TUTTI_CALL

const char* NameOfCall(uint32_t id) {
  for (const Call& call : kCalls) {
    if (call.id == id) return call.name;
  }
  return nullptr;
}

size_t BytesOf(uint32_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(Kernel);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(Copy);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(Fill);
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return sizeof(Device);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return sizeof(Context);
    case CUPTI_ACTIVITY_KIND_STREAM:
      return sizeof(CUpti_ActivityStream);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sizeof(CUpti_ActivitySynchronization2);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return sizeof(CUpti_ActivityOverhead3);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(CUpti_ActivityExternalCorrelation);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return sizeof(CUpti_ActivityGraphTrace2);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return sizeof(Memory);
    default:
      return 0;
  }
}

// Where the begin of a record lies, which its end follows; 0: it has none.
size_t TimesOf(int kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return offsetof(Kernel, start);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return offsetof(Copy, start);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return offsetof(CUpti_ActivityAPI, start);
    default:
      return 0;
  }
}

void CountTruth(State& state, int kind, const void* record) {
  State::Sum& sum = state.truth[kind];
  ++sum.count;
  const size_t offset = TimesOf(kind);
  if (offset == 0) return;
  uint64_t times[2];
  std::memcpy(times, static_cast<const uint8_t*>(record) + offset, sizeof(times));
  sum.ticks += times[1] - times[0];
}

void WriteTruth(const State& state) {
  if (state.truth_path.empty()) return;
  std::FILE* file = std::fopen(state.truth_path.c_str(), "w");
  if (file == nullptr) return;
  for (const auto& [kind, sum] : state.truth) {
    std::fprintf(file, "%d %llu %llu\n", kind, static_cast<unsigned long long>(sum.count),
                 static_cast<unsigned long long>(sum.ticks));
  }
  std::fclose(file);
}

void GiveBack(State& state, uint8_t* buffer, size_t size, size_t valid) {
  state.complete(nullptr, 0, buffer, size, valid);
}

// Gives the buffer back that is being filled.
void CloseBuffer(State& state) {
  if (state.buffer == nullptr) return;
  uint8_t* const buffer = state.buffer;
  const size_t used = state.used;
  state.buffer = nullptr;
  if (state.options.swaps_buffers && state.held == nullptr) {
    state.held = buffer;
    state.held_bytes = used;
    return;
  }
  GiveBack(state, buffer, state.buffer_bytes, used);
  if (state.held != nullptr) {
    GiveBack(state, state.held, state.buffer_bytes, state.held_bytes);
    state.held = nullptr;
  }
}

// Room for |bytes|, nullptr if the tool gives none.
uint8_t* Room(State& state, size_t bytes) {
  if (state.buffer != nullptr && state.used + bytes > state.buffer_bytes) CloseBuffer(state);
  if (state.buffer == nullptr) {
    size_t records = 0;
    state.request(&state.buffer, &state.buffer_bytes, &records);
    state.used = 0;
    ++(state.buffer != nullptr ? state.given : state.refused);
  }
  if (state.buffer == nullptr) return nullptr;
  uint8_t* const room = state.buffer + state.used;
  state.used += bytes;
  return room;
}

template <typename Record>
void AddRecord(const Record& record) {
  Add(&record, sizeof(record));
}

template <typename Record>
Record WorkRecord(CUpti_ActivityKind kind, const Work& work) {
  Record record{};
  record.kind = kind;
  record.start = work.begin;
  record.end = work.end;
  record.deviceId = kDevice;
  record.contextId = kContext;
  record.streamId = work.stream;
  record.correlationId = work.correlation;
  record.graphNodeId = work.graph_node;
  return record;
}

}  // namespace

void InitializeDriver() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  void* tool = path != nullptr ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (tool == nullptr) return;
  const auto initialize = reinterpret_cast<int (*)()>(dlsym(tool, "InitializeInjection"));
  if (initialize != nullptr) initialize();
}

uint64_t Now() {
  const auto now = It().now;
  return now != nullptr ? now() : 0;
}

bool Records(int kind) {
  const std::lock_guard lock(It().mutex);
  return It().kinds.contains(kind);
}

void Add(const void* record, size_t bytes) {
  State& state = It();
  const std::lock_guard lock(state.mutex);
  int kind = 0;
  std::memcpy(&kind, record, sizeof(kind));
  if (state.request == nullptr || state.ended || !state.kinds.contains(kind)) return;
  if (state.options.drops_records > 0) {
    --state.options.drops_records;
    ++state.dropped;
    return;
  }
  uint8_t* const room = Room(state, bytes);
  if (room == nullptr) {
    ++state.dropped;
    return;
  }
  std::memcpy(room, record, bytes);
  CountTruth(state, kind, record);
}

void AddDevice() {
  Device device{};
  device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  device.id = kDevice;
  device.name = "Fake GPU";
  device.computeCapabilityMajor = 9;
  device.numMultiprocessors = 132;
  device.numThreadsPerWarp = 32;
  device.maxWarpsPerMultiprocessor = 64;
  device.globalMemorySize = uint64_t{80} << 30;
  device.isCudaVisible = 1;
  std::memset(&device.uuid, 0xab, sizeof(device.uuid));
  AddRecord(device);
  Context context{};
  context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  context.contextId = kContext;
  context.deviceId = kDevice;
  AddRecord(context);
  for (const uint32_t id : {7U, 13U, 20U}) {
    CUpti_ActivityStream stream{};
    stream.kind = CUPTI_ACTIVITY_KIND_STREAM;
    stream.contextId = kContext;
    stream.streamId = id;
    AddRecord(stream);
  }
}

void AddApiCall(uint32_t callback_id, uint64_t begin, uint64_t end, uint32_t correlation) {
  CUpti_ActivityAPI call{};
  call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  call.cbid = callback_id;
  call.start = begin;
  call.end = end;
  call.processId = static_cast<uint32_t>(getpid());
  call.threadId = static_cast<uint32_t>(gettid());
  call.correlationId = correlation;
  AddRecord(call);
}

void AddKernel(const Work& work) {
  auto kernel = WorkRecord<Kernel>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, work);
  kernel.name = work.name;
  kernel.gridX = 132;
  kernel.gridY = kernel.gridZ = 1;
  kernel.blockX = 256;
  kernel.blockY = kernel.blockZ = 1;
  AddRecord(kernel);
}

void AddCopyToDevice(const Work& work, uint64_t bytes) {
  auto copy = WorkRecord<Copy>(CUPTI_ACTIVITY_KIND_MEMCPY, work);
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
  copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  copy.bytes = bytes;
  AddRecord(copy);
}

void AddFill(const Work& work, uint64_t bytes) {
  auto fill = WorkRecord<Fill>(CUPTI_ACTIVITY_KIND_MEMSET, work);
  fill.bytes = bytes;
  fill.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  AddRecord(fill);
}

void AddStreamWait(uint32_t stream, uint64_t begin, uint64_t end, uint32_t correlation) {
  CUpti_ActivitySynchronization2 wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  wait.start = begin;
  wait.end = end;
  wait.contextId = kContext;
  wait.streamId = stream;
  wait.cudaEventId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  wait.correlationId = correlation;
  AddRecord(wait);
}

void AddCommandBufferFull(uint64_t begin, uint64_t end) {
  CUpti_ActivityOverhead3 full{};
  full.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  full.overheadKind = CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL;
  full.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  full.objectId.pt.processId = static_cast<uint32_t>(getpid());
  full.objectId.pt.threadId = static_cast<uint32_t>(gettid());
  full.start = begin;
  full.end = end;
  full.overheadData = std::calloc(1, sizeof(CUpti_ActivityOverheadCommandBufferFullData));
  AddRecord(full);
}

void WriteTruthTo(const std::string& path) {
  const std::lock_guard lock(It().mutex);
  It().truth_path = path;
}

uint64_t BuffersGiven() {
  const std::lock_guard lock(It().mutex);
  return It().given;
}
uint64_t BuffersRefused() {
  const std::lock_guard lock(It().mutex);
  return It().refused;
}

uint32_t LaunchCallback() { return CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000; }

}  // namespace tutti::fake_cupti

// CUPTI's functions. Those that the header declares keep its signatures.
using tutti::fake_cupti::It;
using tutti::fake_cupti::State;

extern "C" {

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t* version) {
  *version = It().options.version != 0 ? It().options.version : CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc,
                                       void*, CUpti_SubscriberParams* params) {
  const auto& options = It().options;
  if (options.subscribe_result != 0 && params != nullptr && params->oldSubscriberName != nullptr) {
    std::strncpy(params->oldSubscriberName, options.subscriber.c_str(), params->oldSubscriberSize);
  }
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&It());
  return static_cast<CUptiResult>(options.subscribe_result);
}

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                                    void* user_data) {
  return cuptiSubscribe_v2(subscriber, callback, user_data, nullptr);
}

CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle) { return CUPTI_SUCCESS; }

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                    CUpti_BuffersCallbackCompleteFunc complete) {
  const std::lock_guard lock(It().mutex);
  It().request = request;
  It().complete = complete;
  return CUPTI_SUCCESS;
}

// After a kind is enabled it is too late: records would have stamps of two clocks.
CUptiResult CUPTIAPI cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc now) {
  const std::lock_guard lock(It().mutex);
  if (!It().kinds.empty()) return CUPTI_ERROR_INVALID_OPERATION;
  It().now = now;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(It().mutex);
  const auto& options = It().options;
  if (options.enable_result != 0 &&
      (options.enable_kind == -1 || options.enable_kind == static_cast<int>(kind))) {
    return static_cast<CUptiResult>(options.enable_result);
  }
  It().kinds.insert(kind);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(It().mutex);
  It().kinds.erase(kind);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(CUpti_CallbackId, uint8_t) {
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(CUpti_CallbackId, uint8_t) {
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiActivityEnableAllSyncRecords(uint8_t) { return CUPTI_SUCCESS; }
CUptiResult CUPTIAPI cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  return type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? CUPTI_SUCCESS
                                                      : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag) {
  if ((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0 && It().options.hangs_in_flush) {
    while (true) pause();
  }
  const std::lock_guard lock(It().mutex);
  if (It().complete != nullptr) tutti::fake_cupti::CloseBuffer(It());
  if ((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0) {
    State& state = It();
    state.ended = true;
    tutti::fake_cupti::WriteTruth(state);
    if (state.held != nullptr) {
      tutti::fake_cupti::GiveBack(state, state.held, state.buffer_bytes, state.held_bytes);
      state.held = nullptr;
    }
  }
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid_bytes,
                                                CUpti_Activity** record) {
  auto* at = reinterpret_cast<uint8_t*>(*record);
  uint32_t kind = 0;
  if (at == nullptr) {
    at = buffer;
  } else {
    std::memcpy(&kind, at, sizeof(kind));
    at += tutti::fake_cupti::BytesOf(kind);
  }
  if (at >= buffer + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  std::memcpy(&kind, at, sizeof(kind));
  if (tutti::fake_cupti::BytesOf(kind) == 0) return CUPTI_ERROR_INVALID_KIND;
  *record = reinterpret_cast<CUpti_Activity*>(at);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  const std::lock_guard lock(It().mutex);
  *dropped = It().dropped;
  It().dropped = 0;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id,
                                          const char** name) {
  if (domain != CUPTI_CB_DOMAIN_RUNTIME_API) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = tutti::fake_cupti::NameOfCall(id);
  return *name != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
              ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
              : "CUPTI_ERROR_OF_THE_FAKE";
  return CUPTI_SUCCESS;
}

}  // extern "C"
