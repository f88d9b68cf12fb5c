#include "analyzer/compare/launch_reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "schema/batch.h"
#include "schema/database.h"
#include "schema/derived_rows.h"
#include "schema/sql.h"
#include "schema/testing/scratch.h"

namespace tutti::analyzer::compare {
namespace {

using schema::Database;
using schema::testing::Scratch;

// Two ranks, three training steps and a checkpoint, in 100 ns steps.
constexpr const char* kRows = R"(
  INSERT INTO run_meta VALUES ('run.workload', 'ddp_mlp'), ('run.ranks_expected', '3');
  INSERT INTO input_file VALUES (0, 'rank-00000.sqlite', 0, 0, 1, 1, 'finished', 1, ''),
                                (1, 'rank-00001.sqlite', 1, 0, 1, 1, 'finished', 1, '');
  INSERT INTO rank VALUES
    (0, 0, 0, 'n1', NULL, NULL, 0, 3, NULL, 'gpu', 1000, 1400, 1, 0, 0, 0, 0, 10, 0),
    (1, 0, 1, 'n2', NULL, NULL, 1, 3, NULL, 'gpu', 1001, 1405, 1, 0, 0, 0, 0, 10, 4);
  INSERT INTO run_step VALUES (0, 0, 0, 'annotate', 2, 1000, 1100, NULL, 'train', 0, 1, 0),
                              (1, 1, 0, 'annotate', 2, 1100, 1200, 100, 'train', 0, 0, 1),
                              (2, 2, 0, 'annotate', 2, 1200, 1300, 100, 'checkpoint', 0, 0, 0),
                              (3, 3, 0, 'annotate', 2, 1300, 1405, 105, 'train', 0, 0, 1);
  INSERT INTO step_window VALUES (0, 1, 1102, 1200, 1102, 1200, 98, 2, 0),
                                 (1, 1, 1101, 1200, 1101, 1200, 99, 1, 0);
  INSERT INTO step_breakdown VALUES (0, 1, 98, 50, 10, 5, 0, 0, 20, 0, 0, 13),
                                    (1, 1, 99, 60, 10, 9, 0, 0, 7, 0, 0, 13);
  INSERT INTO step_overlap VALUES (0, 1, 40, 15), (1, 1, 41, 19);
  INSERT INTO step_batch VALUES (0, 1, 32, NULL), (1, 1, 32, NULL);
  INSERT INTO memory_peak VALUES (0, 'cuda', 0, 900, 1, 1, NULL, 0, 1, 1, 1, 0),
                                 (1, 'cuda', 1, 950, 1, 1, NULL, 0, 1, 1, 1, 0);
  INSERT INTO collective (id, op, dtype, bytes, step, ranks_expected, ranks_seen, state, matched_by,
                          transfer_ns, is_bw_raw, clamped)
    VALUES (0, 'all_reduce', 'float32', 4096, 1, 2, 2, 'complete', 'sequence', 12, 0, 0),
           (1, 'all_reduce', 'float32', 4096, 3, 2, 2, 'complete', 'sequence', 14, 0, 0),
           (2, 'all_reduce', 'float32', 4096, 0, 2, 2, 'complete', 'sequence', 99, 0, 0);
)";

// By its row type, which follows the table.
schema::OpStatsRow Op(int64_t rank, const char* kind, const char* name, int64_t on_compute,
                      int64_t in_steps_self_ns) {
  schema::OpStatsRow row;
  row.rank = rank;
  row.kind = kind;
  row.name = name;
  row.on_compute = on_compute;
  row.count = 9;
  row.self_ns = 90;
  row.in_steps_count = 4;
  row.in_steps_self_ns = in_steps_self_ns;
  return row;
}

class LaunchReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<Database> database = Database::Create(path_);
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE(database->Execute(std::string(schema::DerivedSql())).ok());
    const Status filled = database->Execute(kRows);
    ASSERT_TRUE(filled.ok()) << filled.message();
    const std::vector<schema::OpStatsRow> ops = {
        Op(0, "kernel", "gemm", 1, 40), Op(1, "kernel", "gemm", 1, 48),
        Op(0, "operator", "aten::cat", 0, 40), Op(0, "user", "my range", 1, 40)};
    auto inserter = schema::BatchInserter<schema::OpStatsRow>::Make(*database);
    ASSERT_TRUE(inserter.ok() && inserter->Insert(ops).ok());
    ASSERT_TRUE(database->Execute("PRAGMA user_version = 2").ok());
  }
  Scratch scratch_;
  std::string path_ = scratch_.Path("run.sqlite");
};

