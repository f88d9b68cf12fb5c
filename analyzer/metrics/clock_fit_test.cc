#include "analyzer/metrics/clock_fit.h"

#include <gtest/gtest.h>

#include <cmath>
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

// What least squares make of the differences: slope per ns and value at `at_ns`.
struct LeastSquares {
  double slope = 0;
  double at = 0;
};
LeastSquares LeastSquaresOf(std::span<const ClockReading> readings, int64_t at_ns) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (size_t i = 0; i + 1 < readings.size(); i += 2) {
    const auto time = static_cast<double>(readings[i + 1].time_ns - at_ns);
    const auto difference = static_cast<double>(readings[i].time_ns - readings[i + 1].time_ns);
    n += 1, x += time, y += difference, xx += time * time, xy += time * difference;
  }
  const double slope = (n * xy - x * y) / (n * xx - x * x);
  return {slope, (y - slope * x) / n};
}

constexpr int64_t kHourNs = 3'600'000'000'000;

// Clock 1 runs `ppm` slow; an end each second of an hour, each seen up to 5 us late.
std::vector<ClockReading> AnHour(double ppm, std::mt19937_64& random) {
  std::vector<ClockReading> readings;
  for (int64_t event = 0; event < 3'600; ++event) {
    const int64_t time_ns = kHourNs * 400'000 + event * 1'000'000'000;
    const auto own = [&](int64_t offset_ns, double slow_ppm) {
      const double since_ns = static_cast<double>(event) * 1e9;
      return time_ns - offset_ns - std::llround(since_ns * slow_ppm / 1e6) +
             static_cast<int64_t>(random() % 5'000);
    };
    readings.push_back({event, 0, own(0, 0)});
    readings.push_back({event, 1, own(7'000'000, ppm)});
  }
  return readings;
}

// 20 ppm are 72 ms in an hour: an offset alone is off by 36 ms, with the drift by microseconds.
TEST(FitClocks, FindsTheDriftOfALongRunAsLeastSquaresDo) {
  std::mt19937_64 random(3);
  for (const double ppm : {-85.0, -3.0, 20.0, 190.0}) {
    const std::vector<ClockReading> readings = AnHour(ppm, random);
    const ClockFit fit = FitClocks(readings, 2)[1];
    EXPECT_NEAR(fit.drift, ppm / (1e6 - ppm), 1e-9) << ppm;  // per ns of the slow clock
    EXPECT_LE(fit.error_ns, 5'000) << ppm;
    const LeastSquares oracle = LeastSquaresOf(readings, fit.from_ns);
    EXPECT_NEAR(fit.drift, oracle.slope, 1e-9) << ppm;
    EXPECT_NEAR(static_cast<double>(fit.offset_ns), oracle.at, 500) << ppm;
  }
}

// What a clock gains in the run is less than the ends differ anyway.
TEST(FitClocks, TakesNoDriftThatNoiseHides) {
  std::mt19937_64 random(4);
  for (const double ppm : {0.0, 0.001, -0.001}) {
    const ClockFit fit = FitClocks(AnHour(ppm, random), 2)[1];
    EXPECT_EQ(fit.drift, 0) << ppm;
    EXPECT_EQ(fit.from_ns, 0) << ppm;
    EXPECT_NEAR(static_cast<double>(fit.offset_ns), 7e6, 5e3) << ppm;
  }
  for (int round = 0; round < 200; ++round) {  // few readings, which a line fits by chance
    std::vector<ClockReading> readings;
    const int64_t events = 3 + static_cast<int64_t>(random() % 20);
    for (int64_t event = 0; event < events; ++event) {
      readings.push_back({event, 0, event * 1'000'000});
      readings.push_back({event, 1, event * 1'000'000 + static_cast<int64_t>(random() % 9'000)});
    }
    EXPECT_EQ(FitClocks(readings, 2)[1].drift, 0) << round;
  }
}

// A switch of the wall clock is no drift: no crystal is that bad.
TEST(FitClocks, TakesNoDriftThatNoClockHas) {
  std::mt19937_64 random(5);
  EXPECT_EQ(FitClocks(AnHour(2'000, random), 2)[1].drift, 0);
}

// One in twelve ends is seen seconds late, by a rank that did not get to look.
TEST(FitClocks, FindsTheDriftBesideOutliers) {
  std::mt19937_64 random(6);
  std::vector<ClockReading> readings = AnHour(20, random);
  for (size_t i = 1; i < readings.size(); i += 24) readings[i].time_ns += 3'000'000'000;
  const ClockFit fit = FitClocks(readings, 2)[1];
  EXPECT_NEAR(fit.drift, 20e-6, 5e-9);
  EXPECT_LE(fit.error_ns, 10'000);
}

// 0 with 1 and 1 with 2; 2 drifts against 1, which drifts against 0.
TEST(FitClocks, AddsUpDriftsOnTheWay) {
  std::vector<ClockReading> readings;
  const auto slow = [](int64_t time_ns, int64_t ppm) {
    return time_ns - time_ns / 1'000'000 * ppm;
  };
  for (int64_t event = 0; event < 100; ++event) {
    const int64_t time_ns = event * 1'000'000'000;
    readings.push_back({event, 0, time_ns});
    readings.push_back({event, 1, slow(time_ns, 30) - 500});
    readings.push_back({event + 1'000, 1, slow(time_ns, 30) - 500});
    readings.push_back({event + 1'000, 2, slow(time_ns, 80) + 900});
  }
  const std::vector<ClockFit> fits = FitClocks(readings, 3);
  EXPECT_NEAR(fits[1].drift, 30e-6, 1e-8);
  EXPECT_NEAR(fits[2].drift, 80e-6, 1e-8);
  const int64_t time_ns = 63'000'000'000;
  const int64_t own_ns = slow(time_ns, 80) + 900;
  const double shift_ns = static_cast<double>(fits[2].offset_ns) +
                          fits[2].drift * static_cast<double>(own_ns - fits[2].from_ns);
  EXPECT_NEAR(shift_ns, static_cast<double>(time_ns - own_ns), 20);
}

}  // namespace
}  // namespace tutti::analyzer
