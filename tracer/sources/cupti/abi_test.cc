// The hand-written interface against CUPTI's headers.
#include "tracer/sources/cupti/abi.h"

#include <cupti.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <type_traits>

#include "tracer/sources/cupti/noisy_calls.h"

namespace tutti::tracer::cupti {
namespace {

static_assert(kSuccess == CUPTI_SUCCESS && kMaxLimitReached == CUPTI_ERROR_MAX_LIMIT_REACHED);
static_assert(kNotInitialized == CUPTI_ERROR_NOT_INITIALIZED);
static_assert(kInsufficientPrivileges == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
static_assert(kMultipleSubscribers == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
static_assert(kVirtualizedWithoutPrivileges ==
              CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
static_assert(kConfidentialComputing == CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
static_assert(kCmpDevice == CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED);
static_assert(kMigDevice == CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
static_assert(kSliDevice == CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED);
static_assert(kWslDevice == CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);

static_assert(static_cast<int>(kMemcpy) == CUPTI_ACTIVITY_KIND_MEMCPY);
static_assert(static_cast<int>(kMemset) == CUPTI_ACTIVITY_KIND_MEMSET);
static_assert(static_cast<int>(kKernel) == CUPTI_ACTIVITY_KIND_KERNEL);
static_assert(static_cast<int>(kDriver) == CUPTI_ACTIVITY_KIND_DRIVER);
static_assert(static_cast<int>(kRuntime) == CUPTI_ACTIVITY_KIND_RUNTIME);
static_assert(static_cast<int>(kDevice) == CUPTI_ACTIVITY_KIND_DEVICE);
static_assert(static_cast<int>(kContext) == CUPTI_ACTIVITY_KIND_CONTEXT);
static_assert(static_cast<int>(kConcurrentKernel) == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
static_assert(static_cast<int>(kName) == CUPTI_ACTIVITY_KIND_NAME);
static_assert(static_cast<int>(kOverhead) == CUPTI_ACTIVITY_KIND_OVERHEAD);
static_assert(static_cast<int>(kMemcpy2) == CUPTI_ACTIVITY_KIND_MEMCPY2);
static_assert(static_cast<int>(kStream) == CUPTI_ACTIVITY_KIND_STREAM);
static_assert(static_cast<int>(kSynchronization) == CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
static_assert(static_cast<int>(kExternalCorrelation) == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
static_assert(static_cast<int>(kMemory2) == CUPTI_ACTIVITY_KIND_MEMORY2);
static_assert(static_cast<int>(kGraphTrace) == CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
static_assert(static_cast<int>(kJit) == CUPTI_ACTIVITY_KIND_JIT);

static_assert(kDriverDomain == CUPTI_CB_DOMAIN_DRIVER_API);
static_assert(kRuntimeDomain == CUPTI_CB_DOMAIN_RUNTIME_API);
static_assert(kFlushForced == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
static_assert(kSystemThreadIds == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
static_assert(kOperatorExternalKind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1);

static_assert(sizeof(SubscriberParams) == sizeof(CUpti_SubscriberParams));
static_assert(offsetof(SubscriberParams, name) == offsetof(CUpti_SubscriberParams, subscriberName));
static_assert(offsetof(SubscriberParams, old_name) ==
              offsetof(CUpti_SubscriberParams, oldSubscriberName));
static_assert(offsetof(SubscriberParams, old_name_bytes) ==
              offsetof(CUpti_SubscriberParams, oldSubscriberSize));
static_assert(kOldNameBytes == CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN);

#if CUPTI_API_VERSION >= 130000 && CUPTI_API_VERSION < 130100
using HeaderKernel = CUpti_ActivityKernel10;
using HeaderDevice = CUpti_ActivityDevice5;
#else
#error "name the records of this release; if a name's place differs, abi.h needs a table by release"
#endif

uint16_t NameOffset(int kind) {
  for (const PointerField& field : kPointerFields) {
    if (field.kind == kind && field.is_text) return field.offset;
  }
  return 0;
}

bool HasPointer(int kind, size_t offset) {
  return std::any_of(
      std::begin(kPointerFields), std::end(kPointerFields),
      [&](const PointerField& field) { return field.kind == kind && field.offset == offset; });
}

TEST(CuptiAbi, TextsAreWhereTheHeaderSays) {
  EXPECT_EQ(NameOffset(kKernel), offsetof(HeaderKernel, name));
  EXPECT_EQ(NameOffset(kConcurrentKernel), offsetof(HeaderKernel, name));
  EXPECT_EQ(NameOffset(kDevice), offsetof(HeaderDevice, name));
  EXPECT_EQ(NameOffset(kName), offsetof(CUpti_ActivityName, name));
  EXPECT_EQ(NameOffset(kMemory2), offsetof(CUpti_ActivityMemory4, name));
  EXPECT_EQ(kJitCachePathOffset, offsetof(CUpti_ActivityJit2, cachePath));
  EXPECT_EQ(kApiCallbackIdOffset, offsetof(CUpti_ActivityAPI, cbid));
  EXPECT_EQ(kOverheadDataOffset, offsetof(CUpti_ActivityOverhead3, overheadData));
}

TEST(CuptiAbi, PointersThatADumpMustNotHoldAreWhereTheHeaderSays) {
  EXPECT_TRUE(HasPointer(kConcurrentKernel, offsetof(HeaderKernel, reserved0)));
  EXPECT_TRUE(HasPointer(kConcurrentKernel, offsetof(HeaderKernel, pAccessPolicyWindow)));
  EXPECT_TRUE(HasPointer(kMemcpy, offsetof(CUpti_ActivityMemcpy6, reserved0)));
  EXPECT_TRUE(HasPointer(kMemcpy2, offsetof(CUpti_ActivityMemcpyPtoP4, reserved0)));
  EXPECT_TRUE(HasPointer(kMemset, offsetof(CUpti_ActivityMemset4, reserved0)));
  EXPECT_TRUE(HasPointer(kMemory2, offsetof(CUpti_ActivityMemory4, source)));
  EXPECT_TRUE(HasPointer(kGraphTrace, offsetof(CUpti_ActivityGraphTrace2, reserved)));
  EXPECT_TRUE(HasPointer(kJit, offsetof(CUpti_ActivityJit2, cachePath)));
  EXPECT_TRUE(HasPointer(kOverhead, offsetof(CUpti_ActivityOverhead3, overheadData)));
}

// Each signature passes the same number of arguments of the same sizes.
template <typename Ours, typename Theirs>
struct SameShape : std::false_type {};
template <typename OurResult, typename TheirResult, typename... Our, typename... Their>
struct SameShape<OurResult(Our...), TheirResult(Their...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(Our) != sizeof...(Their)) {
      return false;
    } else {
      return sizeof(OurResult) == sizeof(TheirResult) && ((sizeof(Our) == sizeof(Their)) && ...);
    }
  }();
};
#define EXPECT_SHAPE(member, function) \
  static_assert(SameShape<Functions::member##_signature, decltype(function)>::value)
EXPECT_SHAPE(get_version, cuptiGetVersion);
EXPECT_SHAPE(subscribe, cuptiSubscribe);
EXPECT_SHAPE(subscribe_v2, cuptiSubscribe_v2);
EXPECT_SHAPE(unsubscribe, cuptiUnsubscribe);
EXPECT_SHAPE(register_callbacks, cuptiActivityRegisterCallbacks);
EXPECT_SHAPE(register_timestamp, cuptiActivityRegisterTimestampCallback);
EXPECT_SHAPE(enable, cuptiActivityEnable);
EXPECT_SHAPE(disable, cuptiActivityDisable);
EXPECT_SHAPE(flush_all, cuptiActivityFlushAll);
EXPECT_SHAPE(next_record, cuptiActivityGetNextRecord);
EXPECT_SHAPE(dropped_records, cuptiActivityGetNumDroppedRecords);
EXPECT_SHAPE(callback_name, cuptiGetCallbackName);
EXPECT_SHAPE(result_string, cuptiGetResultString);
EXPECT_SHAPE(set_thread_id_type, cuptiSetThreadIdType);
EXPECT_SHAPE(enable_runtime_api, cuptiActivityEnableRuntimeApi);
EXPECT_SHAPE(enable_driver_api, cuptiActivityEnableDriverApi);
EXPECT_SHAPE(enable_all_sync_records, cuptiActivityEnableAllSyncRecords);
EXPECT_SHAPE(push_external, cuptiActivityPushExternalCorrelationId);
EXPECT_SHAPE(pop_external, cuptiActivityPopExternalCorrelationId);

template <size_t kCount>
bool Holds(const uint32_t (&calls)[kCount], uint32_t call) {
  for (const uint32_t noisy : calls) {
    if (noisy == call) return true;
  }
  return false;
}

TEST(CuptiAbi, NoisyCallsAreTheOnesThatWereMeant) {
  const uint32_t runtime[] = {
      CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaFuncGetAttributes_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaDeviceGetAttribute_v5000,
      CUPTI_RUNTIME_TRACE_CBID_cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6000,
      CUPTI_RUNTIME_TRACE_CBID_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaStreamIsCapturing_v10000,
      CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_v2_v11030};
  EXPECT_EQ(std::size(runtime), std::size(kNoisyRuntimeCalls));
  for (const uint32_t call : runtime) EXPECT_TRUE(Holds(kNoisyRuntimeCalls, call)) << call;
  const uint32_t driver[] = {CUPTI_DRIVER_TRACE_CBID_cuDeviceGetAttribute,
                             CUPTI_DRIVER_TRACE_CBID_cuCtxGetDevice,
                             CUPTI_DRIVER_TRACE_CBID_cuFuncGetAttribute,
                             CUPTI_DRIVER_TRACE_CBID_cuEventQuery,
                             CUPTI_DRIVER_TRACE_CBID_cuCtxSetCurrent,
                             CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent,
                             CUPTI_DRIVER_TRACE_CBID_cuPointerGetAttribute,
                             CUPTI_DRIVER_TRACE_CBID_cuCtxPushCurrent_v2,
                             CUPTI_DRIVER_TRACE_CBID_cuCtxPopCurrent_v2,
                             CUPTI_DRIVER_TRACE_CBID_cuOccupancyMaxActiveBlocksPerMultiprocessor,
                             CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxGetState,
                             CUPTI_DRIVER_TRACE_CBID_cuPointerGetAttributes,
                             CUPTI_DRIVER_TRACE_CBID_cuStreamIsCapturing,
                             CUPTI_DRIVER_TRACE_CBID_cuStreamGetCaptureInfo_v2,
                             CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress_v2,
                             CUPTI_DRIVER_TRACE_CBID_cuKernelGetFunction,
                             CUPTI_DRIVER_TRACE_CBID_cuKernelGetAttribute};
  EXPECT_EQ(std::size(driver), std::size(kNoisyDriverCalls));
  for (const uint32_t call : driver) EXPECT_TRUE(Holds(kNoisyDriverCalls, call)) << call;
}

}  // namespace
}  // namespace tutti::tracer::cupti
