// The hand-written tables against the header of the CUPTI that is installed here.
#include "collector/convert/cupti/activity_layout.h"

#include <cupti.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace tutti::collector::convert::cupti {
namespace {

// The header's version must be one that the tables know, or they need a look.
TEST(ActivityLayout, KnowsTheInstalledRelease) {
  EXPECT_GE(CUPTI_API_VERSION, kOldestVersion);
  EXPECT_LE(CUPTI_API_VERSION, kNewestVersion);
}

#define EXPECT_FIELD(record, ours, type, theirs)                     \
  EXPECT_EQ(record::ours.offset, offsetof(type, theirs)) << #theirs; \
  EXPECT_EQ(sizeof(std::declval<decltype(record::ours)::Type>()), sizeof(type::theirs)) << #theirs

#if CUPTI_API_VERSION >= 130000 && CUPTI_API_VERSION < 130100
using HeaderKernel = CUpti_ActivityKernel10;
using HeaderMemcpy = CUpti_ActivityMemcpy6;
using HeaderMemset = CUpti_ActivityMemset4;
using HeaderDevice = CUpti_ActivityDevice5;
using HeaderContext = CUpti_ActivityContext3;

TEST(ActivityLayout, RecordsAreAsLongAsInTheHeader) {
  const auto bytes = [](CUpti_ActivityKind kind) { return RecordBytes(kind, CUPTI_API_VERSION); };
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_MEMCPY), sizeof(HeaderMemcpy));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_MEMSET), sizeof(HeaderMemset));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_KERNEL), sizeof(HeaderKernel));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_DRIVER), sizeof(CUpti_ActivityAPI));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_RUNTIME), sizeof(CUpti_ActivityAPI));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_DEVICE), sizeof(HeaderDevice));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_CONTEXT), sizeof(HeaderContext));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), sizeof(HeaderKernel));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_NAME), sizeof(CUpti_ActivityName));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_MARKER), sizeof(CUpti_ActivityMarker2));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_MARKER_DATA), sizeof(CUpti_ActivityMarkerData2));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_OVERHEAD), sizeof(CUpti_ActivityOverhead3));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_MEMCPY2), sizeof(CUpti_ActivityMemcpyPtoP4));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER),
            sizeof(CUpti_ActivityUnifiedMemoryCounter3));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_CUDA_EVENT), sizeof(CUpti_ActivityCudaEvent2));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_STREAM), sizeof(CUpti_ActivityStream));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION), sizeof(CUpti_ActivitySynchronization2));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION),
            sizeof(CUpti_ActivityExternalCorrelation));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_NVLINK), sizeof(CUpti_ActivityNvLink4));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_MEMORY2), sizeof(CUpti_ActivityMemory4));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_MEMORY_POOL), sizeof(CUpti_ActivityMemoryPool3));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_GRAPH_TRACE), sizeof(CUpti_ActivityGraphTrace2));
  EXPECT_EQ(bytes(CUPTI_ACTIVITY_KIND_JIT), sizeof(CUpti_ActivityJit2));
}

