#include "viewer/model/comparison.h"

#include <gtest/gtest.h>

#include "viewer/testing/two_small_runs.h"

namespace tutti::viewer {
namespace {

TEST(MergeRuns, HasTheRanksOfBothAndTheirStepsSideBySide) {
  const testing::TwoSmallRuns runs;
  const RunSummary& both = runs.summary;
  ASSERT_EQ(both.ranks.size(), 4U);
  EXPECT_EQ(both.RankName(both.ranks[0].rank), "A rank 0");
  EXPECT_EQ(both.RankName(both.ranks[3].rank), "B rank 1");
  EXPECT_EQ(both.PeerOf(1), 3U);
  EXPECT_EQ(both.PeerOf(3), 1U);
  ASSERT_EQ(both.steps.size(), 2U);
  EXPECT_EQ(both.steps[1].begin_ns, 250) << "as long as the longer of both";
  EXPECT_EQ(both.FindWindow(both.ranks[0].rank, 1)->begin_ns, 250);
  EXPECT_EQ(both.FindWindow(both.ranks[2].rank, 1)->begin_ns, 250);
  EXPECT_EQ(both.TimesOf(0)(210), 260) << "run A stands still until B's step is over";
  EXPECT_EQ(both.TimesOf(2)(1260), 260);
  EXPECT_EQ(both.times_a.Back(260), 210);
}

TEST(MergeRuns, CollectivesAndFindingsKeepWhatTheyBelongTo) {
  testing::SmallRun small;
  RunSummary a = small.summary;
  Collective collective;
  collective.row.id = 5;
  collective.row.communicator_id = 2;
  collective.row.last_rank = 1;
  collective.calls.push_back({.collective_id = 5, .rank = 1, .source_id = 9});
  collective.calls[0].arrival_ns = 210;
  collective.calls[0].end_ns = 230;
  a.collectives.push_back(collective);
  a.calls[{1, 9}] = {0, 0};
  Finding finding;
  finding.row.title = "slow";
  finding.ranks = {1};
  a.findings.push_back(finding);
  RunSummary b = a;
  for (schema::RunStepRow& step : b.steps) {
    step.begin_ns *= 2;
    step.end_ns *= 2;
  }
  const RunSummary both = MergeRuns(a, b);
  ASSERT_EQ(both.collectives.size(), 2U);
  EXPECT_NE(both.collectives[0].row.id, both.collectives[1].row.id);
  EXPECT_EQ(both.FindCall(kFirstRankOfB + 1, 9)->collective_id, both.collectives[1].row.id);
  EXPECT_EQ(both.FindCall(1, 9)->arrival_ns, 410) << "10 after the second step's begin at 400";
  EXPECT_EQ(both.FindCall(1, 9)->end_ns, 430);
  EXPECT_EQ(both.FindCall(kFirstRankOfB + 1, 9)->arrival_ns, 210);
  EXPECT_EQ(both.RankName(*both.collectives[1].row.last_rank), "B rank 1");
  EXPECT_EQ(both.findings[1].row.title, "B: slow");
  EXPECT_EQ(both.findings[1].ranks.front(), kFirstRankOfB + 1);
}

TEST(CompareSteps, MeansOfWhatBothHave) {
  testing::TwoSmallRuns runs;
  const StepComparison comparison = CompareSteps(runs.summary);
  EXPECT_EQ(comparison.steps, 4);
  ASSERT_EQ(comparison.parts.size(), kStepParts.size() + 1);
  EXPECT_EQ(comparison.parts[0].a_ns, 200);
  EXPECT_EQ(comparison.parts[0].b_ns, 250);
  EXPECT_EQ(comparison.parts[1].b_ns - comparison.parts[1].a_ns, 60);
  runs.summary.steps[1].is_steady = 1;
  EXPECT_EQ(CompareSteps(runs.summary).steps, 2);
  EXPECT_TRUE(CompareSteps(testing::SmallRun().summary).parts.empty());
}

TEST(CompareNames, TheGreatestDifferenceComesFirst) {
  RangeTotals a;
  a.names = {{1, Category::kCompute, 2, 100, 50}, {2, Category::kCopy, 1, 70, 70}};
  RangeTotals b;
  b.names = {{1, Category::kCompute, 2, 110, 55}, {3, Category::kHost, 4, 20, 5}};
  const std::vector<NameDelta> deltas = CompareNames(a, b);
  ASSERT_EQ(deltas.size(), 3U);
  EXPECT_EQ(deltas[0].name, 2U);  // gone: -70
  EXPECT_EQ(deltas[1].name, 3U);  // new: +20
  EXPECT_EQ(deltas[2].b_ns - deltas[2].a_ns, 10);
}

}  // namespace
}  // namespace tutti::viewer
