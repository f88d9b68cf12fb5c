#include "collector/convert/cupti/activity_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "collector/convert/cupti/testing/activity_builder.h"
#include "collector/testing/spool_builder.h"

namespace tutti::collector::convert::cupti {
namespace {

using collector::testing::ConvertTest;
using collector::testing::kEpochNs;
using testing::ActivityBuilder;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class ActivityRecordsTest : public ConvertTest {
 protected:
  void Add(const ActivityBuilder& activity, const char* name = "") {
    const auto cells = activity.Cells(*name != '\0' ? String(name) : 0);
    spool().AddBytes(0, cells.data(), cells.size());
  }
  static ActivityBuilder Kernel(uint64_t begin, uint64_t end, uint32_t version = kNewestVersion) {
    ActivityBuilder kernel(ActivityKind::kConcurrentKernel, version);
    kernel.Set(KernelRecord::kStart, begin).Set(KernelRecord::kEnd, end);
    kernel.Set(KernelRecord::kDeviceId, 2).Set(KernelRecord::kContextId, 1);
    kernel.Set(KernelRecord::kStreamId, 7).Set(KernelRecord::kCorrelationId, 33);
    return kernel;
  }
  static ActivityBuilder Memory(uint32_t operation, uint64_t ticks, uint64_t address,
                                uint64_t bytes) {
    ActivityBuilder memory(ActivityKind::kMemory2);
    memory.Set(MemoryRecord::kOperation, operation).Set(MemoryRecord::kMemoryKind, 3);
    memory.Set(MemoryRecord::kTimestamp, ticks).Set(MemoryRecord::kAddress, address);
    memory.Set(MemoryRecord::kBytes, bytes).Set(MemoryRecord::kStreamId, 0xffff'ffff);
    return memory;
  }
  static constexpr uint32_t kAllocate = 1;
  static constexpr uint32_t kRelease = 2;
};

TEST_F(ActivityRecordsTest, AKernelWithAllThatIsKnown) {
  auto kernel = Kernel(1'000, 1'500);
  kernel.Set(KernelRecord::kGridX, 8).Set(KernelRecord::kGridY, 4).Set(KernelRecord::kGridZ, 2);
  kernel.Set(KernelRecord::kBlockX, 64).Set(KernelRecord::kBlockY, 3).Set(KernelRecord::kBlockZ, 1);
  kernel.Set(KernelRecord::kRegistersPerThread, 40).Set(KernelRecord::kLocalMemoryPerThread, 16);
  kernel.Set(KernelRecord::kStaticSharedMemory, 128).Set(KernelRecord::kDynamicSharedMemory, 256);
  kernel.Set(KernelRecord::kGraphNodeId, 99).Set(KernelRecord::kChannelId, 5);
  kernel.Set(KernelRecord::kClusterX, 2).Set(KernelRecord::kClusterY, 2);
  kernel.Set(KernelRecord::kClusterZ, 1).Set(KernelRecord::kQueued, 800);
  kernel.Set(KernelRecord::kSubmitted, 900);
  Add(kernel, "_Z3addPfS_i");
  Convert();
  const auto row = All<schema::KernelRow>().at(0);
  EXPECT_EQ(Text(row.name_id), "add(float*, float*, int)");
  EXPECT_EQ(row.begin_ns, kEpochNs + 1'000);
  EXPECT_EQ(row.end_ns, kEpochNs + 1'500);
  EXPECT_EQ(row.device_id, 2);
  EXPECT_EQ(row.context_id, 1);
  EXPECT_EQ(row.stream_id, 7);
  EXPECT_EQ(row.correlation_id, 33);
  EXPECT_EQ(row.grid_y, 4);
  EXPECT_EQ(row.block_x, 64);
  EXPECT_EQ(row.registers_per_thread, 40);
  EXPECT_EQ(row.local_bytes_per_thread, 16);
  EXPECT_EQ(row.static_shared_bytes, 128);
  EXPECT_EQ(row.dynamic_shared_bytes, 256);
  EXPECT_EQ(row.graph_node_id, 99);
  EXPECT_EQ(row.channel_id, 5);
  EXPECT_EQ(row.cluster_size, 4);
  EXPECT_EQ(row.queued_ns, kEpochNs + 800);
  EXPECT_EQ(row.submitted_ns, kEpochNs + 900);
  EXPECT_THAT(Findings(), ElementsAre());
}

TEST_F(ActivityRecordsTest, EveryReleaseIsReadAlike) {
  const uint32_t versions[] = {22, 24, 26, 28, 130001, 130100, 130202, 130301, 130401, 130500};
  for (const uint32_t version : versions) Add(Kernel(1'000, 1'500, version), "k");
  Convert();
  const auto rows = All<schema::KernelRow>();
  ASSERT_EQ(rows.size(), std::size(versions));
  for (const auto& row : rows) EXPECT_EQ(row.end_ns, kEpochNs + 1'500);
  EXPECT_THAT(Findings(), ElementsAre());
}

TEST_F(ActivityRecordsTest, KernelsWithoutSoundTimesAreUntimedAndCounted) {
  Add(Kernel(0, 0), "a");
  Add(Kernel(2'000, 1'000), "b");
  Add(Kernel(0, 1'000), "c");
  Convert();
  const auto rows = All<schema::KernelRow>();
  ASSERT_EQ(rows.size(), 3U);
  for (const auto& row : rows) {
    EXPECT_EQ(row.begin_ns, std::nullopt);
    EXPECT_EQ(row.end_ns, std::nullopt);
  }
  EXPECT_THAT(Findings(), UnorderedElementsAre("notice gpu_untimed 1", "notice gpu_untimed 2"));
}

// ns        100                400
// outer     [==================)          launches at 150 (stream 7) and 350 (stream 8)
// inner     [========)                    the first of them
// kernels            [200 = 300)      [500 = 600)
TEST_F(ActivityRecordsTest, RangesAreProjectedOntoTheStreamsThatTheyGaveWork) {
  const auto range = [&](const char* name, uint64_t begin, uint64_t end, uint16_t depth) {
    wire::RangeRecord record{};
    record.header = collector::testing::Header(wire::RecordKind::kRange, String(name));
    record.begin_ticks = begin;
    record.end_ticks = end;
    record.depth = depth;
    spool().Add(0, record);
  };
  const auto launch = [&](uint64_t at, uint32_t stream, uint64_t begin, uint64_t end) {
    ActivityBuilder call(ActivityKind::kRuntime);
    call.Set(ApiRecord::kStart, at).Set(ApiRecord::kEnd, at + 10);
    call.Set(ApiRecord::kThreadId, collector::testing::kMainTid);
    call.Set(ApiRecord::kCorrelationId, static_cast<uint32_t>(at));
    Add(call, "cudaLaunchKernel_v7000");
    auto kernel = Kernel(begin, end);
    kernel.Set(KernelRecord::kStreamId, stream);
    kernel.Set(KernelRecord::kCorrelationId, static_cast<uint32_t>(at));
    Add(kernel, "k");
  };
  range("inner", 100, 300, 1);
  range("outer", 100, 400, 0);
  range("idle", 420, 430, 0);
  launch(150, 7, 200, 300);
  launch(350, 8, 500, 600);
  launch(440, 7, 700, 800);  // in no range
  Convert();
  std::vector<std::string> rows;
  for (const auto& row : All<schema::GpuRangeRow>("ORDER BY begin_ns, name_id")) {
    rows.push_back(Text(row.name_id) + " " + std::to_string(row.stream_id) + " " +
                   std::to_string(row.begin_ns - kEpochNs) + " " +
                   std::to_string(row.end_ns - kEpochNs));
  }
  EXPECT_THAT(rows, UnorderedElementsAre("inner 7 200 300", "outer 7 200 300", "outer 8 500 600"));
}

TEST_F(ActivityRecordsTest, WhatAPoolHoldsIsACounterOfItsGpu) {
  const auto pooled = [&](uint64_t ticks, uint64_t held, uint64_t used) {
    ActivityBuilder memory = Memory(kAllocate, ticks, 0x1000 * ticks, 64);
    memory.Set(MemoryRecord::kDeviceId, 2).Set(MemoryRecord::kPoolType, 1);
    memory.Set(MemoryRecord::kPoolBytes, held).Set(MemoryRecord::kPoolUsed, used);
    Add(memory);
  };
  pooled(200, 4096, 128);
  pooled(100, 4096, 64);
  Add(Memory(kAllocate, 300, 0x9000, 64));  // from no pool
  Convert();
  std::vector<std::string> samples;
  for (const auto& sample : All<schema::CounterSampleRow>("ORDER BY time_ns, counter_id")) {
    const auto text = database().QueryOne<std::string>(
        "SELECT name || ' ' || device_id || ' ' || value FROM counter, counter_sample AS s "
        "WHERE id = ?1 AND counter_id = id AND s.time_ns = ?2",
        sample.counter_id, sample.time_ns);
    ASSERT_TRUE(text.ok());
    samples.push_back(*text);
  }
  EXPECT_THAT(samples, ElementsAre("gpu.pool_bytes 2 4096", "gpu.pool_used 2 64",
                                   "gpu.pool_bytes 2 4096", "gpu.pool_used 2 128"));
}

// A kernel that outlives the process, and one whose stamps a jump of CUPTI's clock spoilt.
TEST_F(ActivityRecordsTest, StampsOutsideTheClockAreMovedToItsEdgeAndCounted) {
  constexpr uint64_t kLastReading = 1'000'000'000;
  Add(Kernel(kLastReading - 100, kLastReading + 5'000), "a");
  Add(Kernel(kLastReading * 1'000, kLastReading * 1'001), "b");
  Convert();
  const auto rows = All<schema::KernelRow>("ORDER BY begin_ns");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(*rows[0].end_ns - *rows[0].begin_ns, 100);
  EXPECT_EQ(*rows[1].end_ns - *rows[1].begin_ns, 0);
  EXPECT_THAT(Findings(), ElementsAre("notice stamp_outside_clock 3"));
}

TEST_F(ActivityRecordsTest, NodesOfAGraphShareItsLaunch) {
  for (const uint64_t node : {11, 12, 13}) {
    auto kernel = Kernel(1'000 * node, 1'000 * node + 500);
    kernel.Set(KernelRecord::kGraphNodeId, node);
    Add(kernel, "k");
  }
  ActivityBuilder graph(ActivityKind::kGraphTrace);
  graph.Set(GraphTraceRecord::kStart, 50'000).Set(GraphTraceRecord::kEnd, 60'000);
  graph.Set(GraphTraceRecord::kGraphId, 4).Set(GraphTraceRecord::kCorrelationId, 34);
  Add(graph);
  Convert();
  const auto rows = All<schema::KernelRow>("ORDER BY begin_ns");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].graph_node_id, 11);
  EXPECT_EQ(rows[2].correlation_id, 33);
  EXPECT_EQ(Text(rows[3].name_id), "CUDA graph 4");
  EXPECT_EQ(rows[3].correlation_id, 34);
}

TEST_F(ActivityRecordsTest, CopiesAndFills) {
  ActivityBuilder copy(ActivityKind::kMemcpy);
  copy.Set(MemcpyRecord::kStart, 100).Set(MemcpyRecord::kEnd, 200);
  copy.Set(MemcpyRecord::kBytes, 4096).Set(MemcpyRecord::kCopyKind, 1);
  copy.Set(MemcpyRecord::kSourceKind, 2).Set(MemcpyRecord::kDestinationKind, 3);
  copy.Set(MemcpyRecord::kFlags, 1).Set(MemcpyRecord::kStreamId, 7);
  copy.Set(MemcpyRecord::kCorrelationId, 8);
  Add(copy);
  ActivityBuilder peer(ActivityKind::kMemcpy2);
  peer.Set(MemcpyRecord::kStart, 300).Set(MemcpyRecord::kEnd, 400);
  peer.Set(MemcpyRecord::kBytes, 1).Set(MemcpyRecord::kCopyKind, 10);
  peer.Set(MemcpyRecord::kDeviceId, 0).Set(MemcpyPeerRecord::kDestinationDeviceId, 3);
  peer.Set(MemcpyPeerRecord::kCorrelationId, 9).Set(MemcpyPeerRecord::kGraphNodeId, 5);
  Add(peer);
  ActivityBuilder fill(ActivityKind::kMemset);
  fill.Set(MemsetRecord::kStart, 500).Set(MemsetRecord::kEnd, 600);
  fill.Set(MemsetRecord::kBytes, 64).Set(MemsetRecord::kValue, 255);
  Add(fill);
  Convert();
  const auto copies = All<schema::MemcpyRow>("ORDER BY begin_ns");
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_EQ(copies[0].copy_kind, "HtoD");
  EXPECT_EQ(copies[0].source_kind, "pinned");
  EXPECT_EQ(copies[0].destination_kind, "device");
  EXPECT_EQ(copies[0].is_async, 1);
  EXPECT_EQ(copies[0].bytes, 4096);
  EXPECT_EQ(copies[0].correlation_id, 8);
  EXPECT_EQ(copies[0].peer_device_id, std::nullopt);
  EXPECT_EQ(copies[1].copy_kind, "PtoP");
  EXPECT_EQ(copies[1].peer_device_id, 3);
  EXPECT_EQ(copies[1].correlation_id, 9);
  EXPECT_EQ(copies[1].graph_node_id, 5);
  const auto fills = All<schema::MemsetRow>();
  ASSERT_EQ(fills.size(), 1U);
  EXPECT_EQ(fills[0].value, 255);
}

TEST_F(ActivityRecordsTest, ApiCallsStandOnTheThreadThatCalled) {
  ActivityBuilder call(ActivityKind::kRuntime);
  call.Set(ApiRecord::kStart, 100).Set(ApiRecord::kEnd, 150).Set(ApiRecord::kThreadId, 200);
  call.Set(ApiRecord::kCorrelationId, 33).Set(ApiRecord::kReturnValue, 2);
  Add(call, "cudaMalloc_v3020");
  ActivityBuilder launch(ActivityKind::kDriver);
  launch.Set(ApiRecord::kStart, 200).Set(ApiRecord::kEnd, 250);
  launch.Set(ApiRecord::kThreadId, collector::testing::kMainTid).Set(ApiRecord::kCallbackId, 9);
  Add(launch);
  spool().AddThread(1, 200, "worker");
  Convert();
  const auto calls = All<schema::ApiCallRow>("ORDER BY begin_ns");
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(Text(calls[0].name_id), "cudaMalloc");
  EXPECT_EQ(calls[0].tid, 200);
  EXPECT_EQ(calls[0].api, "runtime");
  EXPECT_EQ(calls[0].return_value, 2);
  EXPECT_EQ(calls[0].correlation_id, 33);
  EXPECT_EQ(Text(calls[1].name_id), "call 9");
  EXPECT_EQ(calls[1].api, "driver");
  EXPECT_EQ(All<schema::ThreadRow>("WHERE tid = 200").size(), 1U);
}

TEST_F(ActivityRecordsTest, WaitsNameWhatTheyWaitFor) {
  ActivityBuilder context(ActivityKind::kContext);
  context.Set(DeviceContextRecord::kContextId, 1).Set(DeviceContextRecord::kDeviceId, 2);
  Add(context);
  ActivityBuilder wait(ActivityKind::kSynchronization);
  wait.Set(SynchronizationRecord::kType, 2).Set(SynchronizationRecord::kStart, 100);
  wait.Set(SynchronizationRecord::kEnd, 120).Set(SynchronizationRecord::kContextId, 1);
  wait.Set(SynchronizationRecord::kStreamId, 7).Set(SynchronizationRecord::kEventId, 3);
  wait.Set(SynchronizationRecord::kEventSyncId, 44);
  Add(wait);
  ActivityBuilder all(ActivityKind::kSynchronization, 24);  // a release without event_sync_id
  all.Set(SynchronizationRecord::kType, 4).Set(SynchronizationRecord::kStart, 200);
  all.Set(SynchronizationRecord::kEnd, 900).Set(SynchronizationRecord::kContextId, 9);
  all.Set(SynchronizationRecord::kStreamId, 0xffff'ffff);
  all.Set(SynchronizationRecord::kEventId, 0xffff'ffff);
  Add(all);
  Convert();
  const auto rows = All<schema::SyncRow>("ORDER BY begin_ns");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].kind, "stream_wait_event");
  EXPECT_EQ(rows[0].device_id, 2);
  EXPECT_EQ(rows[0].stream_id, 7);
  EXPECT_EQ(rows[0].event_id, 3);
  EXPECT_EQ(rows[0].event_sync_id, 44);
  EXPECT_EQ(rows[1].kind, "context");
  EXPECT_EQ(rows[1].device_id, std::nullopt);
  EXPECT_EQ(rows[1].stream_id, std::nullopt);
  EXPECT_EQ(rows[1].event_id, std::nullopt);
}

TEST_F(ActivityRecordsTest, OverheadsAndCompilations) {
  ActivityBuilder full(ActivityKind::kOverhead);
  full.Set(OverheadRecord::kOverheadKind, 6U << 16).Set(OverheadRecord::kObjectKind, 2);
  full.Set(OverheadRecord::kObjectThreadId, collector::testing::kMainTid);
  full.Set(OverheadRecord::kStart, 100).Set(OverheadRecord::kEnd, 130);
  Add(full);
  ActivityBuilder compile(ActivityKind::kJit);
  compile.Set(JitRecord::kOperation, 3).Set(JitRecord::kEntryType, 1);
  compile.Set(JitRecord::kThreadId, collector::testing::kMainTid).Set(JitRecord::kDeviceId, 1);
  compile.Set(JitRecord::kStart, 200).Set(JitRecord::kEnd, 900);
  Add(compile);
  Convert();
  const auto rows = All<schema::OverheadRow>("ORDER BY begin_ns");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(Text(rows[0].kind_id), "Command Buffer Full");
  EXPECT_EQ(rows[0].tid, collector::testing::kMainTid);
  EXPECT_EQ(rows[0].device_id, std::nullopt);
  EXPECT_EQ(rows[0].end_ns - rows[0].begin_ns, 30);
  EXPECT_EQ(Text(rows[1].kind_id), "JIT compile (PTX to cubin)");
  EXPECT_EQ(rows[1].device_id, 1);
}

TEST_F(ActivityRecordsTest, DevicesAndStreams) {
  ActivityBuilder device(ActivityKind::kDevice);
  device.Set(DeviceRecord::kId, 2)
      .Set(DeviceRecord::kIsVisible, 1)
      .Set(DeviceRecord::kSmCount, 132);
  device.Set(DeviceRecord::kMajor, 9).Set(DeviceRecord::kWarpSize, 32);
  device.Set(DeviceRecord::kMaxWarpsPerSm, 64).Set(DeviceRecord::kMemoryBytes, 80'000'000'000);
  device.Set(Field<uint8_t>{DeviceRecord::kUuidOffset}, 0x12);
  Add(device, "NVIDIA H100");
  ActivityBuilder hidden(ActivityKind::kDevice);
  hidden.Set(DeviceRecord::kId, 3);
  Add(hidden, "NVIDIA H100");
  ActivityBuilder stream(ActivityKind::kStream);  // before its context
  stream.Set(StreamRecord::kContextId, 1).Set(StreamRecord::kStreamId, 9);
  stream.Set(StreamRecord::kPriority, -5);
  Add(stream);
  ActivityBuilder context(ActivityKind::kContext);
  context.Set(DeviceContextRecord::kContextId, 1).Set(DeviceContextRecord::kDeviceId, 2);
  Add(context);
  Add(Kernel(100, 200), "k");  // on stream 7, which nothing announced
  Convert();
  const auto devices = All<schema::DeviceRow>();
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].id, 2);
  EXPECT_EQ(devices[0].name, "NVIDIA H100");
  EXPECT_EQ(devices[0].uuid, "GPU-12000000-0000-0000-0000-000000000000");
  EXPECT_EQ(devices[0].sm_count, 132);
  EXPECT_EQ(devices[0].compute_capability, "9.0");
  EXPECT_EQ(devices[0].max_threads_per_sm, 2'048);
  const auto streams = All<schema::StreamRow>("ORDER BY stream_id");
  ASSERT_EQ(streams.size(), 2U);
  EXPECT_EQ(streams[0].stream_id, 7);
  EXPECT_EQ(streams[0].priority, std::nullopt);
  EXPECT_EQ(streams[1].stream_id, 9);
  EXPECT_EQ(streams[1].device_id, 2);
  EXPECT_EQ(streams[1].priority, -5);
}

TEST_F(ActivityRecordsTest, DriverMemoryIsSummedInOrderOfTime) {
  Add(Memory(kRelease, 300, 0x1000, 0));
  Add(Memory(kAllocate, 200, 0x2000, 50));
  Add(Memory(kAllocate, 100, 0x1000, 100));
  Add(Memory(kRelease, 400, 0x9000, 10));  // allocated before capture
  Convert();
  const auto rows = All<schema::MemoryEventRow>("ORDER BY time_ns");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].device_type, "cuda");
  EXPECT_EQ(rows[0].delta_bytes, 100);
  EXPECT_EQ(rows[1].allocated_bytes, 150);
  EXPECT_EQ(rows[2].delta_bytes, -100);
  EXPECT_EQ(rows[2].allocated_bytes, 50);
  EXPECT_EQ(rows[2].stream_id, std::nullopt);
  EXPECT_EQ(rows[3].delta_bytes, std::nullopt);
}

TEST_F(ActivityRecordsTest, UnderAnAllocatorDriverMemoryIsItsSegments) {
  wire::MemoryRecord block{};
  block.header = collector::testing::Header(wire::RecordKind::kMemory);
  block.ticks = 250;
  block.delta_bytes = 512;
  block.allocated_bytes = 512;
  block.reserved_bytes = 2 << 20;
  block.device_type = 1;
  spool().Add(0, block);
  Add(Memory(kAllocate, 200, 0x2000, 2 << 20));
  Convert();
  const auto rows = All<schema::MemoryEventRow>("ORDER BY time_ns");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].action, "segment_alloc");
  EXPECT_EQ(rows[0].delta_bytes, 0);
  EXPECT_EQ(rows[0].reserved_bytes, 2 << 20);
  EXPECT_EQ(rows[1].delta_bytes, 512);
}

TEST_F(ActivityRecordsTest, NcclKernelsAreCollectives) {
  Add(Kernel(1'000, 3'000),
      "_Z40ncclDevKernel_AllReduce_Sum_bf16_RING_LL24ncclDevKernelArgsStorageILm4096EE");
  Add(Kernel(4'000, 5'000), "_Z22ncclDevKernel_SendRecv24ncclDevKernelArgsStorageILm4096EE");
  Convert();
  EXPECT_EQ(All<schema::KernelRow>().size(), 2U);
  const auto rows = All<schema::CollectiveSourceRow>();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].origin, "kernel");
  EXPECT_EQ(Text(rows[0].op_id), "all_reduce");
  EXPECT_EQ(Text(rows[0].dtype_id), "bfloat16");
  EXPECT_EQ(rows[0].algorithm, "RING");
  EXPECT_EQ(rows[0].protocol, "LL");
  EXPECT_EQ(rows[0].end_ns, kEpochNs + 3'000);
  EXPECT_EQ(rows[0].correlation_id, 33);
}

TEST_F(ActivityRecordsTest, ANewerCuptiIsSaidOnce) {
  Add(Kernel(1'000, 1'500, kNewestVersion + 100), "a");
  Add(Kernel(2'000, 2'500, kNewestVersion + 100), "b");
  Convert();
  EXPECT_EQ(All<schema::KernelRow>().size(), 2U);
  EXPECT_THAT(Findings(), ElementsAre("notice cupti_version 1"));
}

TEST_F(ActivityRecordsTest, RecordsOfAnotherLengthAreNotRead) {
  auto cells = Kernel(1'000, 1'500).Cells();
  wire::ActivityRecord record;
  std::memcpy(&record, cells.data(), sizeof(record));
  record.bytes -= 8;
  std::memcpy(cells.data(), &record, sizeof(record));
  spool().AddBytes(0, cells.data(), cells.size());
  record.bytes = 1'000;  // more than its cells hold
  std::memcpy(cells.data(), &record, sizeof(record));
  spool().AddBytes(0, cells.data(), cells.size());
  Convert();
  EXPECT_EQ(All<schema::KernelRow>().size(), 0U);
  EXPECT_THAT(Findings(), ElementsAre("data_loss cupti_record 1", "error cupti_record_cut 1"));
}

TEST_F(ActivityRecordsTest, AnyBytesBecomeRowsOrFindings) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 4'000; ++round) {
    const auto kind = static_cast<ActivityKind>(random() % 64);
    const uint32_t versions[] = {22, 26, 130001, 130500, 999'999};
    ActivityBuilder activity(kind, versions[random() % std::size(versions)]);
    if (activity.bytes().size() < sizeof(uint32_t)) continue;
    auto cells = activity.Cells();
    for (size_t at = 28; at + 8 <= cells.size(); at += 8) {
      const uint64_t word = random() >> random() % 64;
      std::memcpy(cells.data() + at, &word, sizeof(word));
    }
    spool().AddBytes(0, cells.data(), cells.size());
  }
  Convert();
  EXPECT_GT(All<schema::ApiCallRow>().size(), 0U);
  EXPECT_GT(All<schema::KernelRow>().size(), 0U);
}

}  // namespace
}  // namespace tutti::collector::convert::cupti
