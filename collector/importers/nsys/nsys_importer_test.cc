#include "collector/importers/nsys/nsys_importer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "collector/importers/nsys/rank_output.h"
#include "collector/importers/nsys/testing/import_fixture.h"

namespace tutti::collector::importers::nsys {
namespace {

using testing::GlobalPid;
using testing::GlobalTid;

std::string Str(int64_t number) { return std::to_string(number); }

// Names 1 'gemm', 2 'cudaLaunchKernel_v7000', 3 'ncclDevKernel_AllReduce_Sum_f32_RING'.
const std::string kStrings =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel_v7000'),"
    " (3, 'ncclDevKernel_AllReduce_Sum_f32_RING'), (4, 'NCCL'), (5, 'ncclAllReduce'),"
    " (6, 'ncclGroupStart'), (7, 'ncclGroupEnd'), (8, 'ncclSend'), (9, 'poll');";
const std::string kKernels =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, \"end\", deviceId, contextId, streamId,"
    " correlationId, globalPid, demangledName, graphNodeId, gridX);";
const std::string kCalls =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, \"end\", eventClass, globalTid,"
    " correlationId, nameId, returnValue);";
const std::string kNvtx =
    "CREATE TABLE NVTX_EVENTS (start, \"end\", eventType, rangeId, category, color, text,"
    " globalTid, endGlobalTid, textId, domainId, uint64Value, int64Value, doubleValue,"
    " jsonText, binaryData);";

std::string Kernel(int64_t start, int64_t end, int64_t pid, int64_t device, int64_t stream,
                   int64_t correlation, int64_t name = 1) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + Str(start) + "," + Str(end) + "," +
         Str(device) + ",1," + Str(stream) + "," + Str(correlation) + "," + Str(GlobalPid(pid)) +
         "," + Str(name) + ",NULL,64);";
}
std::string Call(int64_t start, int64_t end, int64_t pid, int64_t tid, int64_t correlation) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + Str(start) + "," + Str(end) + ",0," +
         Str(GlobalTid(pid, tid)) + "," + Str(correlation) + ",2,0);";
}
// |more| names further columns as "name=value,…".
std::string Nvtx(int64_t type, const std::string& start, const std::string& end, int64_t tid,
                 const std::string& text, const std::string& columns = "",
                 const std::string& values = "") {
  return "INSERT INTO NVTX_EVENTS (start, \"end\", eventType, globalTid, text" +
         (columns.empty() ? "" : ", " + columns) + ") VALUES (" + start + "," + end + "," +
         Str(type) + "," + Str(tid) + "," + text + (values.empty() ? "" : ", " + values) + ");";
}
const int64_t kMain = GlobalTid(100, 100);

class NsysImporterTest : public testing::NsysTest {};

TEST_F(NsysImporterTest, AnswersAReportWithHowToExportIt) {
  const std::string path = scratch_.Path("run7.nsys-rep");
  std::ofstream(path) << "NVIDIA Tegra Profiler Report 2025@5@1...";
  EXPECT_TRUE(importer_.Recognizes(FileAt(path)));
  const Status status = Import(path);
  EXPECT_EQ(status.code(), StatusCode::kBadData);
  EXPECT_NE(status.message().find("nsys export --type sqlite -o " + scratch_.Path("run7.sqlite")),
            std::string::npos)
      << status.message();
}

TEST_F(NsysImporterTest, TakesNoRunOfTuttisForAnExport) {
  const auto sink = TraceSink::Create(scratch_.Path("rank.sqlite"));
  ASSERT_TRUE(sink.ok());
  ASSERT_TRUE((*sink)->Finish(0).ok());
  EXPECT_FALSE(importer_.Recognizes(FileAt(scratch_.Path("rank.sqlite"))));
  EXPECT_TRUE(importer_.Recognizes(FileAt(MakeDatabase(kStrings))));
}

TEST_F(NsysImporterTest, PutsTimesOnTheEpoch) {
  ImportSql(kStrings + kKernels + Kernel(20, 80, 100, 0, 7, 1) +
            "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INT);"
            "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000)");
  EXPECT_EQ(Number("SELECT begin_ns FROM kernel"), 1'700'000'000'000'000'020);
  EXPECT_EQ(Counted("no_session_start"), 0);
}

TEST_F(NsysImporterTest, TakesBackWhatTheExporterShifted) {
  ImportSql(kStrings + kKernels + Kernel(1700, 1760, 100, 0, 7, 1) +
            "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INT);"
            "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1600);"
            "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
            "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PARAM_TIME_NORMALIZE', 'true'),"
            " ('EXPORT_PARAM_TIME_SHIFT', '50')");
  EXPECT_EQ(Number("SELECT begin_ns FROM kernel"), 1650);
}

