// Real traces and small broken ones of the reference folder beside the checkout (or in
// TUTTI_SHARED): imported and compared with counts that Python makes of the file itself,
// and with the facts that the cases state.
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "collector/importers/kineto/testing/import_fixture.h"

namespace tutti::collector::importers::kineto {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

fs::path SharedFolder() {
  const char* set = std::getenv("TUTTI_SHARED");  // NOLINT(concurrency-mt-unsafe)
  return set != nullptr ? fs::path(set) : fs::path(TUTTI_SOURCE_DIR) / ".." / "shared";
}

// Counts by name, as testing/count_events.py prints them.
std::map<std::string, int64_t> PythonCounts(const fs::path& trace) {
  const fs::path script =
      fs::path(TUTTI_SOURCE_DIR) / "collector/importers/kineto/testing/count_events.py";
  const std::string command = "python3 '" + script.string() + "' '" + trace.string() + "'";
  std::FILE* pipe = ::popen(command.c_str(), "r");  // NOLINT(cert-env33-c)
  std::string output;
  char buffer[4096];
  while (const size_t got = std::fread(buffer, 1, sizeof(buffer), pipe)) output.append(buffer, got);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  std::map<std::string, int64_t> counts;
  std::istringstream lines(output);
  std::string name;
  int64_t value = 0;
  while (lines >> name >> value) counts[name] = value;
  return counts;
}

struct Query {
  const char* name;
  const char* sql;
};

constexpr Query kQueries[] = {
    {"cpu_op", "SELECT count(*) FROM cpu_op"},
    {"cpu_op_ns", "SELECT sum(end_ns - begin_ns) FROM cpu_op"},
    {"external_id", "SELECT sum(external_id) FROM cpu_op"},
    {"first_op_ns", "SELECT min(begin_ns) FROM cpu_op"},
    {"python_call", "SELECT count(*) FROM python_call"},
    {"python_call_ns", "SELECT sum(end_ns - begin_ns) FROM python_call"},
    {"python_id", "SELECT sum(python_id) FROM python_call"},
    {"api_call", "SELECT count(*) FROM api_call"},
    {"api_call_ns", "SELECT sum(end_ns - begin_ns) FROM api_call"},
    {"api_call_correlation", "SELECT sum(correlation_id) FROM api_call"},
    {"kernel", "SELECT count(*) FROM kernel"},
    {"kernel_ns", "SELECT sum(end_ns - begin_ns) FROM kernel"},
    {"kernel_correlation", "SELECT sum(correlation_id) FROM kernel"},
    {"grid_x",
     "SELECT sum(grid_x) FROM kernel WHERE name_id NOT IN "
     "(SELECT id FROM string WHERE text LIKE '%[SIMD%')"},
    {"memcpy", "SELECT count(*) FROM memcpy"},
    {"memcpy_ns", "SELECT sum(end_ns - begin_ns) FROM memcpy"},
    {"memcpy_bytes", "SELECT sum(bytes) FROM memcpy"},
    {"memset", "SELECT count(*) FROM memset"},
    {"sync", "SELECT count(*) FROM sync"},
    {"sync_ns", "SELECT sum(end_ns - begin_ns) FROM sync"},
    {"gpu_range", "SELECT count(*) FROM gpu_range"},
    {"gpu_range_ns", "SELECT sum(end_ns - begin_ns) FROM gpu_range"},
    {"overhead", "SELECT count(*) FROM overhead"},
    {"range", "SELECT count(*) FROM range WHERE kind = 'push_pop'"},
    {"mark", "SELECT count(*) FROM range WHERE kind = 'mark'"},
    {"memory_event", "SELECT count(*) FROM memory_event"},
    {"memory_bytes", "SELECT sum(delta_bytes) FROM memory_event"},
    {"counter_sample", "SELECT count(*) FROM counter_sample"},
    {"flow", "SELECT count(*) FROM flow"},
    {"step", "SELECT count(*) FROM step"},
    {"events", "SELECT events_read + events_skipped FROM import_source"},
    {"end_without_begin", "SELECT sum(count) FROM trace_stat WHERE name = 'end_without_begin'"},
};

bool IsTrace(const fs::path& path, const std::string& described) {
  const bool is_json = path.filename().string().find(".json") != std::string::npos;
  return is_json && described.find("Chrome-trace") != std::string::npos &&
         path.string().find("straggler-analysis") == std::string::npos;
}

// Traces of the reference folder, by its list.
std::vector<fs::path> Traces() {
  std::vector<fs::path> traces;
  std::ifstream list(SharedFolder() / "traces" / "MANIFEST.tsv");
  std::string line;
  while (std::getline(list, line)) {
    const fs::path path = SharedFolder() / "traces" / line.substr(0, line.find('\t'));
    if (IsTrace(path, line)) traces.push_back(path);
  }
  return traces;
}

Json FactsOf(const fs::path& case_folder) {
  std::ifstream stream(case_folder / "expected.md");
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  const size_t begin = text.find("```json") + 7;
  return Json::parse(text.substr(begin, text.find("```", begin) - begin));
}

class SharedFilesTest : public testing::KinetoTest {
 protected:
  void SetUp() override {
    if (!fs::exists(SharedFolder() / "cases")) {
      GTEST_SKIP() << "no reference files at " << SharedFolder();
    }
  }
  // Imports a file of a case and gives the case's facts.
  Json Case(const std::string& folder, const std::string& file = "trace.json") {
    const fs::path path = SharedFolder() / "cases" / folder;
    const Status imported = ImportFile(path / file);
    EXPECT_TRUE(imported.ok()) << imported.message();
    return FactsOf(path);
  }
};

TEST_F(SharedFilesTest, GivesWhatPythonCounts) {
  const std::vector<fs::path> traces = Traces();
  ASSERT_GT(traces.size(), 50U);
  int imported = 0;
  for (const fs::path& trace : traces) {
    SCOPED_TRACE(trace);
    const Status status = ImportFile(trace);
    if (trace.string().find("speedscope/Chrome") != std::string::npos) {
      EXPECT_NE(status.message().find("of a browser"), std::string::npos) << status.message();
      continue;
    }
    ASSERT_TRUE(status.ok()) << status.message();
    std::map<std::string, int64_t> expected = PythonCounts(trace);
    for (const Query& query : kQueries) {
      EXPECT_EQ(Number(query.sql), expected[query.name]) << query.name;
    }
    EXPECT_EQ(Number("SELECT count(*) FROM trace_stat WHERE name IN "
                     "('row_rejected', 'event_malformed', 'truncated', 'document_malformed')"),
              0);
    ++imported;
  }
  EXPECT_GT(imported, 50);
}

TEST_F(SharedFilesTest, PassesOverRawQuotes) {
  const Json facts = Case("01-unescaped-quote");
  EXPECT_EQ(Number("SELECT events_read FROM import_source"), facts["events_healthy"]);
  EXPECT_EQ(Odd("event_malformed"), facts["events_malformed"]);
  for (const std::string name : facts["healthy_names"]) {
    EXPECT_EQ(Number("SELECT count(*) FROM string WHERE text = '" + name + "'"), 1) << name;
  }
  EXPECT_NE(Text("SELECT detail FROM trace_stat WHERE name = 'event_malformed'").find("byte 299"),
            std::string::npos);
}

TEST_F(SharedFilesTest, KeepsControlBytesAndRepairsUtf8) {
  Json facts = Case("02-control-character");
  EXPECT_EQ(Number("SELECT events_read FROM import_source"), facts["events"]);
  EXPECT_EQ(Odd("control_bytes"), facts["names_with_control_bytes"]);
  facts = Case("03-invalid-utf8");
  EXPECT_EQ(Number("SELECT events_read FROM import_source"), facts["events"]);
  EXPECT_EQ(Odd("invalid_utf8"), facts["names_repaired"]);
  EXPECT_EQ(Number("SELECT (SELECT sum(end_ns - begin_ns) FROM python_call) + (SELECT sum(end_ns - "
                   "begin_ns) FROM cpu_op) + (SELECT sum(end_ns - begin_ns) FROM kernel)"),
            facts["sum_dur"].get<int64_t>() * 1000);
}

TEST_F(SharedFilesTest, TakesNumbersThatAreNotFinite) {
  const Json facts = Case("05-inf-and-nan");
  EXPECT_EQ(Count("memcpy"), facts["events"]);
  EXPECT_EQ(Number("SELECT sum(bytes) FROM memcpy"), facts["bytes_total"]);
  EXPECT_EQ(Number("SELECT sum(end_ns - begin_ns) FROM memcpy"),
            facts["memcpy_time"].get<int64_t>() * 1000);
  EXPECT_EQ(Odd("non_finite_number"), 3);
}

TEST_F(SharedFilesTest, ReadsWhatIsThereOfTruncatedFiles) {
  for (const char* file : {"a", "b", "c", "e"}) {
    const Json facts = Case("06-truncated-json", std::string(file) + ".json");
    EXPECT_EQ(Number("SELECT events_read FROM import_source"), facts[file]) << file;
    EXPECT_EQ(Odd("truncated"), 1) << file;
  }
}

TEST_F(SharedFilesTest, KeepsLargeIntegersExactly) {
  const Json facts = Case("10-integers-over-int64");
  EXPECT_EQ(Number("SELECT events_read FROM import_source"), facts["events"]);
  EXPECT_EQ(Text("SELECT uid FROM communicator"), facts["comms_id"].get<std::string>());
  EXPECT_EQ(Number("SELECT count(*) FROM trace_stat WHERE instr(detail, 'other = " +
                   facts["too_big_id"].get<std::string>() + "') > 0"),
            1);
  EXPECT_EQ(Number("SELECT count(*) FROM kernel JOIN api_call USING (correlation_id)"),
            facts["linked_kernels"]);
}

TEST_F(SharedFilesTest, TellsUntimedInvalidAndCorruptKernels) {
  Json facts = Case("13-zero-timestamp-kernels");
  EXPECT_EQ(Number("SELECT count(begin_ns) FROM kernel"), facts["kernels_timed"]);
  EXPECT_EQ(Odd("device_event_untimed"), facts["kernels_untimed"]);
  EXPECT_EQ(Number("SELECT sum(end_ns - begin_ns) FROM kernel"),
            facts["gpu_busy"].get<int64_t>() * 1000);
  EXPECT_EQ(Number("SELECT end_ns - begin_ns FROM process"), facts["span"].get<int64_t>() * 1000);
  facts = Case("14-sub-microsecond");
  EXPECT_EQ(Number("SELECT sum(end_ns - begin_ns) FROM kernel"), 1231);
  EXPECT_EQ(Number("SELECT count(begin_ns) FROM kernel"), facts["kernels_valid"]);
  EXPECT_EQ(Odd("device_event_invalid"), facts["kernels_invalid"]);
  EXPECT_EQ(Odd("unfinished_event"), facts["unfinished_ops"]);
  EXPECT_EQ(Number("SELECT count(*) FROM cpu_op WHERE end_ns IS NULL AND depth = 1"),
            facts["unfinished_ops"]);
  facts = Case("15-absurd-duration");
  EXPECT_EQ(Number("SELECT sum(end_ns - begin_ns) FROM kernel"),
            facts["kernel_total"].get<int64_t>() * 1000);
  EXPECT_EQ(Odd("absurd_duration"), facts["corrupt"]);
  EXPECT_EQ(Number("SELECT end_ns - begin_ns FROM process"), facts["span"].get<int64_t>() * 1000);
}

TEST_F(SharedFilesTest, KeepsOverlapsSkewAndEmptyKernels) {
  Json facts = Case("17-pdl-overlap");
  EXPECT_EQ(Count("kernel"), facts["kernels"]);
  EXPECT_EQ(Number("SELECT sum(end_ns - begin_ns) FROM kernel"),
            facts["sum_dur"].get<int64_t>() * 1000);
  facts = Case("18-kernel-before-launch");
  EXPECT_EQ(Number("SELECT count(*) FROM kernel JOIN api_call USING (correlation_id)"),
            facts["linked"]);
  EXPECT_EQ(Number("SELECT max(a.begin_ns - k.begin_ns) FROM kernel AS k JOIN api_call AS a USING "
                   "(correlation_id)"),
            600);
  facts = Case("23-zero-duration");
  EXPECT_EQ(Count("kernel") + Count("memset"), facts["gpu_events"]);
}

TEST_F(SharedFilesTest, MakesTheSameTreeOfAnyOrder) {
  const char* const kTree =
      "SELECT group_concat(t) FROM (SELECT s.text || o.depth AS t FROM cpu_op AS o JOIN string AS "
      "s ON s.id = o.name_id ORDER BY o.begin_ns)";
  const Json facts = Case("20-file-order", "a.json");
  const std::string sorted = Text(kTree);
  EXPECT_EQ(sorted, "outer0,SkinMesh1,SimMesh1,tie1,tie_child2,after0");
  EXPECT_EQ(Count("cpu_op"), facts["events"]);
  Case("20-file-order", "b.json");
  EXPECT_EQ(Text(kTree), sorted);
}

TEST_F(SharedFilesTest, PutsRanksWithDifferentBasesOnOneAxis) {
  const Json facts = Case("24-base-time", "rank0.json");
  for (size_t rank = 0; rank < 3; ++rank) {
    Case("24-base-time", "rank" + std::to_string(rank) + ".json");
    EXPECT_EQ(Text("SELECT CAST(end_ns AS TEXT) FROM kernel"),
              facts["allreduce_end_abs_ns"][rank].get<std::string>());
  }
}

TEST_F(SharedFilesTest, KeepsMetadataOfCollectives) {
  Json facts = Case("31-comm-without-metadata");
  EXPECT_EQ(Count("collective_source"), facts["with_metadata"]);
  EXPECT_EQ(Count("kernel") - Count("collective_source"), facts["without_metadata"]);
  facts = Case("33-bus-bandwidth");
  ASSERT_EQ(Count("collective_source"), static_cast<int64_t>(facts.size()));
  // The facts count whole buffers, the table what nccl-tests counts.
  const int64_t expected[] = {67108864, 4194304, 4194304, 4194304, 2097152, 2097152, 4096};
  for (size_t row = 0; row < facts.size(); ++row) {
    EXPECT_EQ(Number("SELECT bytes FROM collective_source WHERE id = " + std::to_string(row)),
              expected[row]);
  }
  Case("35-matching-across-groups", "rank3.json");
  EXPECT_EQ(Number("SELECT min(sequence) FROM collective_source"), 101);
  EXPECT_EQ(Text("SELECT group_concat(uid || global_ranks || group_rank) FROM communicator"),
            "dp1[1,3]1,tp1[2,3]1");
}

TEST_F(SharedFilesTest, KeepsGraphKernelsAndThoseWithoutLaunch) {
  Json facts = Case("40-cuda-graph");
  EXPECT_EQ(Count("kernel"), facts["kernels"]);
  EXPECT_EQ(Number("SELECT count(graph_node_id) FROM kernel"), facts["graph_kernels"]);
  EXPECT_EQ(Number("SELECT sum(end_ns - begin_ns) FROM api_call"),
            facts["launch_time"].get<int64_t>() * 1000);
  EXPECT_EQ(Number("SELECT graph_node_id FROM kernel GROUP BY 1 ORDER BY sum(end_ns - begin_ns) "
                   "DESC LIMIT 1"),
            facts["slowest_node"]);
  facts = Case("41-kernel-without-launch");
  EXPECT_EQ(Number("SELECT count(*) FROM kernel WHERE correlation_id NOT IN (SELECT correlation_id "
                   "FROM api_call)"),
            facts["unattributed"]);
}

TEST_F(SharedFilesTest, FindsStepsAndWaitsForDataAndNoOthers) {
  Json facts = Case("42-no-profiler-step");
  EXPECT_EQ(Count("step"), 0);
  EXPECT_EQ(Number("SELECT count(*) FROM range JOIN string AS s ON s.id = name_id WHERE text = "
                   "'train_iter'"),
            4);
  facts = Case("44-dataloader", "single.json");
  EXPECT_EQ(Number("SELECT sum(end_ns - begin_ns) / 3 FROM data_wait"), 300'000);
  facts = Case("44-dataloader", "multi.json");
  EXPECT_EQ(Number("SELECT sum(end_ns - begin_ns) / 3 FROM data_wait"), 20'000);
  EXPECT_GT(Number("SELECT count(*) FROM thread WHERE role = 'loader'"), 0);
  facts = Case("62-step-time-definition");
  EXPECT_EQ(Count("step"), facts["steps"]);
  EXPECT_EQ(Number("SELECT min(end_ns - begin_ns) FROM step"), 30'000'000);
}

TEST_F(SharedFilesTest, ConnectsArrowsByCategoryNameAndId) {
  const Json facts = Case("48-flow-events");
  EXPECT_EQ(Number("SELECT count(*) FROM flow WHERE kind = 'launch'"), facts["ac2g_arrows"]);
  EXPECT_GE(Number("SELECT count(*) FROM flow WHERE kind = 'forward_backward'"),
            facts["fwdbwd_arrows_min"]);
  EXPECT_EQ(Odd("flow_dangling"), facts["dangling"]);
  EXPECT_EQ(Number("SELECT count(*) FROM flow WHERE begin_ns > end_ns"), 0);
}

TEST_F(SharedFilesTest, TakesDeepStacksAndManyTinyEvents) {
  Json facts = Case("49-deep-stack", "trace.json.gz");
  EXPECT_EQ(Number("SELECT events_read FROM import_source"), facts["events"]);
  EXPECT_EQ(Number("SELECT count(DISTINCT depth) FROM python_call"), facts["max_depth_levels"]);
  facts = Case("50-many-tiny-events", "trace.json.gz");
  EXPECT_EQ(Count("kernel"), facts["kernels"]);
  EXPECT_EQ(Number("SELECT max(t) FROM (SELECT sum(end_ns - begin_ns) AS t FROM kernel GROUP BY "
                   "stream_id)"),
            7'500'000);
}

TEST_F(SharedFilesTest, KeepsAllocationsInBytes) {
  const Json facts = Case("53-memory-units-and-negative");
  EXPECT_EQ(Number("SELECT max(allocated_bytes) FROM memory_event"), facts["peak_bytes"]);
  EXPECT_EQ(Number("SELECT allocated_bytes FROM memory_event ORDER BY time_ns DESC LIMIT 1"),
            facts["final_bytes"]);
  EXPECT_EQ(Number("SELECT count(*) FROM memory_event WHERE delta_bytes < 0"), facts["frees"]);
}

}  // namespace
}  // namespace tutti::collector::importers::kineto
