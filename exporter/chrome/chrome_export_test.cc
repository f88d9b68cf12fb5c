#include "exporter/chrome/chrome_export.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "exporter/testing/trace_fixture.h"
#include "schema/trace_file.h"

namespace tutti::exporter::chrome {
namespace {

using Json = nlohmann::json;

class ChromeExportTest : public testing::TraceTest {
 protected:
  Json ExportSql(const std::string& sql) {
    auto trace = schema::OpenRankFile(MakeTrace(sql));
    EXPECT_TRUE(trace.ok()) << trace.status().message();
    const std::string path = scratch_.Path("trace.json");
    auto output = OutputFile::Create(path, false);
    EXPECT_TRUE(output.ok());
    auto summary = WriteChromeTrace(*trace, *output);
    EXPECT_TRUE(summary.ok()) << summary.status().message();
    EXPECT_TRUE(output->Finish().ok());
    summary_ = std::move(*summary);
    std::ifstream stream(path);
    Json json = Json::parse(stream);
    EXPECT_EQ(json["traceEvents"].size(), static_cast<size_t>(summary_.events));
    return json;
  }
  // Events other than names.
  static std::vector<Json> Events(const Json& trace) {
    std::vector<Json> events;
    for (const Json& event : trace["traceEvents"]) {
      if (event["ph"] != "M") events.push_back(event);
    }
    return events;
  }

  ChromeSummary summary_;
};

const std::string kRank =
    "INSERT INTO process (pid, host, rank, world_size, attempt) VALUES (900, 'node1', 3, 8, 0);"
    "INSERT INTO thread (tid, kernel_tid, name) VALUES (901, 901, 'trainer');"
    "INSERT INTO string VALUES (0, ''), (1, 'aten::mm'), (2, 'gemm<\"x\">'), (3, "
    "'cudaLaunchKernel'),"
    " (4, '[[2, 3], []]'), (5, 'NCCL'), (6, 'fwd');";

TEST_F(ChromeExportTest, WritesWhoItIsAndWhatItRanOn) {
  const Json trace = ExportSql(
      kRank +
      "INSERT INTO device (id, name, sm_count, compute_capability) VALUES (0, 'H100', 132, '9.0');"
      "INSERT INTO stream (device_id, stream_id) VALUES (0, 7);"
      "INSERT INTO communicator (id, backend, uid, ordinal, group_size, global_ranks)"
      " VALUES (0, 'nccl', '0', 0, 2, '[0,1]')");
  EXPECT_EQ(trace["distributedInfo"]["rank"], 3);
  EXPECT_EQ(trace["distributedInfo"]["world_size"], 8);
  EXPECT_EQ(trace["distributedInfo"]["pg_config"][0]["ranks"], Json({0, 1}));
  EXPECT_EQ(trace["deviceProperties"][0]["numSms"], 132);
  EXPECT_EQ(trace["deviceProperties"][0]["computeMajor"], "9");
  std::map<std::string, std::string> names;
  for (const Json& event : trace["traceEvents"]) {
    names[event["name"].get<std::string>() + " " + event["pid"].dump() + " " +
          event["tid"].dump()] = event["args"].begin()->get<std::string>();
  }
  EXPECT_EQ(names["thread_name 900 901"], "trainer");
  EXPECT_EQ(names["thread_name 0 7"], "stream 7");
  EXPECT_EQ(names["process_labels 900 0"], "rank 3");
}

TEST_F(ChromeExportTest, WritesOperatorsCallsAndKernelsAsKinetoDoes) {
  const Json trace = ExportSql(
      kRank +
      "INSERT INTO cpu_op (id, tid, name_id, scope, begin_ns, end_ns, depth, sequence_nr, "
      "shapes_id,"
      " external_id) VALUES (0, 901, 1, 0, 1000000001, 1000002001, 0, 17, 4, 5);"
      "INSERT INTO api_call (id, tid, name_id, begin_ns, end_ns, correlation_id, external_id, api)"
      " VALUES (0, 901, 3, 1000000101, 1000000201, 44, 5, 'runtime');"
      "INSERT INTO kernel (id, device_id, stream_id, name_id, begin_ns, end_ns, correlation_id,"
      " grid_x, grid_y, grid_z, static_shared_bytes, dynamic_shared_bytes)"
      " VALUES (0, 1, 7, 2, 1000003000, 1000003500, 44, 10, 2, 1, 100, 28),"
      " (1, 1, 7, 2, NULL, NULL, 45, NULL, NULL, NULL, NULL, NULL);");
  EXPECT_EQ(trace["baseTimeNanoseconds"], 1000000001);
  const auto events = Events(trace);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0]["cat"], "cpu_op");
  EXPECT_EQ(events[0]["ts"], 0);
  EXPECT_EQ(events[0]["dur"], 2);
  EXPECT_EQ(events[0]["args"]["Sequence number"], 17);
  EXPECT_EQ(events[0]["args"]["Input Dims"], "[[2, 3], []]");
  EXPECT_EQ(events[1]["cat"], "cuda_runtime");
  EXPECT_EQ(events[1]["args"]["correlation"], 44);
  EXPECT_EQ(events[2]["name"], "gemm<\"x\">");
  EXPECT_EQ(events[2]["pid"], 1);
  EXPECT_EQ(events[2]["tid"], 7);
  EXPECT_EQ(events[2]["args"]["grid"], Json({10, 2, 1}));
  EXPECT_EQ(events[2]["args"]["shared memory"], 128);
  ASSERT_EQ(summary_.messages.size(), 1u);
  EXPECT_NE(summary_.messages[0].find("1 events on GPUs have no time"), std::string::npos);
}