TEST_F(LaunchReaderTest, ReadsCompleteTrainingSteps) {
  const Result<Launch> launch = ReadLaunch(path_, "runs/a");
  ASSERT_TRUE(launch.ok()) << launch.status().message();
  EXPECT_EQ(launch->name, "runs/a");
  ASSERT_EQ(launch->steps.size(), 3u);
  EXPECT_FALSE(launch->steps[0].period_ns.has_value());
  EXPECT_EQ(launch->steps[2].step, 3);
  const StepRecord& step = launch->steps[1];
  EXPECT_EQ(step.period_ns, 100);
  EXPECT_EQ(step.ranks, 2);
  EXPECT_EQ(step.part_ns[0], 110);
  EXPECT_EQ(step.part_ns[kTransferPart], 20);
  EXPECT_EQ(step.part_ns[kWaitPart], 14);
  EXPECT_EQ(step.between_ns, 3);
  EXPECT_EQ(step.comm_ns, 81);
  EXPECT_EQ(step.longest_input_wait_ns, 20);
  EXPECT_EQ(step.own_spread_ns, 3);  // 98 - 5 against 99 - 9
  EXPECT_EQ(step.samples, 64);
  EXPECT_FALSE(step.tokens.has_value());
}

TEST_F(LaunchReaderTest, ReadsFactsAndNames) {
  const Launch launch = *ReadLaunch(path_, "a");
  EXPECT_EQ(launch.facts.workload, "ddp_mlp");
  EXPECT_EQ(launch.facts.ranks, 2);
  EXPECT_EQ(launch.facts.ranks_expected, 3);
  EXPECT_EQ(launch.ranks_missing, 1);
  EXPECT_EQ(launch.facts.hosts, "n1, n2");
  EXPECT_EQ(launch.facts.device_kind, "gpu");
  EXPECT_EQ(launch.begin_ns, 1000);
  EXPECT_EQ(launch.end_ns, 1405);
  EXPECT_EQ(launch.events_lost, 4);
  EXPECT_EQ(launch.memory_peak_bytes, 950);
  ASSERT_EQ(launch.names.size(), 2u);
  const NamedTime gemm = launch.names.at({"kernel", "gemm"});
  EXPECT_EQ(gemm.count_per_step, 2);  // 8 over two steady steps and two ranks
  EXPECT_EQ(gemm.ns_per_step, 22);
  const NamedTime reduce =
      launch.names.at({"collective", "all_reduce float32 4096 B over 2 ranks"});
  EXPECT_EQ(reduce.count_per_step, 1);
  EXPECT_EQ(reduce.ns_per_step, 13);
}

TEST_F(LaunchReaderTest, ReadsWhatIsBesideTheRun) {
  const auto write = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(scratch_.Path(name)).parent_path());
    std::ofstream(scratch_.Path(name)) << text;
  };
  write("manifest.d/n1.7.json",
        R"({"hardware": {"cpu": "EPYC"}, "ranks": [{"torch_version": "2.11.0"}, 3]})");
  write("manifest.d/broken.json", "{");
  write("control.json", R"({"schema": "tutti.control/1", "ns": [5, 1, 9]})");
  {
    Result<Database> rank = Database::Create(scratch_.Path("rank-00000.sqlite"));
    ASSERT_TRUE(rank->Execute("CREATE TABLE device (id INTEGER, name TEXT);"
                              "INSERT INTO device VALUES (0, 'H100'), (1, 'H100')")
                    .ok());
  }
  Launch launch = *ReadLaunch(path_, "a");
  ReadSurroundings(scratch_.Path(""), launch);
  EXPECT_EQ(launch.facts.torch_version, "2.11.0");
  EXPECT_EQ(launch.facts.hardware, "EPYC");
  EXPECT_EQ(launch.facts.gpus, "H100");
  EXPECT_EQ(launch.control_ns, 5);
}

TEST_F(LaunchReaderTest, RefusesWhatHasNoDerivedTables) {
  Result<Database> other = Database::Create(scratch_.Path("other.sqlite"));
  ASSERT_TRUE(other->Execute("CREATE TABLE t (a)").ok());
  EXPECT_FALSE(ReadLaunch(scratch_.Path("other.sqlite"), "other").ok());
  EXPECT_EQ(ReadLaunch(scratch_.Path("none"), "none").status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace tutti::analyzer::compare
