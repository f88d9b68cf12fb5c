#include "tracer/sources/torch/layout_check.h"

#include <cstring>

namespace tutti::tracer::torch {
namespace {

namespace rf = record_function;

constexpr char kProbeName[] = "tutti.layout_check, longer than a short string";
constexpr uint64_t kProbeThread = 0x7475747469000001;
constexpr int64_t kProbeSequence = 0x7475747469000002;
constexpr size_t kBufferBytes = 4096;  // several times the largest object known

#define TUTTI_EXPECT(condition, what) \
  if (!(condition)) {                 \
    return (what);                    \
  }

constexpr uint16_t kFirstUndefinedDtype = 46;  // ScalarType::Undefined grows with new types

struct Probe {
  const Library* library;
  const char* mismatch;
  bool started;
};

// The callback has no argument of ours, so the probe that runs on this thread is found here.
// The model needs no call into the loader (__tls_get_addr), which may allocate.
[[gnu::tls_model("initial-exec")]] constinit thread_local Probe* current_probe = nullptr;

template <typename T>
T Read(const void* object, size_t offset) noexcept {
  return LoadField<T>(object, offset);
}

// What a start callback can see.
const char* CheckInCallback(const Library& library, const void* record) noexcept {
  const char* name = library.name(record);
  TUTTI_EXPECT(name != nullptr && std::strcmp(name, kProbeName) == 0, "its name");
  TUTTI_EXPECT(Read<uint8_t>(record, rf::kNameIsSchema) == 0, "the kind of its name");
  TUTTI_EXPECT(Read<const char*>(record, rf::kName + std_string::kData) == name,
               "the place of its name");
  TUTTI_EXPECT(Read<uint64_t>(record, rf::kName + std_string::kLength) == std::strlen(kProbeName),
               "the length of its name");
  TUTTI_EXPECT(Read<uint64_t>(record, rf::kThreadId) == kProbeThread, "its thread number");
  TUTTI_EXPECT(Read<uint8_t>(record, rf::kScope) == kScopeUser, "its scope");
  TUTTI_EXPECT(Read<int64_t>(record, rf::kSequenceNr) == kProbeSequence, "its sequence number");
  TUTTI_EXPECT(library.is_async(record) && Read<uint8_t>(record, rf::kIsAsync) == 1,
               "whether it is asynchronous");
  TUTTI_EXPECT(Read<uint64_t>(record, rf::kForwardThreadId) == 0, "its forward thread");
  TUTTI_EXPECT(Read<uint64_t>(record, rf::kHandle) != 0, "its handle");
  TUTTI_EXPECT(Read<int64_t>(record, rf::kDebugHandle) == -1, "its debug handle");
  return nullptr;
}

void* OnProbeStart(void** context, const void* record) noexcept {
  *context = nullptr;
  Probe* probe = current_probe;
  if (probe != nullptr) {
    probe->started = true;
    probe->mismatch = CheckInCallback(*probe->library, record);
  }
  return context;
}

void OnProbeEnd(const void*, void*) noexcept {}

// Changes the two sequences of inputs and outputs where they are believed to be and asks
// the library for their lengths. Both are empty before and after.
const char* CheckSequences(const Library& library, char* record) noexcept {
  constexpr uint64_t kInputs = 7;
  constexpr uint64_t kOutputs = 3;
  const uint64_t none = 0;
  std::memcpy(record + rf::kInputCount, &kInputs, sizeof(kInputs));
  const uint64_t inputs = library.num_inputs(record);
  std::memcpy(record + rf::kInputCount, &none, sizeof(none));

  const char* values[2] = {record, record + kOutputs * ivalue::kBytes};
  std::memcpy(record + rf::kOutputs, values, sizeof(values));
  const uint64_t outputs = library.num_outputs(record);
  const void* nothing[2] = {nullptr, nullptr};
  std::memcpy(record + rf::kOutputs, nothing, sizeof(nothing));

  TUTTI_EXPECT(inputs == kInputs, "its inputs");
  TUTTI_EXPECT(outputs == kOutputs, "its outputs");
  return nullptr;
}

void CallBefore(const Library& library, void* record) noexcept {
  if (library.before != nullptr) {
    library.before(record, {std::strlen(kProbeName), kProbeName, 0}, kProbeSequence);
  } else {
    library.before_text(record, kProbeName, kProbeSequence);
  }
}

bool IsEmptyShortString(const char* object, size_t offset) noexcept {
  return Read<const char*>(object, offset + std_string::kData) ==
             object + offset + std_string::kShortText &&
         Read<uint64_t>(object, offset + std_string::kLength) == 0;
}

}  // namespace

const char* FindRecordFunctionMismatch(const Library& library) noexcept {
  alignas(16) char record[kBufferBytes] = {};
  // The callbacks are moved from, so their size is told twice over what is read.
  struct {
    StepCallbacks callbacks;
    char slack[256];
  } step = {};
  step.callbacks.begin = step.callbacks.inline_pairs;
  step.callbacks.size = 1;
  step.callbacks.capacity = 4;
  step.callbacks.inline_pairs[0] = {&OnProbeStart, &OnProbeEnd};
  step.callbacks.thread_id = kProbeThread;
  step.callbacks.scope = kScopeUser;
  step.callbacks.needs_ids = true;  // makes the constructor number the object

  Probe probe = {&library, nullptr, false};
  current_probe = &probe;
  library.construct(record, &step.callbacks);
  library.set_async(record);
  CallBefore(library, record);
  const char* mismatch = probe.mismatch;
  if (!probe.started) {
    mismatch = "how its callbacks are kept";
  }
  if (mismatch == nullptr) {
    mismatch = CheckSequences(library, record);
  }
  library.end(record);
  library.destroy(record);
  current_probe = nullptr;
  return mismatch;
}

size_t FindTensorSizes(const Library& library) noexcept {
  const void* undefined = library.undefined_tensor;
  if (undefined == nullptr) {
    return 0;
  }
  namespace ti = tensor_impl;
  for (const size_t sizes : ti::kSizesCandidates) {
    const auto policy = Read<uint8_t>(undefined, sizes + ti::kPolicy);
    const auto dtype = Read<uint16_t>(undefined, sizes + ti::kDtype);
    // One dimension of size 0 and stride 1; a type that is no element type.
    if (Read<uint64_t>(undefined, sizes + ti::kDimensions) == 1 &&
        Read<int64_t>(undefined, sizes + ti::kSizes) == 0 &&
        Read<int64_t>(undefined, sizes + ti::kStrides) == 1 &&
        Read<int64_t>(undefined, sizes + ti::kElements) == 0 && dtype >= kFirstUndefinedDtype &&
        dtype < kFirstUndefinedDtype + 16 &&
        (policy & ti::kPolicyCustomMask) == ti::kPolicyCustomStrides &&
        (policy & ti::kPolicySymbolic) == 0) {
      return sizes;
    }
  }
  return 0;
}

const char* FindBackendMismatch(const Library& library) noexcept {
  if (library.backend_construct == nullptr || library.backend_destroy == nullptr ||
      library.gloo_group_ranks == nullptr || library.work_op_type == nullptr) {
    return "not in this PyTorch";
  }
  constexpr int32_t kRank = 0x7475;
  constexpr int32_t kSize = 0x7476;
  alignas(16) char object[kBufferBytes] = {};
  library.backend_construct(object, kRank, kSize);
  const bool rank = Read<int32_t>(object, backend::kRank) == kRank;
  const bool size = Read<int32_t>(object, backend::kSize) == kSize;
  const bool texts = IsEmptyShortString(object, backend::kUid) &&
                     IsEmptyShortString(object, backend::kDescription);
  library.backend_destroy(object);
  TUTTI_EXPECT(rank, "its rank");
  TUTTI_EXPECT(size, "its size");
  TUTTI_EXPECT(texts, "its names");
  return nullptr;
}

#undef TUTTI_EXPECT

}  // namespace tutti::tracer::torch
