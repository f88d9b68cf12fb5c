#include "collector/importers/kineto/kineto_importer.h"

#include <isa-l/igzip_lib.h>

#include <string>

#include "collector/importers/kineto/category.h"
#include "collector/importers/kineto/collective_rows.h"
#include "collector/importers/kineto/context.h"
#include "collector/importers/kineto/flow_rows.h"
#include "collector/importers/kineto/groups.h"
#include "collector/importers/kineto/span_stack.h"
#include "collector/importers/kineto/testing/import_fixture.h"
#include "collector/importers/kineto/testing/text_source.h"
#include "gmock/gmock.h"

namespace tutti::collector::importers::kineto {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::KinetoTest;

TEST(LooksLikeTrace, TellsTracesFromOtherJson) {
  EXPECT_TRUE(LooksLikeTrace(R"({"schemaVersion": 1, "deviceProperties": [)"));
  EXPECT_TRUE(LooksLikeTrace("\xef\xbb\xbf [ {\"ph\": \"X\""));
  EXPECT_TRUE(LooksLikeTrace("["));
  EXPECT_FALSE(LooksLikeTrace(""));
  EXPECT_FALSE(LooksLikeTrace(R"({"schema": "1.0.1", "nodes": [)"));
  EXPECT_FALSE(LooksLikeTrace(R"("ph")"));
  EXPECT_FALSE(LooksLikeTrace(R"([[{"_name": "aten::mm"}]])"));
}

TEST(FindBaseTime, FindsTheLastKeyWithANumber) {
  EXPECT_EQ(FindBaseTime(R"({"baseTimeNanoseconds" : 1775078550000000000, "x": 1})"),
            1775078550000000000);
  EXPECT_EQ(FindBaseTime(R"("name":"\"baseTimeNanoseconds\": 5", "y")"), std::nullopt);
  EXPECT_EQ(FindBaseTime("}"), std::nullopt);
}

// ns     0   10   20   30   40   50
// a      [===================)
// b      [=========)
// c           [=========)          overlaps b, ends in a
// d                     [====)     after b, inside a and at the end of c
// e                          [====)
TEST(SpanStack, CountsTheSpansThatAreOpen) {
  SpanStack stack;
  EXPECT_EQ(stack.Enter(0, 40), 0);
  EXPECT_EQ(stack.Enter(0, 20), 1);
  EXPECT_EQ(stack.Enter(10, 30), 2);
  EXPECT_EQ(stack.Enter(30, 40), 1);
  EXPECT_EQ(stack.Enter(40, 50), 0);
  EXPECT_FALSE(stack.is_disordered());
  EXPECT_EQ(stack.Enter(41, std::nullopt), 1);  // to the end of e
  EXPECT_EQ(stack.Enter(50, 60), 0);
  stack.Enter(49, 50);
  EXPECT_TRUE(stack.is_disordered());
}

TEST(ParseRanks, KnowsWhetherAllArePrinted) {
  EXPECT_THAT(ParseRanks("[0, 2, 4]").ranks, ElementsAre(0, 2, 4));
  EXPECT_FALSE(ParseRanks("[0, 2, 4]").is_elided);
  EXPECT_TRUE(ParseRanks("[0, 1, ..., 7]").is_elided);
  EXPECT_TRUE(ParseRanks("[]").ranks.empty());
}

TEST(CollectiveOp, SpeaksTheTablesWords) {
  EXPECT_EQ(CollectiveOp("_allgather_base"), "all_gather");
  EXPECT_EQ(CollectiveOp("allreduce_coalesced"), "all_reduce");
  EXPECT_EQ(CollectiveOp("_reduce_scatter_base"), "reduce_scatter");
  EXPECT_EQ(CollectiveOp("all_to_allv"), "all_to_all");
  EXPECT_EQ(CollectiveOp("Default/AllReduce-op534_0"), "all_reduce");
  EXPECT_EQ(CollectiveOp("reduce"), "reduce");
  EXPECT_EQ(CollectiveOp("wait"), "");
  EXPECT_EQ(DtypeOf("BFloat16").name, "bfloat16");
  EXPECT_EQ(DtypeOf("c10::Half").bytes, 2);
  EXPECT_EQ(DtypeOf("Quaternion").bytes, 0);
}

TEST(KindOf, KnowsSpellingsOfEveryAge) {
  EXPECT_EQ(KindOf("Operator"), Kind::kOp);
  EXPECT_EQ(KindOf("xpu_runtime"), Kind::kRuntimeCall);
  EXPECT_EQ(KindOf("mtia_ccp_events"), Kind::kKernel);
  EXPECT_EQ(KindOf("devtools.timeline"), Kind::kBrowser);
  EXPECT_EQ(KindOf("forward-compute"), Kind::kOther);
}

TEST_F(KinetoTest, TakesTheBaseTimeFromBehindTheEvents) {
  ImportText(R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,
      "ts":0.001,"dur":0.5}],"baseTimeNanoseconds":1775078550000000000})");
  EXPECT_EQ(Number("SELECT begin_ns FROM cpu_op"), 1775078550000000001);
  EXPECT_EQ(Number("SELECT end_ns FROM cpu_op"), 1775078550000000501);
}