TEST(ActivityLayout, FieldsOfDeviceWorkLieWhereTheHeaderSays) {
  EXPECT_FIELD(KernelRecord, kRegistersPerThread, HeaderKernel, registersPerThread);
  EXPECT_FIELD(KernelRecord, kStart, HeaderKernel, start);
  EXPECT_FIELD(KernelRecord, kEnd, HeaderKernel, end);
  EXPECT_FIELD(KernelRecord, kDeviceId, HeaderKernel, deviceId);
  EXPECT_FIELD(KernelRecord, kContextId, HeaderKernel, contextId);
  EXPECT_FIELD(KernelRecord, kStreamId, HeaderKernel, streamId);
  EXPECT_FIELD(KernelRecord, kGridX, HeaderKernel, gridX);
  EXPECT_FIELD(KernelRecord, kGridY, HeaderKernel, gridY);
  EXPECT_FIELD(KernelRecord, kGridZ, HeaderKernel, gridZ);
  EXPECT_FIELD(KernelRecord, kBlockX, HeaderKernel, blockX);
  EXPECT_FIELD(KernelRecord, kBlockY, HeaderKernel, blockY);
  EXPECT_FIELD(KernelRecord, kBlockZ, HeaderKernel, blockZ);
  EXPECT_FIELD(KernelRecord, kStaticSharedMemory, HeaderKernel, staticSharedMemory);
  EXPECT_FIELD(KernelRecord, kDynamicSharedMemory, HeaderKernel, dynamicSharedMemory);
  EXPECT_FIELD(KernelRecord, kLocalMemoryPerThread, HeaderKernel, localMemoryPerThread);
  EXPECT_FIELD(KernelRecord, kCorrelationId, HeaderKernel, correlationId);
  EXPECT_FIELD(KernelRecord, kName, HeaderKernel, name);
  EXPECT_FIELD(KernelRecord, kQueued, HeaderKernel, queued);
  EXPECT_FIELD(KernelRecord, kSubmitted, HeaderKernel, submitted);
  EXPECT_FIELD(KernelRecord, kGraphNodeId, HeaderKernel, graphNodeId);
  EXPECT_FIELD(KernelRecord, kGraphId, HeaderKernel, graphId);
  EXPECT_FIELD(KernelRecord, kChannelId, HeaderKernel, channelID);
  EXPECT_FIELD(KernelRecord, kClusterX, HeaderKernel, clusterX);
  EXPECT_FIELD(KernelRecord, kClusterY, HeaderKernel, clusterY);
  EXPECT_FIELD(KernelRecord, kClusterZ, HeaderKernel, clusterZ);
  EXPECT_FIELD(MemcpyRecord, kCopyKind, HeaderMemcpy, copyKind);
  EXPECT_FIELD(MemcpyRecord, kSourceKind, HeaderMemcpy, srcKind);
  EXPECT_FIELD(MemcpyRecord, kDestinationKind, HeaderMemcpy, dstKind);
  EXPECT_FIELD(MemcpyRecord, kFlags, HeaderMemcpy, flags);
  EXPECT_FIELD(MemcpyRecord, kBytes, HeaderMemcpy, bytes);
  EXPECT_FIELD(MemcpyRecord, kStart, HeaderMemcpy, start);
  EXPECT_FIELD(MemcpyRecord, kEnd, HeaderMemcpy, end);
  EXPECT_FIELD(MemcpyRecord, kDeviceId, HeaderMemcpy, deviceId);
  EXPECT_FIELD(MemcpyRecord, kContextId, HeaderMemcpy, contextId);
  EXPECT_FIELD(MemcpyRecord, kStreamId, HeaderMemcpy, streamId);
  EXPECT_FIELD(MemcpyRecord, kCorrelationId, HeaderMemcpy, correlationId);
  EXPECT_FIELD(MemcpyRecord, kGraphNodeId, HeaderMemcpy, graphNodeId);
  using Peer = CUpti_ActivityMemcpyPtoP4;
  EXPECT_FIELD(MemcpyRecord, kStart, Peer, start);
  EXPECT_FIELD(MemcpyRecord, kStreamId, Peer, streamId);
  EXPECT_FIELD(MemcpyPeerRecord, kDestinationDeviceId, Peer, dstDeviceId);
  EXPECT_FIELD(MemcpyPeerRecord, kCorrelationId, Peer, correlationId);
  EXPECT_FIELD(MemcpyPeerRecord, kGraphNodeId, Peer, graphNodeId);
  EXPECT_FIELD(MemsetRecord, kValue, HeaderMemset, value);
  EXPECT_FIELD(MemsetRecord, kBytes, HeaderMemset, bytes);
  EXPECT_FIELD(MemsetRecord, kStart, HeaderMemset, start);
  EXPECT_FIELD(MemsetRecord, kEnd, HeaderMemset, end);
  EXPECT_FIELD(MemsetRecord, kDeviceId, HeaderMemset, deviceId);
  EXPECT_FIELD(MemsetRecord, kContextId, HeaderMemset, contextId);
  EXPECT_FIELD(MemsetRecord, kStreamId, HeaderMemset, streamId);
  EXPECT_FIELD(MemsetRecord, kCorrelationId, HeaderMemset, correlationId);
  EXPECT_FIELD(MemsetRecord, kGraphNodeId, HeaderMemset, graphNodeId);
  using Graph = CUpti_ActivityGraphTrace2;
  EXPECT_FIELD(GraphTraceRecord, kCorrelationId, Graph, correlationId);
  EXPECT_FIELD(GraphTraceRecord, kStart, Graph, start);
  EXPECT_FIELD(GraphTraceRecord, kEnd, Graph, end);
  EXPECT_FIELD(GraphTraceRecord, kDeviceId, Graph, deviceId);
  EXPECT_FIELD(GraphTraceRecord, kGraphId, Graph, graphId);
  EXPECT_FIELD(GraphTraceRecord, kContextId, Graph, contextId);
  EXPECT_FIELD(GraphTraceRecord, kStreamId, Graph, streamId);
}

