// Layout of CUPTI's activity records, written by hand: which kinds there are, how long a
// record of each is in each release, and where its fields lie. Source: cupti_activity.h of
// CUDA 12.4 to 13.5; activity_layout_test.cc compares it with the header of the build machine.
//
// Releases only append fields, so an offset holds for all of them, and a record's length
// tells which of its fields exist (ActivityView). Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace tutti::collector::convert::cupti {

// cuptiGetVersion() of the oldest and newest release that the tables were compared with.
inline constexpr uint32_t kOldestVersion = 22;      // CUDA 12.4
inline constexpr uint32_t kNewestVersion = 130500;  // CUDA 13.5

// CUpti_ActivityKind; the kinds that become rows. All others have a length only.
enum class ActivityKind : uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kKernel = 3,  // one at a time; never enabled by us
  kDriver = 4,
  kRuntime = 5,
  kDevice = 8,
  kContext = 9,
  kConcurrentKernel = 10,
  kName = 11,
  kMarker = 12,
  kOverhead = 17,
  kMemcpy2 = 22,  // between devices
  kCudaEvent = 36,
  kStream = 37,
  kSynchronization = 38,
  kExternalCorrelation = 39,
  kInternalLaunchApi = 48,
  kMemory2 = 49,
  kMemoryPool = 50,
  kGraphTrace = 51,
  kJit = 52,
};

// Length of a record of |kind| as CUPTI |version| writes it, which is also the distance to the
// next one. 0: this build does not know the kind, or that release did not have it. A version
// that is newer than the tables is read as the newest.
size_t RecordBytes(uint32_t kind, uint32_t version);

// A field of type |T| at a fixed place of a record.
template <typename T>
struct Field {
  using Type = T;
  uint16_t offset;
};

// One record, of hostile length: a field that it is too short for reads as absent.
class ActivityView {
 public:
  explicit ActivityView(std::span<const std::byte> bytes) : bytes_(bytes) {}

  size_t size() const { return bytes_.size(); }

  template <typename T>
  std::optional<T> Find(Field<T> field) const {
    if (field.offset + sizeof(T) > bytes_.size()) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + field.offset, sizeof(value));
    return value;
  }
  template <typename T>
  T Get(Field<T> field) const {
    return Find(field).value_or(T{});
  }
  // For columns, which hold 64 signed bits.
  template <typename T>
  int64_t Int(Field<T> field) const {
    return static_cast<int64_t>(Get(field));
  }

 private:
  std::span<const std::byte> bytes_;
};

inline constexpr Field<uint32_t> kKind{0};

// CUpti_ActivityKernel9 … 13
struct KernelRecord {
  static constexpr Field<uint16_t> kRegistersPerThread{6};
  static constexpr Field<uint64_t> kStart{16};
  static constexpr Field<uint64_t> kEnd{24};
  static constexpr Field<uint32_t> kDeviceId{40};
  static constexpr Field<uint32_t> kContextId{44};
  static constexpr Field<uint32_t> kStreamId{48};
  static constexpr Field<int32_t> kGridX{52};
  static constexpr Field<int32_t> kGridY{56};
  static constexpr Field<int32_t> kGridZ{60};
  static constexpr Field<int32_t> kBlockX{64};
  static constexpr Field<int32_t> kBlockY{68};
  static constexpr Field<int32_t> kBlockZ{72};
  static constexpr Field<int32_t> kStaticSharedMemory{76};
  static constexpr Field<int32_t> kDynamicSharedMemory{80};
  static constexpr Field<uint32_t> kLocalMemoryPerThread{84};
  static constexpr Field<uint32_t> kCorrelationId{92};
  static constexpr Field<uint64_t> kName{104};  // const char*
  static constexpr Field<uint64_t> kQueued{120};
  static constexpr Field<uint64_t> kSubmitted{128};
  static constexpr Field<uint64_t> kGraphNodeId{144};
  static constexpr Field<uint32_t> kGraphId{156};
  static constexpr Field<uint32_t> kChannelId{168};
  static constexpr Field<uint32_t> kClusterX{176};
  static constexpr Field<uint32_t> kClusterY{180};
  static constexpr Field<uint32_t> kClusterZ{184};
};