// A base that neither the beginning nor the end of the text shows moves what was written.
TEST_F(KinetoTest, MovesTimesByABaseThatIsFoundLate) {
  ImportText(
      R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2}],
      "baseTimeNanoseconds":5000, "long":")" +
      std::string(3 << 20, 'x') + R"("})");
  EXPECT_EQ(Number("SELECT begin_ns FROM kernel"), 6000);
  EXPECT_EQ(Odd("late_base_time"), 1);
}

TEST_F(KinetoTest, Reads2021) {
  ImportEvents(R"(
    {"ph":"X","cat":"Operator","name":"aten::add","pid":9,"tid":"3004819264","ts":10,"dur":5,
     "args":{"Device":0,"External id":2,"Input dims":[[8, 4],[]],"Input names":[],"Output dims":[]}},
    {"ph":"X","cat":"Runtime","name":"cudaLaunchKernel","pid":9,"tid":"3004819264","ts":11,"dur":2,
     "args":{"cbid":211,"correlation":30,"external id":2}},
    {"ph":"s","id":30,"pid":9,"tid":3004819264,"ts":11,"cat":"async","name":"launch"},
    {"ph":"X","cat":"Kernel","name":"add","pid":0,"tid":"stream 7","ts":20,"dur":3,
     "args":{"device":0,"context":1,"stream":7,"correlation":30,"grid":[2, 1, 1],"block":[128,1,1]}},
    {"ph":"f","id":30,"pid":0,"tid":"stream 7","ts":20,"cat":"async","name":"launch","bp":"e"},
    {"ph":"i","s":"t","name":"[memory]","pid":9,"tid":9,"ts":12,
     "args":{"Device Type":0,"Device Id":-1,"Bytes":4}})");
  EXPECT_EQ(Text("SELECT text FROM cpu_op JOIN string AS s ON s.id = shapes_id"), "[[8,4],[]]");
  EXPECT_EQ(Number("SELECT tid FROM cpu_op"), 3004819264);
  EXPECT_EQ(Text("SELECT device_id || ',' || stream_id || ',' || grid_x FROM kernel"), "0,7,2");
  EXPECT_EQ(
      Text("SELECT kind || begin_tid || ',' || end_device_id || ',' || end_stream_id FROM flow"),
      "launch3004819264,0,7");
  EXPECT_EQ(Text("SELECT device_type || delta_bytes FROM memory_event"), "cpu4");
  EXPECT_EQ(Odd("duplicate_keys"), 0);
}