TEST_F(NsysImporterTest, SaysThatTimesCountFromZero) {
  ImportSql(kStrings + kKernels + Kernel(20, 80, 100, 0, 7, 1));
  EXPECT_EQ(Number("SELECT begin_ns FROM kernel"), 20);
  EXPECT_EQ(Counted("no_session_start"), 1);
}

TEST_F(NsysImporterTest, CountsRowsThatCanNotBeUsedWithTheFirstOfThem) {
  ImportSql(kStrings + kKernels + Kernel(20, 80, 100, 0, 7, 1) +
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
            " ('soon', 9, 0, 1, 7, 2, " +
            Str(GlobalPid(100)) +
            ", 1, NULL, 1),"
            " (90, 80, 0, 1, 7, 3, " +
            Str(GlobalPid(100)) +
            ", 1, NULL, 1),"
            " (90, 99, NULL, 1, 7, 4, " +
            Str(GlobalPid(100)) +
            ", 1, NULL, 1),"
            " (5, 9223372036854775807, 0, 1, 7, 5, " +
            Str(GlobalPid(100)) +
            ", 1, NULL, 1),"
            " (0, 0, 0, 1, 7, 6, " +
            Str(GlobalPid(100)) +
            ", 1, NULL, 1),"
            " (100, 110, 0, 1, 7, 7, " +
            Str(GlobalPid(100)) +
            ", 1, NULL, 'wide');"
            "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INT);"
            "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1000)");
  EXPECT_EQ(Number("SELECT count(*) FROM kernel"), 3);
  EXPECT_EQ(Number("SELECT count(*) FROM kernel WHERE begin_ns IS NULL"), 1);  // untimed
  EXPECT_EQ(Number("SELECT count(*) FROM kernel WHERE grid_x IS NULL"), 1);
  EXPECT_EQ(Counted("row_incomplete"), 2);
  EXPECT_EQ(Counted("negative_duration"), 1);
  EXPECT_EQ(Counted("time_out_of_range"), 1);
  EXPECT_EQ(Counted("odd_value"), 1);
  EXPECT_NE(Text("SELECT detail FROM trace_stat WHERE name = 'negative_duration'")
                .find("CUPTI_ACTIVITY_KIND_KERNEL row 3"),
            std::string::npos);
  EXPECT_EQ(Number("SELECT events_read FROM import_source"), 3);
  EXPECT_EQ(Number("SELECT events_skipped FROM import_source"), 4);
}

TEST_F(NsysImporterTest, MakesEachProcessWithWorkOnAGpuARank) {
  ImportSql(kStrings + kKernels + kCalls + Kernel(20, 80, 200, 0, 7, 1) +
            Kernel(21, 81, 100, 1, 7, 1) + Call(10, 12, 200, 200, 1) + Call(10, 12, 100, 101, 1) +
            Call(10, 12, 300, 300, 1) +
            "CREATE TABLE PROCESSES (globalPid INT, pid INT, name TEXT);"
            "INSERT INTO PROCESSES VALUES (" +
            Str(GlobalPid(200)) + ", 200, 'python3');");
  ASSERT_EQ(trace_count(), 2u);
  EXPECT_EQ(IdentityOf(0).pid, 200);  // the lowest GPU comes first
  EXPECT_EQ(IdentityOf(0).executable, "python3");
  EXPECT_EQ(IdentityOf(1).pid, 100);
  EXPECT_EQ(IdentityOf(1).device, 1);
  EXPECT_EQ(IdentityOf(0).rank, std::nullopt);
  for (const size_t trace : {0, 1}) {
    EXPECT_EQ(Number("SELECT count(*) FROM kernel", trace), 1);
    EXPECT_EQ(Number("SELECT count(*) FROM api_call", trace), 1);
  }
  EXPECT_EQ(Counted("not_a_rank"), 1);
  EXPECT_EQ(Counted("other_processes"), 1);
}

TEST_F(NsysImporterTest, TakesRanksFromMpi) {
  ImportSql(kStrings + kKernels + Kernel(20, 80, 200, 0, 7, 1) + Kernel(21, 81, 100, 1, 7, 1) +
            "CREATE TABLE MPI_RANKS (globalTid INT, rank INT);"
            "INSERT INTO MPI_RANKS VALUES (" +
            Str(GlobalTid(200, 200)) + ", 9), (" + Str(GlobalTid(100, 100)) + ", 8);");
  EXPECT_EQ(IdentityOf(0).rank, 9);
  EXPECT_EQ(IdentityOf(1).rank, 8);
  EXPECT_EQ(IdentityOf(1).rank_source, "MPI_RANKS");
}

