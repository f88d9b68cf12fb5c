#include "analyzer/report/series.h"

#include <gtest/gtest.h>

#include "analyzer/testing/derived.h"
#include "analyzer/testing/trace_builder.h"

namespace tutti::analyzer {
namespace {

using testing::Derived;
using testing::RunFolder;
using testing::TraceBuilder;

schema::RunStepRow Step(int64_t step, bool warmup = false, std::string tag = "train") {
  schema::RunStepRow row;
  row.step = step;
  row.number = step * 10;
  row.tag = std::move(tag);
  row.is_warmup = warmup ? 1 : 0;
  return row;
}

TEST(GroupSteps, LeavesFewStepsAlone) {
  const auto groups = GroupSteps({Step(0, true), Step(1), Step(2)}, 2);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].state, "warm-up");
  EXPECT_EQ(groups[2].first_number, 20);
  EXPECT_EQ(groups[2].count, 1);
}

TEST(GroupSteps, JoinsManyAndNeverMixesStates) {
  std::vector<schema::RunStepRow> steps;
  for (int64_t i = 0; i < 5000; ++i) {
    steps.push_back(Step(i, i < 30, i % 100 == 99 ? "checkpoint" : "train"));
  }
  const auto groups = GroupSteps(steps, 512);
  EXPECT_LE(groups.size(), 24'000u / 512 + 3);
  int64_t count = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i > 0) {
      EXPECT_GT(groups[i].first, groups[i - 1].first);
    }
    EXPECT_EQ(groups[i].first_number, groups[i].first * 10);
    count += groups[i].count;
  }
  EXPECT_EQ(count, 5000);
  EXPECT_EQ(groups[0].state, "warm-up");
  EXPECT_EQ(groups[0].count, 30);
}

// step 1      0    2    4    6    8    10
// compute     [====)         [=========)
// all-reduce       [=========)
TEST(ReportSeries, HasTheMedianStepAndExactSums) {
  RunFolder run;
  for (int64_t r = 0; r < 2; ++r) {
    TraceBuilder rank(r, 2, 1000);
    for (int64_t step = 0; step < 5; ++step) {
      const int64_t t = step * 10;
      rank.Step(step, t, t + 10).Op("aten::mm", t, t + 2).Op("aten::add", t + 6, t + 10);
      rank.AllReduce(step, t + 2, t + 2 + r, t + 6, 4096);
    }
    run.Add(rank);
  }
  const Derived derived(run);
  auto series = [&] {
    const auto data = ReadReportData(derived.path());
    EXPECT_TRUE(data.ok());
    return ReadReportSeries(derived.path(), *data);
  }();
  ASSERT_TRUE(series.ok()) << series.status().message();
  ASSERT_EQ(series->ranks.size(), 2u);
  const RankSteps& rank = series->ranks[0];
  ASSERT_EQ(rank.step_ns.size(), 5u);
  for (size_t i = 0; i < 5; ++i) {
    int64_t sum = 0;
    for (const auto& part : rank.parts) sum += part[i];
    EXPECT_EQ(sum, rank.step_ns[i]);
    EXPECT_EQ(series->skew.max_ns[i], 1000);
  }
  ASSERT_EQ(series->lateness.size(), 2u);
  EXPECT_EQ(series->lateness[0].late_ns, 0);
  EXPECT_EQ(series->lateness[1].late_ns, 5 * 1000);
  ASSERT_EQ(series->timeline.ranks.size(), 2u);
  const RankTimeline& timeline = series->timeline.ranks[0];
  const auto& compute = timeline.spans.at("compute");
  ASSERT_EQ(compute.size(), 2u);
  EXPECT_EQ(compute[0].end_ns - compute[0].begin_ns, 2000);
  EXPECT_EQ(compute[1].begin_ns - timeline.begin_ns, 6000);
  EXPECT_EQ(timeline.spans.at("comm_wait").at(0).busy_ns, 1000);
  EXPECT_EQ(timeline.spans.at("comm_transfer").at(0).busy_ns, 3000);
  EXPECT_EQ(timeline.exposed_ns, 4000);
}

}  // namespace
}  // namespace tutti::analyzer