TEST_F(KinetoTest, TellsWhoTheRankIs) {
  ImportText(
      R"json({"schemaVersion":1,"deviceProperties":[{"id":3,"name":"H100","totalGlobalMem":85,
      "computeMajor":9,"computeMinor":0,"numSms":132,"warpSize":32}],
    "cupti_version":28,"host_name":"node7",
    "distributedInfo":{"backend":"nccl","rank":2,"world_size":4,"pg_config":[
      {"pg_name":"0","pg_desc":"default_pg","backend_config":"cuda:nccl","pg_size":4,"ranks":[0,1,2,3]},
      {"pg_name":"1","backend_config":"cpu:gloo","ranks":[0,2]}]},
    "traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":42,"tid":42,"ts":1,"dur":1},
      {"ph":"X","cat":"kernel","name":"k","pid":3,"tid":7,"ts":1,"dur":1},
      {"ph":"M","name":"process_name","pid":42,"tid":0,"args":{"name":"python"}},
      {"ph":"M","name":"thread_name","pid":42,"tid":42,"args":{"name":"thread 42 (train)"
}
}]
})json");
  EXPECT_EQ(sink().identity.rank, 2);
  EXPECT_EQ(sink().identity.world_size, 4);
  EXPECT_EQ(sink().identity.pid, 42);
  EXPECT_EQ(sink().identity.device, 3);
  EXPECT_EQ(sink().identity.host, "node7");
  EXPECT_EQ(Text("SELECT name || sm_count || compute_capability FROM device"), "H1001329.0");
  EXPECT_EQ(Text("SELECT name || role FROM thread"), "trainmain");
  EXPECT_EQ(Text("SELECT group_concat(backend || uid || global_ranks || group_rank, ' ') FROM "
                 "(SELECT * FROM communicator ORDER BY uid)"),
            "nccl0[0,1,2,3]2 gloo1[0,2]1");
  EXPECT_EQ(Text("SELECT producer FROM import_source"), "PyTorch Kineto; CUPTI 28");
}

TEST_F(KinetoTest, LinksCallsOfC10dToTheirKernels) {
  const std::string meta =
      R"("Collective name":"_allgather_base","In msg nelems":10,"Out msg nelems":40,
         "Group size":4,"dtype":"Float","Process Group Name":"0",
         "Process Group Ranks":"[0, 1, ..., 3]","Global rank start":0,"Global rank stride":1)";
  ImportEvents(R"({"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":1,"tid":1,"ts":10,
     "dur":9,"args":{)" +
               meta + R"(,"Seq":5}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernelExC","pid":1,"tid":1,"ts":12,"dur":2,
     "args":{"correlation":77}},
    {"ph":"X","cat":"kernel","name":"ncclDevKernel_AllGather","pid":0,"tid":20,"ts":30,"dur":8,
     "args":{"device":0,"stream":20,"correlation":77,)" +
               meta + "}}");
  EXPECT_EQ(Text("SELECT group_concat(origin || correlation_id || ',' || bytes, ' ') FROM "
                 "collective_source"),
            "c10d77,40 kernel77,40");
  EXPECT_EQ(Number("SELECT count(DISTINCT communicator_id) FROM collective_source"), 1);
  EXPECT_EQ(Text("SELECT global_ranks FROM communicator"), "[0,1,2,3]");
  EXPECT_EQ(Number("SELECT sequence FROM collective_source WHERE origin = 'c10d'"), 5);
}

TEST_F(KinetoTest, KeepsGlooOperationsOfCpuTraining) {
  ImportEvents(R"({"ph":"X","cat":"user_annotation","name":"gloo:all_reduce","pid":1,"tid":5,
    "ts":10,"dur":9,"args":{"Input type":["float"],"Input Dims":[[100]]}})");
  EXPECT_EQ(Text("SELECT origin || bytes FROM collective_source"), "gloo_op400");
  EXPECT_EQ(Text("SELECT role FROM thread"), "gloo");
}

TEST_F(KinetoTest, KnowsStepsOptimizersAndLoadersByName) {
  ImportEvents(
      R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#12","pid":1,"tid":1,"ts":0,"dur":90},
    {"ph":"X","cat":"user_annotation","name":"enumerate(DataLoader)#_Iter.__next__","pid":1,"tid":1,"ts":1,"dur":2},
    {"ph":"X","cat":"user_annotation","name":"Optimizer.step#SGD.step","pid":1,"tid":1,"ts":50,"dur":9})");
  EXPECT_EQ(Text("SELECT number || origin FROM step"), "12profiler_step");
  EXPECT_EQ(Text("SELECT phase FROM phase"), "optimizer");
  EXPECT_EQ(Text("SELECT text FROM data_wait JOIN string AS s ON s.id = loader_id"), "_Iter");
  EXPECT_EQ(Text("SELECT group_concat(depth, '') FROM (SELECT depth FROM range ORDER BY begin_ns)"),
            "011");
}

