#include "analyzer/metrics/straggler.h"

#include <gtest/gtest.h>

#include <random>

namespace tutti::analyzer {
namespace {

TEST(MedianWaits, AreOverTheOtherRanks) {
  // Three of four ranks wait for rank 2, one of them longer.
  const ExposedWaitFor waits[] = {{0, 0, 2, 20}, {0, 1, 2, 20}, {0, 3, 2, 90}, {1, 0, 2, 7}};
  const RankSeries medians = MedianWaits(waits, 2, 4);
  EXPECT_EQ(medians[2], (std::vector<int64_t>{20, 0}));  // in step 1 two of three don't wait
  EXPECT_EQ(medians[0], (std::vector<int64_t>{0, 0}));
}

TEST(LatenessOf, IsAgainstTheMedianOfTheOthers) {
  const int64_t times[] = {10, 12, 35, 14};
  EXPECT_EQ(LatenessOf(times), (std::vector<int64_t>{-4, -2, 23, 2}));
  const int64_t alone[] = {10};
  EXPECT_EQ(LatenessOf(alone), std::vector<int64_t>{0});
}

// The picture of straggler.h: rank 0 waits 15, its exposed communication is 30.
TEST(CostOfLateness, IsTheLatenessAsFarAsItCanBeGivenBack) {
  EXPECT_EQ(CostOfLateness(15, 25, 30), 25);
  EXPECT_EQ(CostOfLateness(15, 25, 20), 20);
  EXPECT_EQ(CostOfLateness(15, -5, 30), 15);
  EXPECT_EQ(CostOfLateness(40, 25, 60), 40);  // several collectives that all block
}

TEST(RankDelays, CommonJitterIsNobodysFault) {
  std::mt19937 random(37);
  constexpr size_t kSteps = 400;
  RankSeries cost(2, std::vector<int64_t>(kSteps, 0));
  for (size_t step = 0; step < kSteps; ++step) {
    cost[random() % 2][step] = static_cast<int64_t>(random() % 1000);
  }
  for (const RankDelay& delay : RankDelays(cost)) {
    EXPECT_NEAR(static_cast<double>(delay.cost_ns), 250, 60);
    EXPECT_LT(delay.net_cost_ns, delay.noise_ns);
  }
}

TEST(RankDelays, ADelayAboveTheJitterIsFoundWithItsSize) {
  std::mt19937 random(41);
  constexpr size_t kSteps = 200;
  RankSeries cost(4, std::vector<int64_t>(kSteps, 0));
  for (size_t step = 0; step < kSteps; ++step) {
    for (std::vector<int64_t>& rank : cost) rank[step] = static_cast<int64_t>(random() % 100);
    cost[1][step] += 300 + static_cast<int64_t>(random() % 400);
  }
  const RankDelay late = RankDelays(cost)[1];
  EXPECT_NEAR(static_cast<double>(late.net_cost_ns), 500, 40);
  EXPECT_GT(late.net_cost_ns, late.noise_ns);
}

TEST(RankDelays, OneRankDelaysNobody) {
  EXPECT_EQ(RankDelays({{5, 5, 5}})[0].cost_ns, 0);
  EXPECT_EQ(RankDelays({{}, {}, {}})[2].net_cost_ns, 0);
}

TEST(NoiseOfMean, OfBatchMeans) {
  const double flat[] = {1, 1, 1, 1, 1, 1};
  EXPECT_EQ(NoiseOfMean(flat), 0.0);
  const double few[] = {1, 2, 3, 4};
  EXPECT_EQ(NoiseOfMean(few), std::nullopt);
  const double five[] = {1, 2, 3, 4, 5};                   // variance 2.5, standard error sqrt(0.5)
  EXPECT_NEAR(*NoiseOfMean(five), 6.620 * 0.70711, 1e-4);  // t of 4 degrees of freedom
}

// What is told by chance of 20,000 runs in which nothing is wrong: 0.27 %, one side of it 0.135 %.
TEST(NoiseOfMean, IsExceededBySoFewCleanRunsAsThreeSigmaAre) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (const size_t steps : {6, 50}) {
    int told = 0;
    for (int run = 0; run < 20000; ++run) {
      std::vector<double> series(steps);
      double sum = 0;
      for (double& value : series) sum += value = normal(random);
      told += sum / static_cast<double>(steps) > *NoiseOfMean(series) ? 1 : 0;
    }
    EXPECT_GT(told, 10) << steps;
    EXPECT_LT(told, 50) << steps;  // 27 expected; with three standard errors 150 and more
  }
}

}  // namespace
}  // namespace tutti::analyzer
