// Sizes and offsets of the PyTorch structures that the tracer reads without ever
// including or linking PyTorch. Copied by hand from the headers ATen/record_function.h,
// ATen/core/ivalue.h and torch/csrc/distributed/c10d/Backend.hpp of the releases in
// kKnownReleases; layout_torch_test.cc compares every number with the real headers, and
// layout_check.h compares them with the library that is loaded before any is used.
//
// Only x86-64, the CXX11 ABI of libstdc++ and builds with NDEBUG (all released wheels).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tutti::tracer::torch {

// Reads a field of a foreign object. |base| must be readable for offset + sizeof(T).
template <typename T>
T LoadField(const void* base, size_t offset) noexcept {
  T value;
  std::memcpy(&value, static_cast<const char*>(base) + offset, sizeof(T));
  return value;
}

// std::string of the CXX11 ABI: short texts lie inside the object.
namespace std_string {
inline constexpr size_t kData = 0;
inline constexpr size_t kLength = 8;
inline constexpr size_t kShortText = 16;
inline constexpr size_t kBytes = 32;
}  // namespace std_string

// std::vector<T>: begin, end, end of storage.
namespace std_vector {
inline constexpr size_t kBegin = 0;
inline constexpr size_t kEnd = 8;
}  // namespace std_vector

// at::RecordFunction. fn_ is std::variant<std::string, reference to c10::FunctionSchema>.
namespace record_function {
inline constexpr size_t kThreadId = 88;       // u64, torch's own numbering of threads
inline constexpr size_t kScope = 96;          // u8, at::RecordScope
inline constexpr size_t kName = 160;          // std::string, or FunctionSchema*
inline constexpr size_t kNameIsSchema = 192;  // u8, index of the variant
inline constexpr size_t kSequenceNr = 200;    // i64, -1 none
inline constexpr size_t kInputs = 208;        // ArrayRef<IValue>: pointer,
inline constexpr size_t kInputCount = 216;  //   u64; filled only for callbacks that ask for inputs
inline constexpr size_t kOutputs = 280;     // std::vector<IValue>
inline constexpr size_t kForwardThreadId = 304;  // u64, 0 none
inline constexpr size_t kHandle = 312;           // u64, 0 unless a callback asks for ids
inline constexpr size_t kIsAsync = 320;          // bool
inline constexpr size_t kDebugHandle = 328;      // i64, -1 none
inline constexpr size_t kBytes = 344;
}  // namespace record_function

// c10::FunctionSchema begins with its OperatorName, which begins with the name.
namespace function_schema {
inline constexpr size_t kName = 0;  // std::string
}  // namespace function_schema

// at::RecordFunctionCallback, passed by value to at::addGlobalCallback.
struct GlobalCallback {
  // Hidden first argument: where the returned unique_ptr<ObserverContext> goes.
  using Start = void* (*)(void** context, const void* record_function);
  using End = void (*)(const void* record_function, void* context);
  Start start;
  End end;
  double sampling_probability;
  bool scopes[10];  // by at::RecordScope
  bool needs_inputs;
  bool needs_outputs;
  bool needs_ids;
};
static_assert(sizeof(GlobalCallback) == 40);

// at::StepCallbacks: the callbacks that one RecordFunction runs. Built by the run-time check.
struct StepCallbacks {
  struct Pair {
    GlobalCallback::Start start;
    GlobalCallback::End end;
  };
  Pair* begin;  // c10::SmallVector<Pair, 4>; points to `inline_pairs`
  uint32_t size;
  uint32_t capacity;
  Pair inline_pairs[4];
  uint64_t thread_id;
  uint8_t scope;
  bool needs_inputs;
  bool needs_outputs;
  bool needs_ids;
};
static_assert(sizeof(StepCallbacks) == 96);

// at::RecordScope, the values that are told apart here.
enum Scope : uint8_t {
  kScopeFunction = 0,
  kScopeBackwardFunction = 1,
  kScopeTorchscriptFunction = 2,
  kScopeKernelFunctionDtype = 3,
  kScopeCustomClass = 4,
  kScopeBuildFeature = 5,
  kScopeLiteInterpreter = 6,
  kScopeUser = 7,
  kScopeStaticRuntimeOp = 8,
  kScopeStaticRuntimeModel = 9,
};

