// Who is to blame where flight recorders were dumped; what goes to whom is in
// metrics/wait_graph_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/analyze.h"
#include "analyzer/testing/derived.h"
#include "analyzer/testing/trace_builder.h"

namespace tutti::analyzer {
namespace {

using testing::Derived;
using ::testing::HasSubstr;
using testing::RunFolder;
using testing::TraceBuilder;

// Ranks 0 and 1 are in #45; the recorder of rank 2 goes back further and ends with #44.
RunFolder& AddLateRank(RunFolder& run) {
  for (int64_t rank = 0; rank < 3; ++rank) {
    TraceBuilder trace(rank, 3, 1000);
    const int64_t first = rank == 2 ? 36 : 42;
    for (int64_t sequence = first; sequence <= 44; ++sequence) {
      trace.Dumped("all_reduce", sequence, sequence, "completed",
                   "all_reduce (/x/torch/distributed/c10d.py:9)\nstep (train.py:88)");
    }
    if (rank != 2) trace.Dumped("all_reduce", 45, 45, "started", "step (train.py:88)");
    run.Add(trace);
  }
  return run;
}

TEST(Standstill, BlamesTheRankThatIsBehindAndShowsWhereItWas) {
  RunFolder run;
  const Derived derived(AddLateRank(run));
  EXPECT_EQ(derived.Query("SELECT kind, confidence FROM finding"), "hang|high");
  EXPECT_EQ(derived.Query("SELECT rank FROM finding_rank"), "2");
  EXPECT_EQ(derived.Query("SELECT title FROM finding"),
            "rank 2 never entered all_reduce #45 of gloo group default_pg");
  EXPECT_EQ(derived.Query("SELECT rank, note FROM finding_evidence ORDER BY ordinal"),
            "|2 of 3 ranks called all_reduce #45 of gloo group default_pg\n"
            "2|last called all_reduce #44 of group default_pg, in step (train.py:88)\n"
            "|ranks 0 and 1 wait for rank 2 in all_reduce #45 of gloo group default_pg");
  // That the buffers begin at different calls is no mismatch, and no time is made of states.
  EXPECT_EQ(derived.Query("SELECT count(*) FROM collective WHERE state = 'mismatched'"), "0");
  EXPECT_EQ(derived.Query("SELECT count(*) FROM collective WHERE busbw_gb_per_s IS NOT NULL"
                          " OR skew_ns IS NOT NULL OR duration_ns IS NOT NULL"),
            "0");
}

TEST(Standstill, ComesFirstInTheReport) {
  RunFolder run;
  const Derived derived(AddLateRank(run));
  const Result<std::string> report = RenderReport(derived.path(), {});
  ASSERT_TRUE(report.ok());
  const size_t title = report->find("What stopped the job");
  ASSERT_NE(title, std::string::npos);
  EXPECT_LT(title, 200U);
  EXPECT_THAT(*report, HasSubstr("- rank 2 last called all_reduce #44"));
}

// Rank 1 has no entries at all: its progress is told apart from them.
TEST(Standstill, KnowsHowFarARankWasThatHasNoEntries) {
  RunFolder run;
  TraceBuilder rank0(0, 2, 1000);
  run.Add(rank0.Dumped("all_gather", 9, 1, "scheduled").Progress(1, 9).Ended(5, 1));
  TraceBuilder rank1(1, 2, 1000);
  run.Add(rank1.Progress(1, 8).Ended(5, 1));
  const Derived behind(run);
  EXPECT_EQ(behind.Query("SELECT rank FROM finding_rank"), "1");
  EXPECT_THAT(behind.Query("SELECT note FROM finding_evidence WHERE rank = 1"),
              HasSubstr("the last it made in that group is #8"));
}

// Rank 1 is done with #9, so rank 0's own device stands still in it.
TEST(Standstill, BlamesADeviceThatIsStuckInWhatOthersFinished) {
  RunFolder run;
  TraceBuilder rank0(0, 2, 1000);
  run.Add(rank0.Dumped("all_gather", 9, 1, "scheduled").Progress(1, 9).Ended(5, 1));
  TraceBuilder rank1(1, 2, 1000);
  run.Add(rank1.Progress(1, 9).Ended(5, 1));
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT rank FROM finding_rank"), "0");
  EXPECT_EQ(derived.Query("SELECT title FROM finding"),
            "the GPU of rank 0 stands still in all_gather #9 of gloo group default_pg, which other "
            "ranks are done with");
}

TEST(Standstill, SaysThatAllEnteredWhereNobodyIsToBlame) {
  RunFolder run;
  for (int64_t rank = 0; rank < 2; ++rank) {
    TraceBuilder trace(rank, 2, 1000);
    run.Add(trace.Dumped("all_reduce", 3, 1, "started"));
  }
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT kind, confidence, title FROM finding"),
            "hang|medium|every rank entered all_reduce #3 of gloo group default_pg, and none is "
            "done with it");
}

TEST(Standstill, IsNoneWhereAllCallsAreDone) {
  RunFolder run;
  for (int64_t rank = 0; rank < 2; ++rank) {
    TraceBuilder trace(rank, 2, 1000);
    run.Add(trace.Dumped("all_reduce", 3, 1, "completed"));
  }
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT count(*) FROM finding"), "0");
}

}  // namespace
}  // namespace tutti::analyzer
