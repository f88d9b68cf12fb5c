// CUPTI's interface, as far as the source uses it, written by hand: the tracer builds without
// CUDA, and calls whichever libcupti the traced process has. Source: cupti_activity.h,
// cupti_callbacks.h and cupti_result.h of CUDA 12.4 to 13.5; abi_test.cc compares it with the
// headers of the build machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::tracer::cupti {

using Result = int;  // CUptiResult
inline constexpr Result kSuccess = 0;
inline constexpr Result kMaxLimitReached = 12;
inline constexpr Result kNotInitialized = 15;
inline constexpr Result kInsufficientPrivileges = 35;
inline constexpr Result kMultipleSubscribers = 39;
inline constexpr Result kVirtualizedWithoutPrivileges = 40;
inline constexpr Result kConfidentialComputing = 41;
inline constexpr Result kCmpDevice = 42;
inline constexpr Result kMigDevice = 43;
inline constexpr Result kSliDevice = 44;
inline constexpr Result kWslDevice = 45;

// CUpti_ActivityKind; those that are asked for, or hold pointers.
enum Kind : int {
  kMemcpy = 1,
  kMemset = 2,
  kKernel = 3,
  kDriver = 4,
  kRuntime = 5,
  kDevice = 8,
  kContext = 9,
  kConcurrentKernel = 10,
  kName = 11,
  kOverhead = 17,
  kMemcpy2 = 22,
  kStream = 37,
  kSynchronization = 38,
  kExternalCorrelation = 39,
  kMemory2 = 49,
  kGraphTrace = 51,
  kJit = 52,
};

// CUpti_CallbackDomain
inline constexpr int kDriverDomain = 1;
inline constexpr int kRuntimeDomain = 2;

inline constexpr uint32_t kFlushForced = 1;      // CUPTI_ACTIVITY_FLAG_FLUSH_FORCED
inline constexpr int kSystemThreadIds = 1;       // CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
inline constexpr int kOperatorExternalKind = 4;  // CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1
inline constexpr uint32_t kOldestVersion = 22;   // cuptiGetVersion() of CUDA 12.4

// CUpti_SubscriberParams
struct SubscriberParams {
  size_t struct_bytes;
  const char* name;
  char* old_name;  // out: who has CUPTI already
  size_t old_name_bytes;
};
inline constexpr size_t kOldNameBytes = 64;  // CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN

using BufferRequested = void (*)(uint8_t** buffer, size_t* bytes, size_t* max_records);
using BufferCompleted = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t bytes,
                                 size_t valid_bytes);
using Timestamp = uint64_t (*)();
using Callback = void (*)(void* user_data, int domain, uint32_t callback_id, const void* data);

// What is called of it: X(need, member, symbol, signature). kOptional: releases without it are
// fine.
#define TUTTI_CUPTI_FUNCTIONS(X)                                                                \
  X(kRequired, get_version, "cuptiGetVersion", Result(uint32_t*))                               \
  X(kRequired, subscribe, "cuptiSubscribe", Result(void**, Callback, void*))                    \
  X(kOptional, subscribe_v2, "cuptiSubscribe_v2",                                               \
    Result(void**, Callback, void*, SubscriberParams*))                                         \
  X(kRequired, unsubscribe, "cuptiUnsubscribe", Result(void*))                                  \
  X(kRequired, register_callbacks, "cuptiActivityRegisterCallbacks",                            \
    Result(BufferRequested, BufferCompleted))                                                   \
  X(kRequired, register_timestamp, "cuptiActivityRegisterTimestampCallback", Result(Timestamp)) \
  X(kRequired, enable, "cuptiActivityEnable", Result(int))                                      \
  X(kRequired, disable, "cuptiActivityDisable", Result(int))                                    \
  X(kRequired, flush_all, "cuptiActivityFlushAll", Result(uint32_t))                            \
  X(kRequired, next_record, "cuptiActivityGetNextRecord", Result(uint8_t*, size_t, uint8_t**))  \
  X(kRequired, dropped_records, "cuptiActivityGetNumDroppedRecords",                            \
    Result(void*, uint32_t, size_t*))                                                           \
  X(kRequired, callback_name, "cuptiGetCallbackName", Result(int, uint32_t, const char**))      \
  X(kRequired, result_string, "cuptiGetResultString", Result(Result, const char**))             \
  X(kRequired, set_thread_id_type, "cuptiSetThreadIdType", Result(int))                         \
  X(kOptional, enable_runtime_api, "cuptiActivityEnableRuntimeApi", Result(uint32_t, uint8_t))  \
  X(kOptional, enable_driver_api, "cuptiActivityEnableDriverApi", Result(uint32_t, uint8_t))    \
  X(kOptional, enable_all_sync_records, "cuptiActivityEnableAllSyncRecords", Result(uint8_t))   \
  X(kOptional, push_external, "cuptiActivityPushExternalCorrelationId", Result(int, uint64_t))  \
  X(kOptional, pop_external, "cuptiActivityPopExternalCorrelationId", Result(int, uint64_t*))

// The functions of one libcupti.
struct Functions {
#define TUTTI_CUPTI_MEMBER(need, member, symbol, ...) \
  using member##_signature = __VA_ARGS__;             \
  member##_signature* member = nullptr;
  TUTTI_CUPTI_FUNCTIONS(TUTTI_CUPTI_MEMBER)
#undef TUTTI_CUPTI_MEMBER
};

// Where the pointers lie in the records of kinds that are asked for; equal in all releases. The
// text is the one that the record is known by; others point to what only CUPTI knows.
struct PointerField {
  int kind;
  uint16_t offset;
  bool is_text;
};
inline constexpr PointerField kPointerFields[] = {{kKernel, 104, true},
                                                  {kKernel, 112, false},
                                                  {kKernel, 160, false},
                                                  {kConcurrentKernel, 104, true},
                                                  {kConcurrentKernel, 112, false},
                                                  {kConcurrentKernel, 160, false},
                                                  {kMemcpy, 56, false},
                                                  {kMemcpy2, 64, false},
                                                  {kMemset, 56, false},
                                                  {kDevice, 136, true},
                                                  {kName, 24, true},
                                                  {kMemory2, 64, true},
                                                  {kMemory2, 120, false},
                                                  {kGraphTrace, 40, false},
                                                  {kOverhead, 48, false},
                                                  {kJit, 56, false}};
inline constexpr uint16_t kJitCachePathOffset = 56;
inline constexpr uint16_t kApiCallbackIdOffset = 4;
inline constexpr uint16_t kOverheadDataOffset = 48;  // of the heap, and the reader's to free

}  // namespace tutti::tracer::cupti