TEST(ActivityLayout, FieldsOfTheHostLieWhereTheHeaderSays) {
  using Api = CUpti_ActivityAPI;
  EXPECT_FIELD(ApiRecord, kCallbackId, Api, cbid);
  EXPECT_FIELD(ApiRecord, kStart, Api, start);
  EXPECT_FIELD(ApiRecord, kEnd, Api, end);
  EXPECT_FIELD(ApiRecord, kThreadId, Api, threadId);
  EXPECT_FIELD(ApiRecord, kCorrelationId, Api, correlationId);
  EXPECT_FIELD(ApiRecord, kReturnValue, Api, returnValue);
  using Sync = CUpti_ActivitySynchronization2;
  EXPECT_FIELD(SynchronizationRecord, kType, Sync, type);
  EXPECT_FIELD(SynchronizationRecord, kStart, Sync, start);
  EXPECT_FIELD(SynchronizationRecord, kEnd, Sync, end);
  EXPECT_FIELD(SynchronizationRecord, kCorrelationId, Sync, correlationId);
  EXPECT_FIELD(SynchronizationRecord, kContextId, Sync, contextId);
  EXPECT_FIELD(SynchronizationRecord, kStreamId, Sync, streamId);
  EXPECT_FIELD(SynchronizationRecord, kEventId, Sync, cudaEventId);
  EXPECT_FIELD(SynchronizationRecord, kEventSyncId, Sync, cudaEventSyncId);
  using Over = CUpti_ActivityOverhead3;
  EXPECT_FIELD(OverheadRecord, kOverheadKind, Over, overheadKind);
  EXPECT_FIELD(OverheadRecord, kObjectKind, Over, objectKind);
  EXPECT_FIELD(OverheadRecord, kObjectThreadId, Over, objectId.pt.threadId);
  EXPECT_FIELD(OverheadRecord, kObjectDeviceId, Over, objectId.dcs.deviceId);
  EXPECT_FIELD(OverheadRecord, kStart, Over, start);
  EXPECT_FIELD(OverheadRecord, kEnd, Over, end);
  EXPECT_FIELD(OverheadRecord, kCorrelationId, Over, correlationId);
  EXPECT_FIELD(OverheadRecord, kData, Over, overheadData);
  using Jitted = CUpti_ActivityJit2;
  EXPECT_FIELD(JitRecord, kEntryType, Jitted, jitEntryType);
  EXPECT_FIELD(JitRecord, kOperation, Jitted, jitOperationType);
  EXPECT_FIELD(JitRecord, kDeviceId, Jitted, deviceId);
  EXPECT_FIELD(JitRecord, kStart, Jitted, start);
  EXPECT_FIELD(JitRecord, kEnd, Jitted, end);
  EXPECT_FIELD(JitRecord, kCorrelationId, Jitted, correlationId);
  EXPECT_FIELD(JitRecord, kCachePath, Jitted, cachePath);
  EXPECT_FIELD(JitRecord, kThreadId, Jitted, threadId);
  using Mem = CUpti_ActivityMemory4;
  EXPECT_FIELD(MemoryRecord, kOperation, Mem, memoryOperationType);
  EXPECT_FIELD(MemoryRecord, kMemoryKind, Mem, memoryKind);
  EXPECT_FIELD(MemoryRecord, kAddress, Mem, address);
  EXPECT_FIELD(MemoryRecord, kBytes, Mem, bytes);
  EXPECT_FIELD(MemoryRecord, kTimestamp, Mem, timestamp);
  EXPECT_FIELD(MemoryRecord, kDeviceId, Mem, deviceId);
  EXPECT_FIELD(MemoryRecord, kContextId, Mem, contextId);
  EXPECT_FIELD(MemoryRecord, kStreamId, Mem, streamId);
  EXPECT_FIELD(MemoryRecord, kName, Mem, name);
  EXPECT_FIELD(MemoryRecord, kPoolType, Mem, memoryPoolConfig.memoryPoolType);
  EXPECT_FIELD(MemoryRecord, kPoolBytes, Mem, memoryPoolConfig.pool.size);
  EXPECT_FIELD(MemoryRecord, kPoolUsed, Mem, memoryPoolConfig.utilizedSize);
  using External = CUpti_ActivityExternalCorrelation;
  EXPECT_FIELD(ExternalCorrelationRecord, kExternalKind, External, externalKind);
  EXPECT_FIELD(ExternalCorrelationRecord, kExternalId, External, externalId);
  EXPECT_FIELD(ExternalCorrelationRecord, kCorrelationId, External, correlationId);
}