TEST_F(ChromeExportTest, WritesRangesOfAllKindsAndStepsByTheirUsualName) {
  const auto events = Events(ExportSql(
      kRank +
      "INSERT INTO range (id, tid, end_tid, kind, domain_id, category, category_id, name_id,"
      " begin_ns, end_ns, depth) VALUES (0, 901, NULL, 'push_pop', 0, 0, 0, 6, 1000, 3000, 0),"
      " (1, 901, NULL, 'mark', 5, 0, 0, 6, 2000, 2000, 0),"
      " (2, 901, 902, 'start_end', 5, 0, 0, 6, 2000, 4000, 0),"
      " (3, 901, NULL, 'push_pop', 0, 0, 0, 6, 5000, NULL, 0);"
      "INSERT INTO step (id, number, tid, begin_ns, end_ns, origin) VALUES"
      " (0, 12, 901, 1000, 4000, 'annotate')"));
  std::string phases;
  for (const auto& event : events) phases += event["ph"].get<std::string>();
  EXPECT_EQ(phases, "XibeBX");
  EXPECT_EQ(events[1]["cat"], "NCCL");
  EXPECT_EQ(events[2]["id"], events[3]["id"]);
  EXPECT_EQ(events[3]["tid"], 902);
  EXPECT_EQ(events[5]["name"], "ProfilerStep#12");
  EXPECT_EQ(events[5]["cat"], "user_annotation");
}

TEST_F(ChromeExportTest, WritesCopiesMemoryCountersAndFlows) {
  const auto events = Events(ExportSql(
      kRank +
      "INSERT INTO memcpy (id, device_id, stream_id, begin_ns, end_ns, bytes, copy_kind, "
      "source_kind,"
      " destination_kind) VALUES (0, 0, 7, 1000, 2000, 64, 'HtoD', 'pinned', 'device');"
      "INSERT INTO memory_event (id, tid, time_ns, device_type, device_id, address, delta_bytes,"
      " is_oom) VALUES (0, 901, 1500, 'cuda', 0, -16, 512, 0);"
      "INSERT INTO counter (id, name, unit, kind, description) VALUES (0, 'loss', '', 'gauge', '');"
      "INSERT INTO counter_sample VALUES (0, 1600, 2.5);"
      "INSERT INTO flow (id, kind, name_id, begin_tid, begin_ns, end_device_id, end_stream_id,"
      " end_ns) VALUES (0, 'launch', 0, 901, 1000, 0, 7, 1100);"));
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events[0]["name"], "Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(events[1]["ph"], "s");
  EXPECT_EQ(events[2]["ph"], "f");
  EXPECT_EQ(events[2]["pid"], 0);
  EXPECT_EQ(events[1]["id"], events[2]["id"]);
  EXPECT_EQ(events[3]["name"], "[memory]");
  EXPECT_EQ(events[3]["args"]["Device Type"], 1);
  EXPECT_EQ(events[3]["args"]["Addr"], -16);
  EXPECT_EQ(events[4]["args"]["value"], 2.5);
}

TEST_F(ChromeExportTest, TellsWhatCollectivesMove) {
  const auto events = Events(ExportSql(
      kRank +
      "INSERT INTO string VALUES (7, 'record_param_comms'), (8, 'all_to_all'), (9, 'bfloat16'),"
      " (10, 'reduce_scatter');"
      "INSERT INTO communicator (id, backend, uid, ordinal, group_size, global_ranks)"
      " VALUES (4, 'nccl', 'g4', 0, 4, '[0,2,4,6]');"
      "INSERT INTO cpu_op (id, tid, name_id, scope, begin_ns, end_ns, depth, shapes_id)"
      " VALUES (0, 901, 7, 0, 100, 200, 0, 0), (1, 901, 1, 0, 100, 150, 1, 0);"
      "INSERT INTO kernel (id, device_id, stream_id, name_id, begin_ns, end_ns, correlation_id)"
      " VALUES (0, 0, 7, 2, 300, 400, 44);"
      "INSERT INTO collective_source (id, origin, communicator_id, sequence, op_id, dtype_id, "
      "bytes,"
      " enqueue_ns, begin_ns, end_ns, enqueue_tid, device_id, correlation_id) VALUES"
      " (0, 'c10d', 4, 11, 8, 9, 64, 100, 100, 200, 901, NULL, NULL),"
      " (1, 'kernel', 4, 12, 10, 9, 64, NULL, 300, 400, NULL, 0, 44),"
      " (2, 'gloo_op', NULL, NULL, 8, 0, NULL, NULL, 1, 2, NULL, NULL, NULL);"));
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0]["args"]["Collective name"], "all_to_all");
  EXPECT_EQ(events[0]["args"]["In msg nelems"], 64 / 2 * 4);
  EXPECT_EQ(events[0]["args"]["Process Group Ranks"], "[0,2,4,6]");
  EXPECT_EQ(events[0]["args"]["Seq"], 11);
  EXPECT_FALSE(events[1].value("args", nlohmann::json::object()).contains("Collective name"));
  EXPECT_EQ(events[2]["args"]["Out msg nelems"], 32);
  EXPECT_NE(summary_.messages.at(0).find("1 collectives"), std::string::npos);
}

}  // namespace
}  // namespace tutti::exporter::chrome