// CUpti_ActivityMemcpy5 … 7
struct MemcpyRecord {
  static constexpr Field<uint8_t> kCopyKind{4};
  static constexpr Field<uint8_t> kSourceKind{5};
  static constexpr Field<uint8_t> kDestinationKind{6};
  static constexpr Field<uint8_t> kFlags{7};  // bit 0: asynchronous
  static constexpr Field<uint64_t> kBytes{8};
  static constexpr Field<uint64_t> kStart{16};
  static constexpr Field<uint64_t> kEnd{24};
  static constexpr Field<uint32_t> kDeviceId{32};
  static constexpr Field<uint32_t> kContextId{36};
  static constexpr Field<uint32_t> kStreamId{40};
  static constexpr Field<uint32_t> kCorrelationId{44};
  static constexpr Field<uint64_t> kGraphNodeId{64};
};

// CUpti_ActivityMemcpyPtoP4: as Memcpy up to kStreamId.
struct MemcpyPeerRecord {
  static constexpr Field<uint32_t> kDestinationDeviceId{52};
  static constexpr Field<uint32_t> kCorrelationId{60};
  static constexpr Field<uint64_t> kGraphNodeId{72};
};

// CUpti_ActivityMemset4, 5
struct MemsetRecord {
  static constexpr Field<uint32_t> kValue{4};
  static constexpr Field<uint64_t> kBytes{8};
  static constexpr Field<uint64_t> kStart{16};
  static constexpr Field<uint64_t> kEnd{24};
  static constexpr Field<uint32_t> kDeviceId{32};
  static constexpr Field<uint32_t> kContextId{36};
  static constexpr Field<uint32_t> kStreamId{40};
  static constexpr Field<uint32_t> kCorrelationId{44};
  static constexpr Field<uint64_t> kGraphNodeId{64};
};

// CUpti_ActivityGraphTrace2
struct GraphTraceRecord {
  static constexpr Field<uint32_t> kCorrelationId{4};
  static constexpr Field<uint64_t> kStart{8};
  static constexpr Field<uint64_t> kEnd{16};
  static constexpr Field<uint32_t> kDeviceId{24};
  static constexpr Field<uint32_t> kGraphId{28};
  static constexpr Field<uint32_t> kContextId{32};
  static constexpr Field<uint32_t> kStreamId{36};
};

// CUpti_ActivityAPI
struct ApiRecord {
  static constexpr Field<uint32_t> kCallbackId{4};
  static constexpr Field<uint64_t> kStart{8};
  static constexpr Field<uint64_t> kEnd{16};
  static constexpr Field<uint32_t> kThreadId{28};  // the kernel's, as we ask CUPTI for
  static constexpr Field<uint32_t> kCorrelationId{32};
  static constexpr Field<uint32_t> kReturnValue{36};
};

// CUpti_ActivitySynchronization, 2
struct SynchronizationRecord {
  static constexpr Field<uint32_t> kType{4};
  static constexpr Field<uint64_t> kStart{8};
  static constexpr Field<uint64_t> kEnd{16};
  static constexpr Field<uint32_t> kCorrelationId{24};
  static constexpr Field<uint32_t> kContextId{28};
  static constexpr Field<uint32_t> kStreamId{32};
  static constexpr Field<uint32_t> kEventId{36};
  static constexpr Field<uint64_t> kEventSyncId{40};
};

// CUpti_ActivityOverhead3, packed
struct OverheadRecord {
  static constexpr Field<uint32_t> kOverheadKind{4};
  static constexpr Field<uint32_t> kObjectKind{8};
  static constexpr Field<uint32_t> kObjectThreadId{16};  // object kinds process and thread
  static constexpr Field<uint32_t> kObjectDeviceId{12};  // device, context and stream
  static constexpr Field<uint64_t> kStart{24};
  static constexpr Field<uint64_t> kEnd{32};
  static constexpr Field<uint32_t> kCorrelationId{40};
  static constexpr Field<uint64_t> kData{48};  // pointer
};

