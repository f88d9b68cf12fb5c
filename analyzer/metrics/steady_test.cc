#include "analyzer/metrics/steady.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tutti::analyzer {
namespace {

std::vector<int64_t> Series(size_t slow, size_t fast) {
  std::vector<int64_t> periods;
  for (size_t i = 0; i < slow + fast; ++i) {
    periods.push_back((i < slow ? 2000 : 1000) + static_cast<int64_t>(i * 7 % 5));
  }
  return periods;
}

TEST(FindSteadyState, CutsTheSlowStartInBatchesOfFive) {
  EXPECT_EQ(FindSteadyState(Series(10, 50)).warmup_steps, 10u);
  EXPECT_EQ(FindSteadyState(Series(8, 52)).warmup_steps, 10u);
}

TEST(FindSteadyState, TheFirstOfThreeStepsIsWarmUp) {
  EXPECT_EQ(FindSteadyState(Series(1, 2)).warmup_steps, 1u);
  EXPECT_EQ(FindSteadyState(Series(1, 1)).warmup_steps, 0u);
  EXPECT_EQ(FindSteadyState(Series(0, 60)).warmup_steps % 5, 1u);
}

TEST(FindSteadyState, SaysThatARunWhichSlowsDownAllAlongIsNotSteady) {
  std::vector<int64_t> periods;
  for (int i = 0; i < 200; ++i) periods.push_back(1000 + i * 5);
  EXPECT_TRUE(FindSteadyState(periods).has_trend);
  EXPECT_FALSE(FindSteadyState(Series(0, 200)).has_trend);
}

TEST(MserCut, AgreesWithTheFormula) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> series(2 + random() % 30);
    for (double& value : series) value = static_cast<double>(random() % 1000);
    size_t best = 0;
    double best_score = std::numeric_limits<double>::infinity();
    for (size_t w = 0; w <= series.size() / 2; ++w) {
      double mean = 0;
      for (size_t j = w; j < series.size(); ++j) mean += series[j];
      mean /= static_cast<double>(series.size() - w);
      double squares = 0;
      for (size_t j = w; j < series.size(); ++j) squares += std::pow(series[j] - mean, 2);
      const double score = squares / std::pow(static_cast<double>(series.size() - w), 2);
      if (score < best_score * (1 - 1e-12)) {
        best_score = score;
        best = w;
      }
    }
    EXPECT_EQ(MserCut(series), best) << "round " << round;
  }
}

TEST(TrendPValue, ShuffledSeriesSeldomHaveATrend) {
  std::mt19937 random(11);
  int found = 0;
  for (int round = 0; round < 1000; ++round) {
    std::vector<double> series(40);
    for (double& value : series) value = static_cast<double>(random());
    found += TrendPValue(series) < 0.01;
  }
  EXPECT_LE(found, 25);  // 10 expected
  EXPECT_GE(found, 1);
}

}  // namespace
}  // namespace tutti::analyzer