TEST_F(KinetoTest, MatchesHalvesInAnyOrder) {
  ImportEvents(R"({"ph":"E","pid":1,"tid":1,"ts":9,"name":"in"},
    {"ph":"B","pid":1,"tid":1,"ts":1,"name":"out"},{"ph":"B","pid":1,"tid":1,"ts":2,"name":"in"},
    {"ph":"E","pid":1,"tid":1,"ts":10},{"ph":"E","pid":1,"tid":1,"ts":11},
    {"ph":"B","pid":1,"tid":2,"ts":12,"name":"open"},
    {"ph":"b","cat":"x","id":"0x1","pid":1,"tid":1,"ts":3,"name":"async"},
    {"ph":"e","cat":"x","id":"0x1","pid":1,"tid":2,"ts":8,"name":"async"},
    {"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":1,"name":"op"})");
  EXPECT_EQ(Text("SELECT group_concat(t, ' ') FROM (SELECT s.text || kind || depth || ':' || "
                 "ifnull(end_ns, '-') AS t FROM range JOIN string AS s ON s.id = name_id ORDER BY "
                 "begin_ns)"),
            "outpush_pop0:10000 inpush_pop1:9000 asyncstart_end0:8000 openpush_pop0:-");
  EXPECT_EQ(Number("SELECT end_tid FROM range WHERE kind = 'start_end'"), 2);
  EXPECT_EQ(Odd("end_without_begin"), 1);
  EXPECT_EQ(Odd("begin_without_end"), 1);
}

TEST_F(KinetoTest, ReadsAscendAndIntel) {
  ImportEvents(R"({"name":"process_name","pid":3,"args":{"name":"Ascend Hardware"},"ph":"M"},
    {"name":"MatMul","pid":3,"tid":2,"ts":1,"dur":5,"args":{"Task Type":"AI_CORE","Stream Id":2},"ph":"X"},
    {"name":"EVENT_WAIT","pid":3,"tid":4,"ts":1,"dur":5,"args":{"Task Type":"EVENT_WAIT","Stream Id":4},"ph":"X"},
    {"name":"process_name","pid":11,"args":{"name":"HCCL"},"ph":"M"},
    {"name":"Default/AllReduce-op5","pid":11,"tid":70000,"ts":7,"dur":9,"ph":"X"},
    {"name":"zeCommandListAppendLaunchKernel","pid":1,"tid":1,"ts":1,"dur":1,"ph":"X"},
    {"name":"gemm[SIMD32 {64; 2; 1} {16; 16; 1}]","pid":1,"tid":2,"ts":3,"dur":4,"ph":"X"})");
  EXPECT_EQ(Text("SELECT group_concat(stream_id || ',' || ifnull(grid_y, '-'), ' ') FROM kernel"),
            "2,- 2,2");
  EXPECT_EQ(Text("SELECT kind || stream_id FROM sync"), "event_wait4");
  EXPECT_EQ(Text("SELECT s.text FROM collective_source JOIN string AS s ON s.id = op_id"),
            "all_reduce");
  EXPECT_EQ(Text("SELECT api FROM api_call"), "driver");
}

TEST_F(KinetoTest, CountsWhatNoTableHolds) {
  ImportEvents(R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1,
      "args":{"Ev Idx":1,"novel":"x","External id":1,"External id":2}},
    {"ph":"C","name":"power","pid":1,"ts":2,"args":{"watts":250.5,"limit":300}},
    {"ph":"O","name":"object","pid":1,"ts":2},{"name":"phaseless"},
    {"ph":"X","cat":"cpu_op","name":"timeless","pid":1,"tid":1,"ts":"soon"},
    {"ph":"X","cat":"novel_cat","name":"n","pid":1,"tid":1,"ts":5,"dur":1})");
  EXPECT_EQ(Odd("unknown_event"), 1);
  EXPECT_EQ(Odd("event_without_phase"), 1);
  EXPECT_EQ(Odd("event_without_time"), 1);
  EXPECT_EQ(Odd("unknown_category"), 1);
  EXPECT_EQ(Odd("duplicate_keys"), 1);
  EXPECT_EQ(Number("SELECT external_id FROM cpu_op"), 2);
  EXPECT_EQ(Number("SELECT count(*) FROM trace_stat WHERE name = 'argument_not_kept'"), 2);
  EXPECT_THAT(Text("SELECT detail FROM trace_stat WHERE detail LIKE '%novel =%'"),
              HasSubstr("byte 16"));
  EXPECT_EQ(Text("SELECT group_concat(name, ' ') FROM counter"), "power.watts power.limit");
  EXPECT_EQ(Text("SELECT s.text FROM range JOIN string AS s ON s.id = domain_id"), "novel_cat");
}

