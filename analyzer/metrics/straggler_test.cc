#include "analyzer/metrics/straggler.h"

#include <gtest/gtest.h>

#include <random>

namespace tutti::analyzer {
namespace {

// Ten steps of four ranks: rank 2 computes 2,000 longer, the others wait for it.
TEST(RankDelays, TheRankThatOthersWaitForPaysForTheirWait) {
  std::vector<ExposedWaitFor> waits;
  for (size_t step = 0; step < 10; ++step) {
    for (const size_t rank : {0u, 1u, 3u}) waits.push_back({step, rank, 2, 2000});
  }
  const std::vector<RankDelay> delays = RankDelays(waits, 10, 4);
  EXPECT_EQ(delays[2].cost_ns, 2000);
  EXPECT_EQ(delays[2].net_cost_ns, 2000);
  EXPECT_EQ(delays[2].noise_ns, 0);
  EXPECT_EQ(delays[2].own_wait_ns, 0);
  EXPECT_EQ(delays[2].caused_wait_ns, 60000);
  EXPECT_EQ(delays[0].own_wait_ns, 20000);
  EXPECT_EQ(delays[0].cost_ns, 0);
}

TEST(RankDelays, CommonJitterIsNobodysFault) {
  std::mt19937 random(37);
  std::vector<ExposedWaitFor> waits;
  constexpr size_t kSteps = 400;
  for (size_t step = 0; step < kSteps; ++step) {
    const size_t late = random() % 2;
    waits.push_back({step, 1 - late, late, static_cast<int64_t>(random() % 1000)});
  }
  for (const RankDelay& delay : RankDelays(waits, kSteps, 2)) {
    EXPECT_NEAR(static_cast<double>(delay.cost_ns), 250, 60);
    EXPECT_LT(delay.net_cost_ns, delay.noise_ns);
  }
}

TEST(RankDelays, ADelayAboveTheJitterIsFoundWithItsSize) {
  std::mt19937 random(41);
  std::vector<ExposedWaitFor> waits;
  constexpr size_t kSteps = 200;
  for (size_t step = 0; step < kSteps; ++step) {
    const int64_t lead = 500 + static_cast<int64_t>(random() % 400) - 200;  // rank 1 is late
    waits.push_back({step, 0, 1, lead});
  }
  const RankDelay late = RankDelays(waits, kSteps, 2)[1];
  EXPECT_NEAR(static_cast<double>(late.net_cost_ns), 500, 25);
  EXPECT_GT(late.net_cost_ns, late.noise_ns);
}

TEST(RankDelays, OneRankDelaysNobody) {
  EXPECT_EQ(RankDelays({}, 5, 1)[0].cost_ns, 0);
  EXPECT_EQ(RankDelays({}, 0, 3)[2].net_cost_ns, 0);
}

TEST(ThreeStandardErrors, OfBatchMeans) {
  const double flat[] = {1, 1, 1, 1, 1, 1};
  EXPECT_EQ(ThreeStandardErrors(flat), 0.0);
  const double few[] = {1, 2, 3, 4};
  EXPECT_EQ(ThreeStandardErrors(few), std::nullopt);
  const double five[] = {1, 2, 3, 4, 5};  // variance 2.5, standard error sqrt(0.5)
  EXPECT_NEAR(*ThreeStandardErrors(five), 3 * 0.70711, 1e-4);
}

}  // namespace
}  // namespace tutti::analyzer
