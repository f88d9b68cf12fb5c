#include "analyzer/history/trend.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analyzer/compare/random.h"

namespace tutti::analyzer::history {
namespace {

using compare::FindMetric;
using compare::Verdict;

// Launches of one series with these step times in ms.
std::vector<StoredLaunch> SeriesOf(const std::vector<double>& step_ms,
                                   const std::string& series = "job, 2 ranks, gpu") {
  std::vector<StoredLaunch> launches;
  for (size_t i = 0; i < step_ms.size(); ++i) {
    launches.push_back(
        {.begin_ns = static_cast<int64_t>(i),
         .name = "run-" + std::to_string(i),
         .label = "c" + std::to_string(i),
         .series = series,
         .epoch = "H100",
         .values = {{"step_time", step_ms[i] * 1e6}, {"exposed_comm", step_ms[i] * 1e5}}});
  }
  return launches;
}

std::vector<double> Steady(size_t count, double level_ms, uint64_t seed) {
  compare::Random random(seed);
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) values.push_back(level_ms * std::exp(0.004 * random.Normal()));
  return values;
}

TEST(FindTrends, HasTheLevelsOnBothSidesOfAChange) {
  std::vector<double> values = Steady(20, 100, 1);
  const std::vector<double> later = Steady(15, 104, 2);
  values.insert(values.end(), later.begin(), later.end());
  const auto trends = FindTrends(SeriesOf(values), *FindMetric("step_time"));
  ASSERT_EQ(trends.size(), 1U);
  ASSERT_EQ(trends[0].levels.size(), 2U);
  EXPECT_EQ(trends[0].levels[0].end, 20U);
  EXPECT_NEAR(trends[0].levels[0].mean, 100e6, 0.3e6);
  EXPECT_NEAR(trends[0].levels[1].mean, 104e6, 0.3e6);
  EXPECT_NEAR(trends[0].levels[0].spread, 0.004, 0.002);
  EXPECT_FALSE(trends[0].levels[0].change.has_value());
  EXPECT_EQ(trends[0].levels[1].change->index, 20U);
  EXPECT_NEAR(std::expm1(trends[0].levels[1].change->change()), 0.04, 0.005);
}

// Another GPU, another torch: no change of the code, however far the values are apart.
TEST(FindTrends, AnEpochIsNoChange) {
  std::vector<StoredLaunch> history = SeriesOf(Steady(12, 100, 3));
  for (StoredLaunch& launch : SeriesOf(Steady(12, 60, 4))) {
    launch.begin_ns += 100;
    launch.epoch = "H200";
    history.push_back(launch);
  }
  const auto trends = FindTrends(history, *FindMetric("step_time"));
  ASSERT_EQ(trends[0].levels.size(), 2U);
  EXPECT_TRUE(trends[0].levels[1].new_epoch);
  EXPECT_FALSE(trends[0].levels[1].change.has_value());
}

// Times within a step change by shares of the step, as in comparisons.
TEST(FindTrends, MeasuresPartsOfAStepByTheStep) {
  std::vector<StoredLaunch> history = SeriesOf(Steady(30, 100, 5));
  for (size_t i = 15; i < 30; ++i) history[i].values["exposed_comm"] += 3e6;  // 3 % of the step
  const auto trends = FindTrends(history, *FindMetric("exposed_comm"));
  ASSERT_EQ(trends[0].levels.size(), 2U);
  EXPECT_NEAR(trends[0].levels[1].change->change(), 0.03, 0.002);
}

TEST(FindTrends, KeepsSeriesApart) {
  std::vector<StoredLaunch> history = SeriesOf(Steady(5, 100, 1), "a");
  for (const StoredLaunch& launch : SeriesOf(Steady(5, 9, 1), "b")) history.push_back(launch);
  EXPECT_EQ(FindTrends(history, *FindMetric("step_time")).size(), 2U);
  EXPECT_TRUE(FindTrends(history, *FindMetric("memory_peak")).empty());
}

TEST(FitToTrend, JudgesALaunchByTheLastLevel) {
  std::vector<double> values = Steady(12, 90, 6);
  const std::vector<double> later = Steady(15, 100, 7);
  values.insert(values.end(), later.begin(), later.end());
  const auto history = SeriesOf(values);
  const auto& metric = *FindMetric("step_time");
  const auto trends = FindTrends(history, metric);
  const auto judge = [&](double ms) {
    return FitToTrend(&trends[0], SeriesOf({ms})[0], metric, {});
  };
  EXPECT_EQ(judge(105).verdict, Verdict::kRegression);
  EXPECT_EQ(judge(105).launches, 15U);
  EXPECT_NEAR(std::expm1(judge(105).estimate->delta), 0.05, 0.005);
  EXPECT_EQ(judge(95).verdict, Verdict::kImprovement);
  EXPECT_EQ(judge(100).verdict, Verdict::kNoRegression);
}

TEST(FitToTrend, SaysWhyNothingCanBeSaid) {
  const auto& metric = *FindMetric("step_time");
  const auto trends = FindTrends(SeriesOf(Steady(9, 100, 8)), metric);
  StoredLaunch launch = SeriesOf({120})[0];
  EXPECT_EQ(FitToTrend(&trends[0], launch, metric, {}).remark,
            "only 9 launches before it since the last change; 10 are needed");
  EXPECT_EQ(FitToTrend(nullptr, launch, metric, {}).remark, "the history has no such series");
  launch.epoch = "H200";
  EXPECT_NE(FitToTrend(&trends[0], launch, metric, {}).remark.find("new epoch"), std::string::npos);
  EXPECT_EQ(FitToTrend(&trends[0], launch, metric, {}).verdict, Verdict::kInconclusive);
  launch.values.clear();
  EXPECT_EQ(FitToTrend(&trends[0], launch, metric, {}).remark, "it has no step_time");
}

}  // namespace
}  // namespace tutti::analyzer::history
