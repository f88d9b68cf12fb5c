#include "analyzer/metrics/device_gaps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tutti::analyzer {
namespace {

// ns       0    10   20   30   40   50   60   70
// launch          B[==)          D[==)
// stream   [=A==)       [=B==)            [=D==)
// gap           [host.|l)     [host.......|l...)
TEST(GapsBetween, EndWithTheWorkWhoseLaunchExplainsThem) {
  const DeviceWork work[] = {{{0, 10}, 0}, {{22, 32}, 20}, {{60, 70}, 42}};
  const std::vector<DeviceGap> gaps = GapsBetween(work);
  ASSERT_EQ(gaps.size(), 2u);
  EXPECT_EQ(gaps[0].time, (Interval{10, 22}));
  EXPECT_EQ(gaps[1].time, (Interval{32, 60}));
  const GapCauses causes = CausesOf(gaps);
  EXPECT_EQ(causes.host, (IntervalSet{{10, 20}, {32, 42}}));
  EXPECT_EQ(causes.launched, (IntervalSet{{20, 22}, {42, 60}}));
  EXPECT_TRUE(causes.unknown.empty());
}

TEST(GapsBetween, WorkThatOverlapsOrTouchesOrHasNoLengthLeavesNone) {
  const DeviceWork work[] = {{{0, 10}, {}}, {{8, 20}, {}}, {{20, 30}, {}}, {{33, 33}, {}}};
  EXPECT_TRUE(GapsBetween(work).empty());
  EXPECT_TRUE(GapsBetween({}).empty());
}

TEST(DeviceGaps, ReachFromTheBeginToTheEndOfTheCapture) {
  const DeviceWork work[] = {{{10, 20}, 6}, {{30, 40}, {}}};
  const GapCauses causes = CausesOf(DeviceGaps(work, {0, 50}));
  EXPECT_EQ(causes.host, (IntervalSet{{0, 6}, {40, 50}}));
  EXPECT_EQ(causes.launched, (IntervalSet{{6, 10}}));
  EXPECT_EQ(causes.unknown, (IntervalSet{{20, 30}}));
}

TEST(DeviceGaps, WithoutAnyLaunchNothingIsSaidToBeTheHosts) {
  const DeviceWork work[] = {{{10, 20}, {}}};
  const GapCauses causes = CausesOf(DeviceGaps(work, {0, 50}));
  EXPECT_EQ(causes.unknown, (IntervalSet{{0, 10}, {20, 50}}));
  EXPECT_TRUE(causes.host.empty());
}

TEST(DeviceGaps, OfWorkThatBeginsTogetherTheLastLaunchCounts) {
  const DeviceWork work[] = {{{0, 10}, 0}, {{20, 30}, 12}, {{20, 25}, 17}, {{20, 20}, 19}};
  EXPECT_EQ(CausesOf(GapsBetween(work)).host, (IntervalSet{{10, 17}}));
}

TEST(ConcurrencyNs, AddsUpToTheSpan) {
  // 0     [a========)
  //           [b========)   [b)
  const IntervalSet sets[] = {{{0, 10}}, {{5, 15}, {20, 22}}};
  EXPECT_EQ(ConcurrencyNs(sets, {0, 30}), (std::vector<int64_t>{13, 12, 5}));
  EXPECT_EQ(ConcurrencyNs(sets, {8, 12}), (std::vector<int64_t>{0, 2, 2}));
  EXPECT_EQ(ConcurrencyNs({}, {0, 5}), (std::vector<int64_t>{5}));
}

// Every nanosecond by itself: who is busy, and if nobody is, which launch the gap waits for.
TEST(DeviceGaps, AgreeWithMarkingEveryNanosecond) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    constexpr int64_t kEnd = 60;
    std::vector<DeviceWork> work;
    for (int64_t count = random() % 8; count > 0; --count) {
      const auto begin = static_cast<int64_t>(random() % kEnd);
      const auto length = static_cast<int64_t>(random() % 9);
      DeviceWork piece{{begin, std::min(begin + length, kEnd)}, {}};
      if (random() % 4 != 0) piece.launched_ns = static_cast<int64_t>(random() % kEnd);
      work.push_back(piece);
    }
    std::sort(work.begin(), work.end(),
              [](const auto& a, const auto& b) { return a.time.begin_ns < b.time.begin_ns; });
    std::array<int64_t, 3> expected{};  // host, launched, unknown
    const bool any_launch = std::any_of(work.begin(), work.end(),
                                        [](const auto& w) { return w.launched_ns.has_value(); });
    for (int64_t t = 0; t < kEnd; ++t) {
      const bool busy = std::any_of(work.begin(), work.end(), [&](const auto& w) {
        return w.time.begin_ns <= t && t < w.time.end_ns;
      });
      if (busy) continue;
      int64_t next = kEnd;
      for (const auto& w : work) {
        if (w.time.begin_ns > t && w.time.length_ns() > 0) next = std::min(next, w.time.begin_ns);
      }
      bool known = next < kEnd || any_launch;
      int64_t launched = next < kEnd ? 0 : kEnd;
      for (const auto& w : work) {
        if (w.time.begin_ns != next || w.time.length_ns() == 0) continue;
        if (!w.launched_ns) known = false;
        launched = std::max(launched, w.launched_ns.value_or(0));
      }
      ++expected[!known ? 2 : (t < launched ? 0 : 1)];
    }
    const GapCauses causes = CausesOf(DeviceGaps(work, {0, kEnd}));
    EXPECT_EQ(TotalNs(causes.host), expected[0]) << round;
    EXPECT_EQ(TotalNs(causes.launched), expected[1]) << round;
    EXPECT_EQ(TotalNs(causes.unknown), expected[2]) << round;
  }
}

}  // namespace
}  // namespace tutti::analyzer