TEST_F(NsysImporterTest, TakesTheRankOfTheOnlyProcessFromItsEnvironment) {
  ImportSql(kStrings + kKernels + Kernel(20, 80, 200, 0, 7, 1) +
            "CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);"
            "INSERT INTO META_DATA_CAPTURE VALUES"
            " ('PROCESS_0:ENVIRONMENT_VARIABLE', 'SLURM_PROCID=\"12\"'),"
            " ('PROCESS_0:ENVIRONMENT_VARIABLE', 'SLURM_NTASKS=\"16\"')");
  EXPECT_EQ(IdentityOf(0).rank, 12);
  EXPECT_EQ(IdentityOf(0).world_size, 16);
  EXPECT_EQ(IdentityOf(0).rank_source, "SLURM_PROCID");
}

TEST_F(NsysImporterTest, KeepsEqualStreamNumbersOfTwoGpusApart) {
  ImportSql(kStrings + kKernels + Kernel(20, 80, 100, 0, 7, 1) + Kernel(20, 80, 100, 1, 7, 2) +
            "CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, smCount INT, threadsPerWarp INT,"
            " maxWarpsPerSm INT, computeMajor INT, computeMinor INT);"
            "INSERT INTO TARGET_INFO_GPU VALUES (4, 'NVIDIA H100', 132, 32, 64, 9, 0);"
            "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INT, cudaId INT, pid INT);"
            "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (4, 1, 100);"
            "CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO (processId INT, contextId INT,"
            " deviceId INT); INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES (100, 1, 1);"
            "CREATE TABLE TARGET_INFO_CUDA_STREAM (processId INT, contextId INT, streamId INT,"
            " priority INT); INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (100, 1, 7, 4294967291);");
  EXPECT_EQ(Number("SELECT count(*) FROM stream"), 2);
  EXPECT_EQ(Number("SELECT priority FROM stream WHERE device_id = 1"), -5);
  EXPECT_EQ(Text("SELECT name FROM device WHERE id = 1"), "NVIDIA H100");
  EXPECT_EQ(Text("SELECT compute_capability FROM device WHERE id = 1"), "9.0");
  EXPECT_EQ(Number("SELECT max_threads_per_sm FROM device WHERE id = 1"), 2048);
  EXPECT_EQ(Text("SELECT name FROM device WHERE id = 0"), "GPU 0");
}