TEST(ActivityLayout, FieldsOfObjectsLieWhereTheHeaderSays) {
  EXPECT_FIELD(DeviceRecord, kMemoryBytes, HeaderDevice, globalMemorySize);
  EXPECT_FIELD(DeviceRecord, kWarpSize, HeaderDevice, numThreadsPerWarp);
  EXPECT_FIELD(DeviceRecord, kSmCount, HeaderDevice, numMultiprocessors);
  EXPECT_FIELD(DeviceRecord, kMaxWarpsPerSm, HeaderDevice, maxWarpsPerMultiprocessor);
  EXPECT_FIELD(DeviceRecord, kSharedBytesPerSm, HeaderDevice, maxSharedMemoryPerMultiprocessor);
  EXPECT_FIELD(DeviceRecord, kRegistersPerSm, HeaderDevice, maxRegistersPerMultiprocessor);
  EXPECT_FIELD(DeviceRecord, kMajor, HeaderDevice, computeCapabilityMajor);
  EXPECT_FIELD(DeviceRecord, kMinor, HeaderDevice, computeCapabilityMinor);
  EXPECT_FIELD(DeviceRecord, kId, HeaderDevice, id);
  EXPECT_FIELD(DeviceRecord, kName, HeaderDevice, name);
  EXPECT_FIELD(DeviceRecord, kIsVisible, HeaderDevice, isCudaVisible);
  EXPECT_FIELD(DeviceRecord, kIsMig, HeaderDevice, isMigEnabled);
  EXPECT_EQ(DeviceRecord::kUuidOffset, offsetof(HeaderDevice, uuid));
  EXPECT_EQ(DeviceRecord::kMigUuidOffset, offsetof(HeaderDevice, migUuid));
  EXPECT_FIELD(DeviceContextRecord, kContextId, HeaderContext, contextId);
  EXPECT_FIELD(DeviceContextRecord, kDeviceId, HeaderContext, deviceId);
  EXPECT_FIELD(StreamRecord, kContextId, CUpti_ActivityStream, contextId);
  EXPECT_FIELD(StreamRecord, kStreamId, CUpti_ActivityStream, streamId);
  EXPECT_FIELD(StreamRecord, kPriority, CUpti_ActivityStream, priority);
  EXPECT_FIELD(NameRecord, kObjectKind, CUpti_ActivityName, objectKind);
  EXPECT_FIELD(NameRecord, kProcessOrDeviceId, CUpti_ActivityName, objectId.dcs.deviceId);
  EXPECT_FIELD(NameRecord, kThreadOrContextId, CUpti_ActivityName, objectId.dcs.contextId);
  EXPECT_FIELD(NameRecord, kStreamId, CUpti_ActivityName, objectId.dcs.streamId);
  EXPECT_FIELD(NameRecord, kName, CUpti_ActivityName, name);
}
#endif

TEST(ActivityLayout, KindsAreTheHeaders) {
  const auto number = [](ActivityKind kind) { return static_cast<int>(kind); };
  EXPECT_EQ(number(ActivityKind::kMemcpy), CUPTI_ACTIVITY_KIND_MEMCPY);
  EXPECT_EQ(number(ActivityKind::kMemset), CUPTI_ACTIVITY_KIND_MEMSET);
  EXPECT_EQ(number(ActivityKind::kKernel), CUPTI_ACTIVITY_KIND_KERNEL);
  EXPECT_EQ(number(ActivityKind::kDriver), CUPTI_ACTIVITY_KIND_DRIVER);
  EXPECT_EQ(number(ActivityKind::kRuntime), CUPTI_ACTIVITY_KIND_RUNTIME);
  EXPECT_EQ(number(ActivityKind::kDevice), CUPTI_ACTIVITY_KIND_DEVICE);
  EXPECT_EQ(number(ActivityKind::kContext), CUPTI_ACTIVITY_KIND_CONTEXT);
  EXPECT_EQ(number(ActivityKind::kConcurrentKernel), CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  EXPECT_EQ(number(ActivityKind::kName), CUPTI_ACTIVITY_KIND_NAME);
  EXPECT_EQ(number(ActivityKind::kMarker), CUPTI_ACTIVITY_KIND_MARKER);
  EXPECT_EQ(number(ActivityKind::kOverhead), CUPTI_ACTIVITY_KIND_OVERHEAD);
  EXPECT_EQ(number(ActivityKind::kMemcpy2), CUPTI_ACTIVITY_KIND_MEMCPY2);
  EXPECT_EQ(number(ActivityKind::kCudaEvent), CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  EXPECT_EQ(number(ActivityKind::kStream), CUPTI_ACTIVITY_KIND_STREAM);
  EXPECT_EQ(number(ActivityKind::kSynchronization), CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  EXPECT_EQ(number(ActivityKind::kExternalCorrelation), CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  EXPECT_EQ(number(ActivityKind::kInternalLaunchApi), CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API);
  EXPECT_EQ(number(ActivityKind::kMemory2), CUPTI_ACTIVITY_KIND_MEMORY2);
  EXPECT_EQ(number(ActivityKind::kMemoryPool), CUPTI_ACTIVITY_KIND_MEMORY_POOL);
  EXPECT_EQ(number(ActivityKind::kGraphTrace), CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  EXPECT_EQ(number(ActivityKind::kJit), CUPTI_ACTIVITY_KIND_JIT);
}

}  // namespace
}  // namespace tutti::collector::convert::cupti
