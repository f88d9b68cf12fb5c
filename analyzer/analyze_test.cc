#include "analyzer/analyze.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "analyzer/pass.h"
#include "analyzer/runner.h"
#include "analyzer/testing/derived.h"
#include "schema/sql.h"
#include "schema/trace_file.h"

namespace tutti::analyzer {
namespace {

using testing::Derived;
using testing::RunFolder;
using testing::TraceBuilder;

TraceBuilder Rank(int64_t rank, int64_t world = 2) {
  TraceBuilder trace(rank, world, 1000);
  for (int64_t step = 0; step < 6; ++step) {
    const int64_t t = step * 100;
    trace.Step(step, t, t + 90).Op("aten::mm", t, t + 40 + rank * 10).Batch(t, 8);
    trace.AllReduce(step, t + 30, t + 50 + rank * 10, t + 80, 4096)
        .Memory(t, 100, 100 * (step + 1));
  }
  return trace;
}

// Every row of every derived table but the times that passes took.
std::string Everything(const Derived& derived) {
  std::string all;
  const std::string tables = derived.Query(
      "SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_schema WHERE type = 'table'"
      " AND name <> 'pass_run' ORDER BY name)");
  for (size_t begin = 0; begin < tables.size();) {
    const size_t end = std::min(tables.find(' ', begin), tables.size());
    const std::string table = tables.substr(begin, end - begin);
    all += table + "\n" + derived.Query("SELECT * FROM " + table) + "\n";
    begin = end + 1;
  }
  return all;
}

TEST(Analyze, TwiceGivesTheSameTables) {
  RunFolder run;
  run.Add(Rank(0)).Add(Rank(1));
  const std::string first = Everything(Derived(run));
  EXPECT_EQ(Everything(Derived(run)), first);
  EXPECT_GT(first.size(), 3000u);
}

TEST(Analyze, LeavesOneFileThatOthersCannotRead) {
  RunFolder run;
  const Derived derived(run.Add(Rank(0)).Add(Rank(1)));
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(run.path())) {
    files += entry.path().filename().string().starts_with("run.sqlite") ? 1 : 0;
  }
  EXPECT_EQ(files, 1u);
  EXPECT_EQ(std::filesystem::status(derived.path()).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST(Analyze, EveryPassIsNamedTimedAndChecked) {
  RunFolder run;
  const Derived derived(run.Add(Rank(0)).Add(Rank(1)));
  EXPECT_EQ(derived.Query("SELECT count(*) FROM pass_run WHERE wall_ns > 0"),
            std::to_string(AllPasses().size()));
  EXPECT_EQ(derived.Query("SELECT checks FROM pass_run WHERE name = 'step_breakdown'"), "3");
}

TEST(Analyze, OfAnElasticJobTheLastAttemptIsAnalyzed) {
  RunFolder run;
  TraceBuilder again0 = Rank(0);
  TraceBuilder again1 = Rank(1);
  again0.Attempt(1);
  again1.Attempt(1);
  const Derived derived(run.Add(Rank(0)).Add(Rank(1)).Add(again0).Add(again1));
  EXPECT_EQ(derived.Query("SELECT rank, attempt FROM rank ORDER BY rank"), "0|1\n1|1");
  EXPECT_EQ(derived.Query("SELECT path, is_used FROM input_file ORDER BY path"),
            "attempt-1/rank-00000.sqlite|1\nattempt-1/rank-00001.sqlite|1\n"
            "rank-00000.sqlite|0\nrank-00001.sqlite|0");
}

TEST(Analyze, AFileThatCannotBeReadIsLeftOutAndSaid) {
  RunFolder run;
  run.Add(Rank(0));
  std::ofstream(run.Path("rank-00001.sqlite")) << "this is no database";
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT count(*) FROM rank"), "1");
  EXPECT_EQ(derived.Query("SELECT severity, name FROM data_issue ORDER BY name"),
            "error|file_unreadable\ndata_loss|ranks_missing");
  const Result<Losses> losses = ReadLosses(derived.path());
  ASSERT_TRUE(losses.ok());
  EXPECT_EQ(losses->ranks_missing, 1);
  EXPECT_EQ(losses->files_unreadable, 1);
}

TEST(Analyze, AFileThatIsDamagedInTheMiddleIsLeftOut) {
  RunFolder run;
  TraceBuilder large = Rank(1);
  for (int64_t i = 0; i < 20'000; ++i) large.Op("aten::mm", 600 + i, 600 + i);
  run.Add(Rank(0)).Add(large);
  std::fstream file(run.Path("rank-00001.sqlite"), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(0, std::ios::end);
  const auto size = static_cast<std::streamoff>(file.tellp());
  for (std::streamoff at = size / 2; at < size; at += 512) {
    file.seekp(at);
    file.write("damage damage damage damage damage damage ", 42);
  }
  file.close();
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT rank FROM rank"), "0");
  EXPECT_EQ(derived.Query("SELECT count(*) FROM data_issue WHERE name = 'file_unreadable'"), "1");
}

TEST(Analyze, AFileThatIsCompletedMeanwhileIsReadUnderItsNewName) {
  RunFolder run;
  run.Add(Rank(0)).Add(Rank(1));
  const std::filesystem::path complete = std::filesystem::path(run.path()) / "rank-00001.sqlite";
  const std::filesystem::path part = complete.string() + ".part";
  std::filesystem::rename(complete, part);
  AnalyzeOptions options;
  bool was_renamed = false;
  options.progress = [&](std::string_view pass, size_t, size_t) {
    if (pass != "findings" || was_renamed) return;
    was_renamed = true;
    std::filesystem::rename(part, complete);
  };
  const Result<Analysis> analysis = Analyze(run.path(), options);
  ASSERT_TRUE(analysis.ok()) << analysis.status().message();
  EXPECT_TRUE(was_renamed);
  schema::Database tables = *schema::OpenRunFile(analysis->path);
  EXPECT_EQ(*tables.QueryOne<std::string>("SELECT group_concat(state) FROM input_file"),
            "finished,finished");
}

TEST(EnsureAnalyzed, AnalyzesAgainOnlyAfterAChange) {
  RunFolder run;
  run.Add(Rank(0, 3)).Add(Rank(1, 3));
  EXPECT_TRUE(EnsureAnalyzed(run.path(), {})->is_new);
  EXPECT_FALSE(EnsureAnalyzed(run.path(), {})->is_new);
  run.Add(Rank(2, 3));
  EXPECT_TRUE(EnsureAnalyzed(run.path(), {})->is_new);
  const Result<Analysis> analysis = EnsureAnalyzed(run.Path("run.sqlite"), {});
  ASSERT_TRUE(analysis.ok());
  EXPECT_FALSE(analysis->is_new);
}

TEST(EnsureAnalyzed, OfASingleFileTheTablesStandBesideIt) {
  RunFolder run;
  run.Add(Rank(1));
  const Result<Analysis> analysis = EnsureAnalyzed(run.Path("rank-00001.sqlite"), {});
  ASSERT_TRUE(analysis.ok()) << analysis.status().message();
  EXPECT_EQ(analysis->path, run.Path("rank-00001.sqlite.run.sqlite"));
}

TEST(EnsureAnalyzed, SaysWhatIsNotThere) {
  RunFolder run;
  EXPECT_EQ(EnsureAnalyzed(run.Path("nothing"), {}).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(EnsureAnalyzed(run.path(), {}).status().code(), StatusCode::kNotFound);
}

TEST(RunPasses, NamesThePassWhoseClaimIsNotTrue) {
  static constexpr PassCheck kWrong[] = {{"one is two", "SELECT 1 <> 2"}};
  const Pass passes[] = {{"liar", [](RunContext&) { return OkStatus(); }, kWrong}};
  schema::Database derived = *schema::Database::OpenMemory();
  ASSERT_TRUE(derived.Execute(std::string(schema::DerivedSql())).ok());
  RunContext context(derived, {}, PassOptions{});
  const Status status = RunPasses(passes, context, {});
  EXPECT_EQ(status.message(),
            "pass liar: not true 1 times: one is two; please report this with the trace");
  EXPECT_EQ(*derived.QueryOne<int64_t>("SELECT count(*) FROM pass_run"), 0);
}

TEST(ParseGate, TakesFractionsAndPercent) {
  EXPECT_EQ(ParseGate("input_wait:0.1")->kind, "input_wait");
  EXPECT_DOUBLE_EQ(ParseGate("any:5%")->share, 0.05);
  for (const char* wrong : {"", "any", ":1", "any:x", "any:2", "any:-1", "any:1%%"}) {
    EXPECT_EQ(ParseGate(wrong).status().code(), StatusCode::kUsage) << wrong;
  }
}

TEST(CheckGates, ComparePartsOfTheStepAndFindings) {
  RunFolder run;
  const Derived derived(run.Add(Rank(0)).Add(Rank(1)));
  const auto results = CheckGates(
      derived.path(), {{"compute", 0.4}, {"compute", 0.9}, {"exposed_comm", 0.2}, {"hang", 0}});
  ASSERT_TRUE(results.ok());
  EXPECT_TRUE((*results)[0].tripped);
  EXPECT_FALSE((*results)[1].tripped);
  EXPECT_TRUE((*results)[2].tripped);
  EXPECT_FALSE((*results)[3].tripped);
}

// Numbers that only damage or an enemy puts there.
TEST(Analyze, AWorldSizeBeyondAnythingIsUnknown) {
  RunFolder run;
  run.Add(Rank(0)).Add(Rank(1));
  run.Execute("rank-00000.sqlite", "UPDATE process SET world_size = 9223372036854775807");
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT value FROM run_meta WHERE key = 'run.ranks_expected'"), "2");
  EXPECT_EQ(derived.Query("SELECT name, rank, count FROM data_issue WHERE severity <> 'notice'"),
            "impossible_values|0|1");
}

TEST(Analyze, AGroupSizeBeyondAnythingIsUnknown) {
  RunFolder run;
  run.Add(Rank(0)).Add(Rank(1));
  run.Execute("rank-00001.sqlite",
              "UPDATE communicator SET group_size = 9223372036854775807, global_ranks = NULL");
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT max(ranks_expected) FROM collective"), "2");
  EXPECT_EQ(derived.Query("SELECT name, rank, count FROM data_issue WHERE severity <> 'notice'"),
            "impossible_values|1|1");
}

TEST(Analyze, CountsThatCannotBeAreUnknownAndNoSumWraps) {
  RunFolder run;
  run.Add(Rank(0).Lost(1, 0, 1)).Add(Rank(1));
  run.Execute("rank-00000.sqlite",
              "UPDATE batch SET samples = 9223372036854775807 WHERE id = 1;"
              "UPDATE batch SET samples = -1 WHERE id = 2;"
              "UPDATE trace_stat SET count = 9223372036854775807;"
              "UPDATE collective_source SET bytes = 9223372036854775807 WHERE id = 1;"
              "UPDATE process SET local_rank = -7");
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT rank, count FROM data_issue WHERE name = 'impossible_values'"),
            "0|5");
  EXPECT_EQ(derived.Query("SELECT sum(samples) FROM step_batch WHERE rank = 0"), "32");
  EXPECT_EQ(derived.Query("SELECT value FROM run_metric WHERE name = 'run.events_lost'"), "0");
  EXPECT_EQ(derived.Query("SELECT max(algbw_gb_per_s) < 1000 FROM collective"), "1");
}

TEST(Analyze, ARankThatCannotBeIsThatOfTheFilesName) {
  RunFolder run;
  run.Add(Rank(0)).Add(Rank(1));
  run.Execute("rank-00001.sqlite", "UPDATE process SET rank = 9223372036854775807");
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT rank FROM rank ORDER BY rank"), "0\n1");
  EXPECT_EQ(derived.Query("SELECT rank, count FROM data_issue WHERE name = 'impossible_values'"),
            "1|1");
}

TEST(Analyze, AFileNamedAfterARankThatCannotBeIsLeftOut) {
  RunFolder run;
  run.Add(Rank(0, 1)).Add(TraceBuilder(99'999'999'999, 1));
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT rank FROM rank"), "0");
  EXPECT_EQ(derived.Query("SELECT value FROM run_meta WHERE key = 'run.ranks_expected'"), "1");
  EXPECT_EQ(derived.Query("SELECT detail FROM data_issue WHERE name = 'file_unused'"),
            "rank-99999999999.sqlite is left out: its rank is not known");
}

TEST(Analyze, TwoProcessesInOneFileAreSaid) {
  RunFolder run;
  run.Add(Rank(0)).Add(Rank(1));
  run.Execute("rank-00000.sqlite",
              "INSERT INTO process (pid, host, rank, attempt) VALUES (999999, 'other', 1, 0)");
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT rank, count FROM data_issue WHERE name = 'impossible_values'"),
            "0|1");
}

TEST(Gates, AKindThatIsNeitherFindingNorPartIsAUsageError) {
  for (const char* text : {"any:5%", "input_wait:0.1", "exposed_comm:0.1", "hang:0", "idle:1"}) {
    EXPECT_TRUE(ParseGate(text).ok()) << text;
  }
  for (const char* text : {"bogus:0.01", "step:1%", "exposed-comm:0.1", "Any:1%"}) {
    const Result<Gate> gate = ParseGate(text);
    ASSERT_FALSE(gate.ok()) << text;
    EXPECT_EQ(gate.status().code(), StatusCode::kUsage);
    EXPECT_NE(gate.status().message().find(
                  "any, collective_mismatch, hang, input_wait, device_alloc_churn, "),
              std::string::npos)
        << gate.status().message();
  }
}

TEST(Analyze, SaysWhichRanksFailedAndHow) {
  RunFolder run;
  for (int64_t rank = 0; rank < 4; ++rank) {
    const int64_t status[] = {137, 0, 1, 1};
    run.Add(Rank(rank, 4).Ended(1000, status[rank]));
  }
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT severity, count, detail FROM data_issue"
                          " WHERE name = 'ranks_failed'"),
            "notice|3|ranks 2, 3 exited with 1, rank 0 ended by signal 9");
}

}  // namespace
}  // namespace tutti::analyzer