TEST_F(NsysImporterTest, NamesCallsAsTheApiDoes) {
  EXPECT_EQ(WithoutApiVersion("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(WithoutApiVersion("cudaStreamGetCaptureInfo_v2_v11030"), "cudaStreamGetCaptureInfo_v2");
  EXPECT_EQ(WithoutApiVersion("cuMemcpyDtoH_v2"), "cuMemcpyDtoH_v2");
  EXPECT_EQ(WithoutApiVersion("_v7000"), "_v7000");
  EXPECT_EQ(WithoutApiVersion(""), "");
  ImportSql(kStrings + kCalls + Call(10, 12, 100, 101, 5));
  EXPECT_EQ(Text("SELECT n.text FROM api_call AS a JOIN string AS n ON n.id = a.name_id"),
            "cudaLaunchKernel");
  EXPECT_EQ(Text("SELECT api FROM api_call"), "runtime");
  EXPECT_EQ(Number("SELECT tid FROM api_call"), 101);
  EXPECT_EQ(Number("SELECT correlation_id FROM api_call"), 5);
}

TEST_F(NsysImporterTest, TellsCopiesByKindAndMemory) {
  ImportSql(kStrings +
            "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, \"end\", deviceId, streamId, bytes,"
            " copyKind, srcKind, dstKind, dstDeviceId);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 0, 7, 64, 1, 0, 2, NULL),"
            " (3, 4, 0, 7, 64, 10, 2, 2, 3), (5, 6, 0, 7, -64, 1, 0, 2, NULL),"
            " (7, 8, 0, 7, 64, 99, 0, 2, NULL)");
  EXPECT_EQ(Text("SELECT group_concat(copy_kind || ':' || source_kind || '>' || destination_kind)"
                 " FROM memcpy"),
            "HtoD:pageable>device,PtoP:device>device,unknown:pageable>device");
  EXPECT_EQ(Number("SELECT peer_device_id FROM memcpy WHERE copy_kind = 'PtoP'"), 3);
  EXPECT_EQ(Counted("negative_size"), 1);
  EXPECT_EQ(Counted("odd_value"), 1);
}

// Up to 2026.1 Nsight counts kinds of synchronisation from 0, later from 1.
TEST_F(NsysImporterTest, TellsKindsOfSynchronisationOfBothCounts) {
  const std::string table =
      kStrings +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, \"end\", deviceId,"
      " streamId, syncType, eventId); INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES ";
  ImportSql(table + "(1, 2, 0, 7, 2, 4294967295), (3, 4, 0, 7, 0, 12), (5, 6, 0, 7, 1, 12)");
  ImportSql(table +
            "(1, 2, 0, 7, 3, 4294967295), (3, 4, 0, 7, 1, 12), (5, 6, 0, 7, 2, 12),"
            " (7, 8, 0, 7, 77, 1)");
  for (const size_t trace : {0, 1}) {
    EXPECT_EQ(Text("SELECT group_concat(kind) FROM sync", trace), "stream,event,stream_wait_event");
    EXPECT_EQ(Number("SELECT count(event_id) FROM sync", trace), 2);
  }
  EXPECT_EQ(Counted("unknown_event", 1), 1);
}

// Rows of synchronisation name GPU 0, but the right context.
TEST_F(NsysImporterTest, FindsTheGpuThatWasWaitedForByItsContext) {
  ImportSql(kStrings + kKernels +
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 3, 12, 7, 1, NULL, 1, NULL, 1);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, \"end\", deviceId,"
            " contextId, streamId, syncType, eventId);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (3, 4, 0, 12, 7, 3, NULL),"
            " (5, 6, 0, 99, 7, 3, NULL)");
  EXPECT_EQ(Text("SELECT group_concat(device_id) FROM sync"), "3,0");
}

TEST_F(NsysImporterTest, ShowsWholeGraphsAsWorkOfTheGpu) {
  ImportSql(kStrings +
            "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, \"end\", deviceId, streamId,"
            " correlationId, graphId); INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES"
            " (1, 9, 0, 7, 3, 12)");
  EXPECT_EQ(Text("SELECT name FROM v_kernel"), "CUDA graph 12");
  EXPECT_EQ(Counted("graph_as_kernel"), 1);
}

TEST_F(NsysImporterTest, FollowsMemoryOfTheDriver) {
  ImportSql(kStrings +
            "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start, deviceId, address, bytes, memKind,"
            " memoryOperationType); INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES"
            " (30, 0, 100, 1024, 2, 1), (10, 0, 100, 1024, 2, 0), (20, 0, 200, 512, 1, 0),"
            " (40, 0, 300, 64, 2, 1), (50, 0, 1, 1, 2, 9)");
  EXPECT_EQ(Text("SELECT group_concat(device_type || ' ' || coalesce(delta_bytes, '?') || ' ' ||"
                 " allocated_bytes) FROM (SELECT * FROM memory_event ORDER BY time_ns)"),
            "cuda 1024 1024,cpu 512 512,cuda -1024 0,cuda ? 0");
  EXPECT_EQ(Counted("unknown_event"), 1);
}

TEST_F(NsysImporterTest, NestsPushPopRangesByThreadAndDomain) {
  ImportSql(kStrings + kNvtx + Nvtx(59, "10", "100", kMain, "'fwd'") +
            Nvtx(59, "0", "300", kMain, "'step'") + Nvtx(59, "100", "290", kMain, "'bwd'") +
            Nvtx(59, "20", "30", GlobalTid(100, 101), "'other thread'") +
            Nvtx(59, "20", "30", kMain, "'other domain'", "domainId", "3") +
            Nvtx(59, "280", "NULL", kMain, "'open'"));
  EXPECT_EQ(Text("SELECT group_concat(name || ' ' || depth) FROM "
                 "(SELECT * FROM v_range ORDER BY begin_ns, depth, name)"),
            "step 0,fwd 1,other domain 0,other thread 0,bwd 1,open 2");
  EXPECT_EQ(Number("SELECT end_ns IS NULL FROM v_range WHERE name = 'open'"), 1);
  EXPECT_EQ(Text("SELECT domain FROM v_range WHERE name = 'other domain'"), "domain 3");
}

TEST_F(NsysImporterTest, ReadsEveryKindOfNvtxEvent) {
  ImportSql(kStrings + kNvtx +
            Nvtx(60, "5", "9", kMain, "'bucket'", "endGlobalTid, color, category, domainId",
                 Str(GlobalTid(100, 102)) + ", -16711936, 4, 2") +
            Nvtx(34, "7", "NULL", kMain, "'mark'", "int64Value", "-3") +
            Nvtx(33, "1", "NULL", kMain, "'io'", "category, domainId", "4, 2") +
            Nvtx(75, "1", "NULL", kMain, "'dali'", "domainId", "2") +
            Nvtx(39, "1", "NULL", kMain, "'trainer'") + Nvtx(123, "1", "2", kMain, "'new'") +
            Nvtx(59, "2", "3", kMain, "NULL", "textId, doubleValue", "1, 0.5") +
            Nvtx(59, "3", "4", kMain, "'j'", "jsonText", "'{\"a\":1}'") +
            Nvtx(59, "4", "5", kMain, "'u'", "uint64Value", "-1"));
  EXPECT_EQ(Number("SELECT end_tid FROM range WHERE kind = 'start_end'"), 102);
  EXPECT_EQ(Number("SELECT argb FROM range WHERE kind = 'start_end'"), 0xff00ff00);
  EXPECT_EQ(Text("SELECT domain || '/' || category_name FROM v_range WHERE name = 'bucket'"),
            "dali/io");
  EXPECT_EQ(Number("SELECT end_ns - begin_ns FROM range WHERE kind = 'mark'"), 0);
  EXPECT_EQ(Number("SELECT payload FROM range WHERE kind = 'mark'"), -3);
  EXPECT_EQ(Text("SELECT name FROM thread WHERE tid = 100"), "trainer");
  EXPECT_EQ(Number("SELECT payload = 0.5 FROM v_range WHERE name = 'gemm'"), 1);
  EXPECT_EQ(Text("SELECT payload FROM v_range WHERE name = 'j'"), "{\"a\":1}");
  EXPECT_EQ(Number("SELECT payload = 18446744073709551615.0 FROM v_range WHERE name = 'u'"), 1);
  EXPECT_EQ(Counted("unknown_event"), 1);
  EXPECT_EQ(Number("SELECT count(*) FROM range"), 5);
}

TEST_F(NsysImporterTest, FindsStepsPhasesAndOperators) {
  std::string sql = kStrings + kNvtx;
  for (int64_t step = 0; step < 3; ++step) {
    const int64_t t = step * 100;
    sql += Nvtx(59, Str(t), Str(t + 90), kMain, "'iteration " + Str(step + 7) + "'") +
           Nvtx(59, Str(t + 1), Str(t + 5), kMain, "'get_batch'") +
           Nvtx(59, Str(t + 10), Str(t + 40), kMain, "'forward'") +
           Nvtx(59, Str(t + 11), Str(t + 20), kMain, "'forward'") +
           Nvtx(59, Str(t + 12), Str(t + 14), kMain, "'aten::mm, seq = 5, op_id = 1'") +
           Nvtx(59, Str(t + 50), Str(t + 60), kMain, "'step'");
  }
  ImportSql(sql);
  EXPECT_EQ(Text("SELECT group_concat(number || ':' || begin_ns) FROM step"), "7:0,8:100,9:200");
  EXPECT_EQ(Number("SELECT count(*) FROM phase WHERE phase = 'forward'"), 3);
  EXPECT_EQ(Number("SELECT count(*) FROM data_wait"), 3);
  EXPECT_EQ(Number("SELECT count(*) FROM v_cpu_op WHERE name = 'aten::mm' AND sequence_nr = 5"), 3);
  EXPECT_EQ(Number("SELECT count(*) FROM range"), 18);
}

TEST_F(NsysImporterTest, UnderstandsAnnotationsUnderNsight) {
  const std::string in_domain = "domainId, category, int64Value";
  ImportSql(
      kStrings + kNvtx + Nvtx(75, "0", "NULL", kMain, "'tutti'", "domainId", "6") +
      Nvtx(59, "10", "90", kMain, "'step'", in_domain, "6, 1, 41") +
      Nvtx(59, "11", "20", kMain, "'forward'", "domainId, category", "6, 2") +
      Nvtx(59, "21", "22", kMain, "'train'", in_domain, "6, 3, 2") +
      Nvtx(34, "30", "NULL", kMain, "'samples'", in_domain, "6, 4, 32") +
      Nvtx(34, "31", "NULL", kMain, "'tokens'", in_domain, "6, 5, 4096") +
      Nvtx(34, "32", "NULL", kMain, "'loss'", "domainId, category, doubleValue", "6, 6, 2.5"));
  EXPECT_EQ(Number("SELECT number FROM step WHERE origin = 'annotate'"), 41);
  EXPECT_EQ(Text("SELECT phase FROM phase WHERE origin = 'annotate'"), "forward");
  EXPECT_EQ(Number("SELECT queue_depth FROM data_wait"), 2);
  EXPECT_EQ(Number("SELECT samples * 10000 + tokens FROM batch"), 324096);
  EXPECT_EQ(Number("SELECT value = 2.5 FROM v_counter WHERE name = 'loss'"), 1);
}

// Four words of header, then {communicator, bytes, peer}.
std::string Blob(uint64_t schema, std::initializer_list<uint64_t> words) {
  std::vector<uint64_t> all = {1, schema, words.size() * 8, 32};
  all.insert(all.end(), words);
  std::string hex = "x'";
  for (const uint64_t word : all) {
    for (int byte = 0; byte < 8; ++byte) {
      constexpr char kDigits[] = "0123456789abcdef";
      const auto value = static_cast<unsigned>(word >> (8 * byte)) & 0xff;
      hex += kDigits[value >> 4];
      hex += kDigits[value & 15];
    }
  }
  return hex + "'";
}

const std::string kSchemas =
    "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INT, schemaId INT, idx INT, flags INT,"
    " type INT, name TEXT, arrayOrUnionDetail INT, offset INT);"
    "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES"
    " (1, 16777223, 0, NULL, 18, 'NCCL communicator ID', NULL, NULL),"
    " (1, 16777223, 1, NULL, 22, 'Message size [bytes]', NULL, 8),"
    " (1, 16777223, 2, NULL, 16777232, 'Reduction operation', NULL, 16),"
    " (1, 16777226, 0, NULL, 18, 'NCCL communicator ID', NULL, NULL),"
    " (1, 16777226, 1, NULL, 22, 'Message size [bytes]', NULL, 8),"
    " (1, 16777226, 2, NULL, 5, 'Peer rank', NULL, 16),"
    " (1, 16777218, 0, NULL, 18, 'NCCL communicator ID', NULL, NULL),"
    " (1, 16777218, 1, NULL, 5, 'No. of ranks', NULL, 8),"
    " (1, 16777218, 2, NULL, 5, 'Rank', NULL, 12);"
    "CREATE TABLE NVTX_PAYLOAD_ENUM_ENTRIES (domainId INT, schemaId INT, idx INT, name TEXT,"
    " value INT); INSERT INTO NVTX_PAYLOAD_ENUM_ENTRIES VALUES (1, 16777232, 0, 'Sum', NULL);";

TEST_F(NsysImporterTest, MakesCollectivesOfNcclsRanges) {
  const std::string nccl = "domainId, binaryData";
  ImportSql(
      kStrings + kKernels + kCalls + kNvtx + kSchemas + Kernel(1000, 1500, 100, 0, 20, 1, 3) +
      Kernel(2000, 2500, 100, 0, 20, 2, 3) + Call(112, 115, 100, 100, 1) +
      Call(245, 248, 100, 100, 2) + Nvtx(75, "0", "NULL", kMain, "'NCCL'", "domainId", "1") +
      Nvtx(59, "50", "60", kMain, "'ncclCommInitRankConfig'", nccl,
           "1, " + Blob(16777218, {0xabc, uint64_t{3} << 32 | 8})) +
      Nvtx(59, "110", "120", kMain, "'ncclAllReduce'", nccl,
           "1, " + Blob(16777223, {0xabc, 4096, 0})) +
      Nvtx(59, "200", "202", kMain, "'ncclGroupStart'", "domainId", "1") +
      Nvtx(59, "210", "220", kMain, "'ncclSend'", nccl, "1, " + Blob(16777226, {0xabc, 512, 6})) +
      Nvtx(59, "225", "230", kMain, "'ncclRecv'", nccl, "1, " + Blob(16777226, {0xabc, 512, 5})) +
      Nvtx(59, "240", "250", kMain, "'ncclGroupEnd'", "domainId", "1"));
  EXPECT_EQ(Text("SELECT group_concat(op || ' ' || bytes || ' ' || enqueue_ns || ' ' || begin_ns "
                 "|| ' ' || coalesce(peer, '-')) FROM v_collective"),
            "all_reduce 4096 110 1000 -,send 512 210 2000 6,recv 512 225 2000 5");
  EXPECT_EQ(Text("SELECT uid || ' ' || group_rank || '/' || group_size FROM communicator"),
            "0xabc 3/8");
  EXPECT_EQ(Number("SELECT correlation_id FROM collective_source WHERE bytes = 4096"), 1);
  EXPECT_EQ(Text("SELECT payload FROM v_range WHERE name = 'ncclAllReduce'"),
            R"({"NCCL communicator ID":2748,"Message size [bytes]":4096,)"
            R"("Reduction operation":"Sum"})");
  EXPECT_EQ(IdentityOf(0).rank, 3);
  EXPECT_EQ(IdentityOf(0).world_size, 8);
}

// Payloads as NCCL wrote them before they told the communicator.
const std::string kOldSchemas =
    "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INT, schemaId INT, idx INT, flags INT,"
    " type INT, name TEXT, arrayOrUnionDetail INT, offset INT);"
    "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES"
    " (1, 16777226, 0, NULL, 22, 'Bytes', NULL, NULL),"
    " (1, 16777226, 1, NULL, 5, 'Peer rank', NULL, 8),"
    " (1, 16777218, 0, NULL, 5, 'No. of ranks', NULL, NULL),"
    " (1, 16777218, 1, NULL, 5, 'Rank', NULL, 4);";

class NsysOldNcclTest : public NsysImporterTest {
 protected:
  static std::string Init(const char* begin, const char* end, uint64_t rank, uint64_t ranks) {
    return Nvtx(59, begin, end, kMain, "'ncclCommInitRank'", "domainId, binaryData",
                "1, " + Blob(16777218, {rank << 32 | ranks}));
  }
  static std::string Send(const char* begin, const char* end, uint64_t peer) {
    return Nvtx(59, begin, end, kMain, "'ncclSend'", "domainId, binaryData",
                "1, " + Blob(16777226, {512, peer}));
  }
  const std::string tables_ =
      kStrings + kNvtx + kOldSchemas + Nvtx(75, "0", "NULL", kMain, "'NCCL'", "domainId", "1");
};

TEST_F(NsysOldNcclTest, CallsAreOfTheOnlyCommunicatorThatWasMade) {
  ImportSql(tables_ + Init("10", "20", 1, 4) + Send("30", "40", 2));
  EXPECT_EQ(Text("SELECT op || ' ' || bytes || ' to ' || peer FROM v_collective"), "send 512 to 2");
  EXPECT_EQ(Text("SELECT group_rank || '/' || group_size || coalesce(uid, ' without id') FROM"
                 " communicator JOIN collective_source ON communicator_id = communicator.id"),
            "1/4 without id");
  EXPECT_EQ(IdentityOf(0).rank, 1);
  EXPECT_EQ(IdentityOf(0).world_size, 4);
}

TEST_F(NsysOldNcclTest, CallsAreOfNoneOfSeveralCommunicators) {
  ImportSql(tables_ + Init("10", "20", 1, 4) + Init("21", "25", 0, 2) + Send("30", "40", 2));
  EXPECT_EQ(Number("SELECT count(*) FROM collective_source"), 1);
  EXPECT_EQ(Number("SELECT count(communicator_id) FROM collective_source"), 0);
}

TEST_F(NsysOldNcclTest, ACallBeforeTheFirstWasOfAnUnknownOne) {
  ImportSql(tables_ + Send("5", "8", 2) + Init("10", "20", 1, 4) + Send("30", "40", 2));
  EXPECT_EQ(Number("SELECT count(communicator_id) FROM collective_source"), 0);
}

TEST_F(NsysImporterTest, ClaimsNoKernelForACallWhereItIsNotCertain) {
  ImportSql(kStrings + kKernels + kCalls + kNvtx + Kernel(1000, 1500, 100, 0, 20, 1, 3) +
            Kernel(2000, 2500, 100, 0, 20, 2, 3) + Call(112, 115, 100, 100, 1) +
            Call(116, 118, 100, 100, 2) +
            Nvtx(59, "110", "120", kMain, "'ncclAllReduce'", "domainId", "1") +
            Nvtx(59, "130", "140", kMain, "'ncclBroadcast'", "domainId", "1"));
  EXPECT_EQ(Number("SELECT count(*) FROM collective_source"), 2);
  EXPECT_EQ(Number("SELECT count(begin_ns) FROM collective_source"), 0);
}

TEST_F(NsysImporterTest, BrokenPayloadsAreCountedAndShown) {
  ImportSql(kStrings + kNvtx + kSchemas +
            Nvtx(59, "1", "2", kMain, "'a'", "domainId, binaryData", "1, x'0102'") +
            Nvtx(59, "3", "4", kMain, "'b'", "domainId, binaryData", "1, 'zz'") +
            Nvtx(59, "5", "6", kMain, "'c'", "domainId, binaryData", "1, " + Blob(999, {1})));
  EXPECT_EQ(Number("SELECT count(*) FROM range"), 3);
  EXPECT_EQ(Counted("odd_value"), 2);
  EXPECT_EQ(Text("SELECT payload FROM v_range WHERE name = 'c'"),
            R"({"schema_id":999,"bytes":"0100000000000000"})");
}

TEST_F(NsysImporterTest, KeepsCallsOfTheSystemOnThreadsThatMatter) {
  ImportSql(kStrings + kCalls + Call(10, 12, 100, 100, 1) +
            "CREATE TABLE OSRT_API (start, \"end\", globalTid, nameId, nestingLevel);"
            "INSERT INTO OSRT_API VALUES (20, 90, " +
            Str(kMain) + ", 9, 1), (20, 90, " + Str(GlobalTid(100, 555)) + ", 9, 0)");
  EXPECT_EQ(Text("SELECT domain || ' ' || name || ' ' || depth FROM v_range"), "OS runtime poll 1");
  EXPECT_EQ(Counted("os_call_not_kept"), 1);
  EXPECT_EQ(Number("SELECT count(*) FROM thread"), 1);
}

TEST_F(NsysImporterTest, ReadsOverheadAndMetrics) {
  ImportSql(kStrings + kKernels + Kernel(1, 2, 100, 0, 7, 1) +
            "CREATE TABLE PROFILER_OVERHEAD (start, \"end\", globalTid, nameId, overheadType);"
            "INSERT INTO PROFILER_OVERHEAD VALUES (1, 2, " +
            Str(kMain) + ", 9, 3), (3, 4, " + Str(kMain) +
            ", 9, 0);"
            "CREATE TABLE ENUM_CUPTI_OVERHEAD_TYPE (id INT, name TEXT, label TEXT);"
            "INSERT INTO ENUM_CUPTI_OVERHEAD_TYPE VALUES (3, 'X', 'Buffer flush (Profiler)');"
            "CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INT, metricId INT, metricName TEXT);"
            "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (72057594037927936, 5,"
            " 'SM Active [Throughput %]');"
            "CREATE TABLE GPU_METRICS (timestamp INT, typeId INT, metricId INT, value INT);"
            "INSERT INTO GPU_METRICS VALUES (100, 72057594037927936, 5, 88),"
            " (200, 72057594037927936, 6, 1), (300, 72057594037927937, 5, 2)");
  EXPECT_EQ(Text("SELECT group_concat(s.text) FROM overhead JOIN string AS s ON s.id = kind_id"),
            "Buffer flush (Profiler),poll");
  EXPECT_EQ(Text("SELECT name || ' ' || unit || ' ' || CAST(value AS INT) FROM v_counter"),
            "gpu.SM Active % 88");
  EXPECT_EQ(Counted("row_incomplete"), 1);
  EXPECT_EQ(Counted("not_a_rank"), 1);
}

TEST_F(NsysImporterTest, TellsWhatItDidNotRead) {
  ImportSql(kStrings + kKernels + Kernel(1, 2, 100, 0, 7, 1) +
            "CREATE TABLE SCHED_EVENTS (start INT); INSERT INTO SCHED_EVENTS VALUES (1), (2);"
            "CREATE TABLE ENUM_X (id INT); INSERT INTO ENUM_X VALUES (1);"
            "CREATE VIEW NVTX_EVENTS AS SELECT 1 AS start;"
            "CREATE TABLE DIAGNOSTIC_EVENT (severity INT, text TEXT, globalPid INT);"
            "INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 'fine', NULL), (2, 'buffers lost', NULL)");
  EXPECT_EQ(Counted("table_not_read"), 2);
  EXPECT_EQ(Counted("view_not_read"), 1);
  EXPECT_EQ(Counted("profiler_warning"), 1);
  EXPECT_NE(
      Text("SELECT detail FROM trace_stat WHERE name = 'profiler_warning'").find("buffers lost"),
      std::string::npos);
}

TEST_F(NsysImporterTest, AnExportWithoutEventsIsAnError) {
  const Status status = Import(MakeDatabase(kStrings + kKernels));
  EXPECT_EQ(status.code(), StatusCode::kBadData);
  EXPECT_NE(status.message().find("without events"), std::string::npos);
}

TEST_F(NsysImporterTest, TablesWithoutTheirColumnsAreNoCrash) {
  ImportSql(kStrings + kKernels + Kernel(1, 2, 100, 0, 7, 1) +
            "CREATE TABLE NVTX_EVENTS (text TEXT); INSERT INTO NVTX_EVENTS VALUES ('x');"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (x INT);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INT PRIMARY KEY)"
            " WITHOUT ROWID; INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1);"
            "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (x INT);"
            "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (1);"
            "CREATE TABLE TARGET_INFO_SYSTEM_ENV (x INT);"
            "CREATE TABLE GPU_METRICS (x INT); INSERT INTO GPU_METRICS VALUES (1);"
            "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (x INT); CREATE TABLE ThreadNames (x INT);");
  EXPECT_EQ(Number("SELECT count(*) FROM kernel"), 1);
  EXPECT_EQ(Counted("row_incomplete"), 3);  // a copy, a wait, a metric
}

}  // namespace
}  // namespace tutti::collector::importers::nsys