// c10::IValue: what operator inputs come as.
namespace ivalue {
inline constexpr size_t kPayload = 0;
inline constexpr size_t kTag = 8;  // u32
inline constexpr size_t kBytes = 16;
inline constexpr uint32_t kTagNone = 0;
inline constexpr uint32_t kTagTensor = 1;  // the payload is an at::Tensor
inline constexpr uint32_t kTagDouble = 3;
inline constexpr uint32_t kTagInt = 5;
}  // namespace ivalue

// c10::detail::ListImpl, what the payload of a list IValue points to.
namespace list_impl {
inline constexpr size_t kElements = 16;  // std::vector<IValue>
}  // namespace list_impl

// c10::TensorImpl. Its fields moved once (2.15 dropped a word), so they are counted from its
// c10::impl::SizesAndStrides; layout_check.h finds out where that is.
namespace tensor_impl {
inline constexpr size_t kSizesCandidates[] = {64, 56};  // up to 2.11; 2.15
inline constexpr size_t kDimensions = 0;                // u64
inline constexpr size_t kSizes = 8;     // i64[5]; with more dimensions a pointer to them
inline constexpr size_t kStrides = 48;  // i64[5]
inline constexpr size_t kInlineDimensions = 5;
inline constexpr size_t kElements = 96;             // i64
inline constexpr size_t kDtype = 104;               // u16, c10::ScalarType
inline constexpr size_t kPolicy = 110;              // u8 of bits:
inline constexpr uint8_t kPolicyCustomMask = 0x0c;  // sizes_strides_policy_; 0: stored as above
inline constexpr uint8_t kPolicyCustomStrides = 0x04;
inline constexpr uint8_t kPolicySymbolic = 0x10;  // has_symbolic_sizes_strides_
}  // namespace tensor_impl

// c10d::Backend, base of ProcessGroupGloo.
namespace backend {
inline constexpr size_t kRank = 16;         // i32, rank in the group
inline constexpr size_t kSize = 20;         // i32
inline constexpr size_t kUid = 32;          // std::string; set after construction, may stay empty
inline constexpr size_t kDescription = 64;  // std::string, likewise
}  // namespace backend

// Where c10d's options structs have the root's rank in the group (i64).
namespace options {
inline constexpr size_t kBroadcastRoot = 0;
inline constexpr size_t kReduceRoot = 32;  // after a c10d::ReduceOp
inline constexpr size_t kGatherRoot = 0;
inline constexpr size_t kScatterRoot = 0;
}  // namespace options

// Releases that the numbers above hold for. 2.8, 2.11 and 2.15 were compiled against and
// run; the headers and symbol tables of every minor release between were compared with them.
inline constexpr uint8_t kKnownMajor = 2;
inline constexpr uint8_t kOldestKnownMinor = 8;
inline constexpr uint8_t kNewestKnownMinor = 15;
inline constexpr char kKnownReleases[] = "2.8 to 2.15";
inline constexpr uint8_t kMinorWithUintTag = 9;  // 2.9 put IValue's tag UInt before SymInt

struct Version {
  uint8_t major;
  uint8_t minor;
  uint8_t patch;
};

constexpr bool IsKnown(Version version) noexcept {
  return version.major == kKnownMajor && version.minor >= kOldestKnownMinor &&
         version.minor <= kNewestKnownMinor;
}

// IValue tags that moved once. Only for known versions.
constexpr uint32_t TagBool(Version version) noexcept {
  return version.minor < kMinorWithUintTag ? 9 : 10;
}
constexpr uint32_t TagGenericList(Version version) noexcept {
  return version.minor < kMinorWithUintTag ? 13 : 14;
}

// c10::ScalarType: name ("float32") and bytes of an element; "" and 0 for an unknown one.
struct Dtype {
  const char* name;
  uint8_t element_bytes;
};
Dtype DescribeDtype(int32_t scalar_type) noexcept;

}  // namespace tutti::tracer::torch
