#include "analyzer/metrics/clock_fit.h"

#include <gtest/gtest.h>

#include <random>

namespace tutti::analyzer {
namespace {

// event       0     1     2
// clock 0    100   200   300
// clock 1    600   700   803    500 later; the median of -500, -500, -503
TEST(FitClocks, MovesByTheMedianDifference) {
  const ClockReading readings[] = {{0, 0, 100}, {0, 1, 600}, {1, 0, 200},
                                   {1, 1, 700}, {2, 0, 300}, {2, 1, 803}};
  const std::vector<ClockFit> fits = FitClocks(readings, 2);
  EXPECT_EQ(fits[0].offset_ns, 0);
  EXPECT_EQ(fits[0].reference, 0u);
  EXPECT_EQ(fits[1].reference, 0u);
  EXPECT_EQ(fits[1].offset_ns, -500);
  EXPECT_EQ(fits[1].readings, 3);
}

TEST(FitClocks, ReachesOthersThroughTheClocksInBetween) {
  std::vector<ClockReading> readings;
  for (int64_t event = 0; event < 4; ++event) {  // 0 with 1, 1 with 2; 3 with nobody
    readings.push_back({event, 0, event * 10});
    readings.push_back({event, 1, event * 10 + 7});
    readings.push_back({event + 100, 1, event * 10 + 7});
    readings.push_back({event + 100, 2, event * 10 - 3});
    readings.push_back({event + 200, 3, event * 10});
  }
  const std::vector<ClockFit> fits = FitClocks(readings, 4);
  EXPECT_EQ(fits[1].offset_ns, -7);
  EXPECT_EQ(fits[2].offset_ns, 3);
  EXPECT_EQ(fits[2].reference, 0u);
  EXPECT_EQ(fits[3].reference, 3u);
  EXPECT_EQ(fits[3].readings, 0);
}

TEST(FitClocks, NeedsSomeEventsTogether) {
  const ClockReading readings[] = {{0, 0, 100}, {0, 1, 600}, {1, 0, 200}, {1, 1, 700}};
  EXPECT_EQ(FitClocks(readings, 2)[1].reference, 1u);
  EXPECT_EQ(FitClocks(readings, 2, 2)[1].offset_ns, -500);
  EXPECT_TRUE(FitClocks({}, 0).empty());
}

// True offsets of milliseconds, ends that differ by up to 5 us: found within the error told.
TEST(FitClocks, FindsTheOffsetsOfNoisyClocks) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 20; ++round) {
    std::vector<int64_t> offsets = {0};
    for (int clock = 1; clock < 8; ++clock) {
      offsets.push_back(static_cast<int64_t>(random() % 20'000'000) - 10'000'000);
    }
    std::vector<ClockReading> readings;
    for (int64_t event = 0; event < 60; ++event) {
      for (size_t clock = 0; clock < offsets.size(); ++clock) {
        if (random() % 4 == 0) continue;
        const auto late = static_cast<int64_t>(random() % 5'000);
        readings.push_back({event, clock, event * 1'000'000 + late - offsets[clock]});
      }
    }
    const std::vector<ClockFit> fits = FitClocks(readings, offsets.size());
    for (size_t clock = 0; clock < offsets.size(); ++clock) {
      EXPECT_EQ(fits[clock].reference, 0u);
      EXPECT_LE(std::abs(fits[clock].offset_ns - offsets[clock]), fits[clock].error_ns) << clock;
      EXPECT_LE(fits[clock].error_ns, 15'000);
    }
  }
}

}  // namespace
}  // namespace tutti::analyzer