TEST_F(KinetoTest, RefusesABrowsersTrace) {
  const std::string path = ScratchPath("browser.json");
  std::ofstream(path) << R"([{"ph":"X","cat":"devtools.timeline","name":"Layout","pid":1,"tid":1,
    "ts":1,"dur":2}])";
  const Status status = ImportFile(path);
  EXPECT_EQ(status.code(), StatusCode::kBadData);
  EXPECT_THAT(status.message(), HasSubstr("of a browser"));
}

TEST_F(KinetoTest, ReadsADamagedFileUpToTheDamage) {
  std::string json = "[";
  for (int event = 0; event < 20'000; ++event) {
    json += R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":)" + std::to_string(event) +
            R"(,"dur":1},)";
  }
  isal_zstream stream;
  isal_deflate_init(&stream);
  std::string packed(json.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<uint8_t*>(json.data());
  stream.avail_in = static_cast<uint32_t>(json.size());
  stream.next_out = reinterpret_cast<uint8_t*>(packed.data());
  stream.avail_out = static_cast<uint32_t>(packed.size());
  stream.end_of_stream = 1;
  stream.gzip_flag = IGZIP_GZIP;
  ASSERT_EQ(isal_deflate(&stream), COMP_OK);
  packed.resize(stream.total_out / 2);
  ImportText(packed);
  EXPECT_GT(Count("cpu_op"), 5'000);
  EXPECT_EQ(Odd("source_damaged"), 1);
  EXPECT_EQ(Odd("truncated"), 1);
}

// Arrows that had to go to temporary files are joined there as well.
TEST_F(KinetoTest, JoinsArrowsOnDiskLikeThoseInMemory) {
  for (const size_t kept : {size_t{10}, size_t{1} << 20}) {
    auto trace = TraceSink::Create(ScratchPath("flows" + std::to_string(kept)));
    ASSERT_TRUE(trace.ok());
    Context context(**trace, 0);
    FlowRows flows(context, kept);
    for (int arrow = 0; arrow < 5'000; ++arrow) {
      const std::string id = std::to_string(arrow);
      const std::string time = std::to_string(arrow * 10);
      RawEvent event;
      event.category = "\"fwdbwd\"";
      event.name = "\"fwdbwd\"";
      event.id = id;
      event.time = time;
      if (arrow % 2 == 0) flows.OnFlow(event, 'f');
      if (arrow % 5 != 0) flows.OnFlow(event, 's');
      if (arrow % 3 == 0) flows.OnFlow(event, 'f');
    }
    flows.Finish();
    // Ends by arrow, where there is a start; starts and ends alone.
    int64_t expected = 0;
    int64_t dangling = 0;
    for (int arrow = 0; arrow < 5'000; ++arrow) {
      const int ends = (arrow % 2 == 0 ? 1 : 0) + (arrow % 3 == 0 ? 1 : 0);
      const bool has_start = arrow % 5 != 0;
      expected += has_start ? ends : 0;
      dangling += has_start ? (ends == 0 ? 1 : 0) : ends;
    }
    EXPECT_EQ((*trace)->NextId<schema::FlowRow>(), expected);
    context.ledger.Flush(**trace);
    EXPECT_EQ((*trace)->oddities().CountOf("flow_dangling"), dangling);
  }
}

}  // namespace
}  // namespace tutti::collector::importers::kineto