// CUpti_ActivityJit2
struct JitRecord {
  static constexpr Field<uint32_t> kEntryType{4};
  static constexpr Field<uint32_t> kOperation{8};
  static constexpr Field<uint32_t> kDeviceId{12};
  static constexpr Field<uint64_t> kStart{16};
  static constexpr Field<uint64_t> kEnd{24};
  static constexpr Field<uint32_t> kCorrelationId{32};
  static constexpr Field<uint64_t> kCachePath{56};  // const char*
  static constexpr Field<uint32_t> kThreadId{68};
};

// CUpti_ActivityMemory3, 4
struct MemoryRecord {
  static constexpr Field<uint32_t> kOperation{4};
  static constexpr Field<uint32_t> kMemoryKind{8};
  static constexpr Field<uint32_t> kCorrelationId{12};
  static constexpr Field<uint64_t> kAddress{16};
  static constexpr Field<uint64_t> kBytes{24};
  static constexpr Field<uint64_t> kTimestamp{32};
  static constexpr Field<uint32_t> kDeviceId{52};
  static constexpr Field<uint32_t> kContextId{56};
  static constexpr Field<uint32_t> kStreamId{60};
  static constexpr Field<uint64_t> kName{64};  // const char*
  // memoryPoolConfig, of allocations from a pool
  static constexpr Field<uint32_t> kPoolType{80};    // 0 none, 1 of this process, 2 imported
  static constexpr Field<uint64_t> kPoolBytes{104};  // that it holds; type 1 only
  static constexpr Field<uint64_t> kPoolUsed{112};   // that are in use; the same
  static constexpr Field<uint64_t> kSource{120};     // const char*
};

// CUpti_ActivityDevice5, 6
struct DeviceRecord {
  static constexpr Field<uint64_t> kMemoryBytes{16};
  static constexpr Field<uint32_t> kWarpSize{32};
  static constexpr Field<uint32_t> kSmCount{44};
  static constexpr Field<uint32_t> kMaxWarpsPerSm{52};
  static constexpr Field<uint32_t> kSharedBytesPerSm{60};
  static constexpr Field<uint32_t> kRegistersPerSm{64};
  static constexpr Field<uint32_t> kMajor{104};
  static constexpr Field<uint32_t> kMinor{108};
  static constexpr Field<uint32_t> kId{112};
  static constexpr uint16_t kUuidOffset = 120;  // 16 bytes
  static constexpr Field<uint64_t> kName{136};  // const char*
  static constexpr Field<uint8_t> kIsVisible{144};
  static constexpr Field<uint8_t> kIsMig{145};
  static constexpr uint16_t kMigUuidOffset = 160;  // 16 bytes
};

// CUpti_ActivityContext2 … 4
struct DeviceContextRecord {
  static constexpr Field<uint32_t> kContextId{4};
  static constexpr Field<uint32_t> kDeviceId{8};
};

// CUpti_ActivityStream
struct StreamRecord {
  static constexpr Field<uint32_t> kContextId{4};
  static constexpr Field<uint32_t> kStreamId{8};
  static constexpr Field<uint32_t> kPriority{12};
};

// CUpti_ActivityName, packed
struct NameRecord {
  static constexpr Field<uint32_t> kObjectKind{4};
  static constexpr Field<uint32_t> kProcessOrDeviceId{8};
  static constexpr Field<uint32_t> kThreadOrContextId{12};
  static constexpr Field<uint32_t> kStreamId{16};
  static constexpr Field<uint64_t> kName{24};  // const char*
};

// CUpti_ActivityMarker2, packed
struct MarkerRecord {
  static constexpr Field<uint64_t> kName{40};    // const char*
  static constexpr Field<uint64_t> kDomain{48};  // const char*
};

// CUpti_ActivityExternalCorrelation
struct ExternalCorrelationRecord {
  static constexpr Field<uint32_t> kExternalKind{4};
  static constexpr Field<uint64_t> kExternalId{8};
  static constexpr Field<uint32_t> kCorrelationId{16};
};

}  // namespace tutti::collector::convert::cupti
