#include "analyzer/history/change_points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "analyzer/compare/distributions.h"
#include "analyzer/compare/random.h"
#include "analyzer/compare/testing/reference.h"

namespace tutti::analyzer::history {
namespace {

using compare::Random;

// SciPy, as compare/testing/reference.py asks it.
TEST(Reference, StudentPAndEnergyStatistic) {
  for (const nlohmann::json& one : compare::testing::ReferenceCases("change")) {
    std::vector<double> all = one["before"];
    const size_t split = all.size();
    for (const nlohmann::json& value : one["after"]) all.push_back(value);
    const std::span<const double> values = all;
    EXPECT_NEAR(StudentP(values.first(split), values.subspan(split)), one["p"].get<double>(), 1e-9);
    EXPECT_NEAR(EnergyStatistic(values, split), one["energy"].get<double>(), 1e-9);
  }
}

TEST(StudentP, KnowsWhatNeverVaries) {
  EXPECT_EQ(StudentP(std::vector<double>{1, 1}, std::vector<double>{1, 1}), 1);
  EXPECT_EQ(StudentP(std::vector<double>{1, 1}, std::vector<double>{2, 2}), 0);
}

std::vector<double> Normal(size_t count, double sd, Random& random) {
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) values.push_back(sd * random.Normal());
  return values;
}

TEST(FindChangePoints, FindsTwoStepsWhereTheyAre) {
  Random random(1);
  std::vector<double> values = Normal(60, 0.003, random);
  for (size_t i = 20; i < 60; ++i) values[i] += 0.03;
  for (size_t i = 40; i < 60; ++i) values[i] -= 0.02;
  const auto changes = FindChangePoints(values);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].index, 20U);
  EXPECT_EQ(changes[1].index, 40U);
  EXPECT_NEAR(changes[0].change(), 0.03, 0.003);
  EXPECT_NEAR(changes[1].change(), -0.02, 0.003);
  EXPECT_FALSE(changes[1].pending);
}

// A single spike is a spike, wherever it is: in the middle nothing, at the end pending.
TEST(FindChangePoints, ASpikeIsNoChange) {
  Random random(2);
  std::vector<double> values = Normal(40, 0.003, random);
  values[17] += 0.3;
  EXPECT_TRUE(FindChangePoints(values).empty());
  values[17] -= 0.3;
  values[39] += 0.1;
  const auto changes = FindChangePoints(values);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_TRUE(changes[0].pending);
  EXPECT_EQ(changes[0].index, 39U);
}

TEST(FindChangePoints, AStepIsPendingUntilThreeLaunchesShowIt) {
  Random random(3);
  const std::vector<double> quiet = Normal(30, 0.003, random);
  for (size_t later = 1; later <= 4; ++later) {
    std::vector<double> values(quiet.begin(), quiet.begin() + 26 + static_cast<int>(later));
    for (size_t i = 26; i < values.size(); ++i) values[i] += 0.04;
    const auto changes = FindChangePoints(values);
    ASSERT_EQ(changes.size(), 1U) << later;
    EXPECT_EQ(changes[0].pending, later < 3) << later;
    EXPECT_EQ(changes[0].index, 26U) << later;
  }
}

TEST(FindChangePoints, WhatDoesntMatterIsNoChange) {
  Random random(4);
  std::vector<double> values = Normal(80, 0.001, random);
  for (size_t i = 40; i < 80; ++i) values[i] += 0.006;  // beyond chance, below 1 %
  EXPECT_TRUE(FindChangePoints(values).empty());
}

TEST(FindChangePoints, CanDoWithNothing) {
  EXPECT_TRUE(FindChangePoints({}).empty());
  EXPECT_TRUE(FindChangePoints(std::vector<double>{1}).empty());
  EXPECT_TRUE(FindChangePoints(std::vector<double>(50, 3.0)).empty());
}

std::string Counted(int count, int trials) {
  const compare::Bounds bounds = compare::ClopperPearson(count, trials, 0.95);
  return std::to_string(count) + " of " + std::to_string(trials) + ", 95 % bounds " +
         std::to_string(bounds.low) + " to " + std::to_string(bounds.high);
}

// A hundred launches whose level never changes, with the base model's spread between launches: at
// most 1 % of such series have a change. Launches that are pending are no change.
TEST(ChangePointSimulation, RarelyFindsWhatIsNotThere) {
  Random random(20'260'101);
  constexpr int kSeriesCount = 2'000;
  int false_series = 0;
  for (int trial = 0; trial < kSeriesCount; ++trial) {
    bool found = false;
    for (const ChangePoint& change : FindChangePoints(Normal(100, 0.006, random))) {
      found = found || !change.pending;
    }
    false_series += found ? 1 : 0;
  }
  RecordProperty("false_series", Counted(false_series, kSeriesCount));
  EXPECT_LE(false_series, kSeriesCount / 100) << Counted(false_series, kSeriesCount);
}

// +2 % is found once three launches show it, in at least 90 % of series.
TEST(ChangePointSimulation, FindsTwoPercentAfterThreeLaunches) {
  Random random(7);
  constexpr int kSeriesCount = 1'000;
  int found = 0;
  for (int trial = 0; trial < kSeriesCount; ++trial) {
    std::vector<double> values = Normal(53, 0.006, random);
    for (size_t i = 50; i < 53; ++i) values[i] += std::log(1.02);
    const auto changes = FindChangePoints(values);
    const bool is_there = !changes.empty() && !changes.back().pending &&
                          changes.back().index >= 47 && changes.back().change() > 0;
    found += is_there ? 1 : 0;
  }
  EXPECT_GE(found, kSeriesCount * 9 / 10) << Counted(found, kSeriesCount);
}

}  // namespace
}  // namespace tutti::analyzer::history
