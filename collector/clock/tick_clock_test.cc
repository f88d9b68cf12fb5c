#include "collector/clock/tick_clock.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <utility>

namespace tutti::collector::clock {
namespace {

ClockReading Reading(uint64_t ticks, int64_t raw_ns) { return {ticks, 0, raw_ns, 0}; }

TEST(Anchor, TellsTimesThatNoClockHas) {
  const Anchor anchor{1'000'000, 100};
  EXPECT_EQ(anchor.ToTraceNs(150), 1'000'050);
  EXPECT_EQ(anchor.ToTraceNs(INT64_MAX), INT64_MAX);
  EXPECT_EQ((Anchor{-1'000, 100}.ToTraceNs(INT64_MIN)), INT64_MIN);
  EXPECT_EQ((Anchor{INT64_MAX, INT64_MIN}.ToTraceNs(0)), INT64_MAX);
}

TEST(TickClock, IsExactAtReadingsAndLinearBetween) {
  TickClock clock(Anchor{1'000'000, 100});
  ASSERT_TRUE(clock.Add(Reading(3'000, 100)));
  ASSERT_TRUE(clock.Add(Reading(6'000, 1'100)));
  ASSERT_TRUE(clock.Add(Reading(6'010, 1'200)));
  EXPECT_EQ(clock.ToTraceNs(3'000), 1'000'000);
  EXPECT_EQ(clock.ToTraceNs(4'500), 1'000'500);
  EXPECT_EQ(clock.ToTraceNs(6'000), 1'001'000);
  EXPECT_EQ(clock.ToTraceNs(6'001), 1'001'010);
}

TEST(TickClock, NeverExtrapolates) {
  TickClock clock(Anchor{0, 0});
  clock.Add(Reading(1'000, 500));
  clock.Add(Reading(2'000, 900));
  EXPECT_FALSE(clock.Covers(999));
  EXPECT_TRUE(clock.Covers(1'000));
  EXPECT_TRUE(clock.Covers(2'000));
  EXPECT_FALSE(clock.Covers(2'001));
  EXPECT_EQ(clock.ToTraceNs(0), 500);
  EXPECT_EQ(clock.ToTraceNs(UINT64_MAX), 900);
}

TEST(TickClock, LeavesOutReadingsThatGoBack) {
  TickClock clock(Anchor{0, 0});
  EXPECT_TRUE(clock.Add(Reading(1'000, 500)));
  EXPECT_FALSE(clock.Add(Reading(1'000, 600)));
  EXPECT_FALSE(clock.Add(Reading(1'100, 500)));
  EXPECT_FALSE(clock.Add(Reading(900, 400)));
  EXPECT_TRUE(clock.Add(Reading(1'001, 501)));
}

TEST(TickClock, HoldsSpansOfYearsWithoutOverflow) {
  constexpr uint64_t kTicksPerYear = 5'000'000'000ull * 86'400 * 365;
  constexpr int64_t kNsPerYear = 1'000'000'000ll * 86'400 * 365;
  TickClock clock(Anchor{0, 0});
  clock.Add(Reading(0, 0));
  clock.Add(Reading(10 * kTicksPerYear, 10 * kNsPerYear));
  EXPECT_EQ(clock.ToTraceNs(3 * kTicksPerYear), 3 * kNsPerYear);
}

TEST(TickClock, IsMonotoneForAnyOrderOfQuestions) {
  std::mt19937_64 random(7);
  TickClock clock(Anchor{1'700'000'000'000'000'000, 12'345});
  uint64_t ticks = 1'000'000;
  int64_t raw_ns = 12'345;
  for (int i = 0; i < 1'000; ++i) {
    clock.Add(Reading(ticks, raw_ns));
    ticks += 1 + random() % 3'000'000;
    raw_ns += static_cast<int64_t>(1 + random() % 1'000'000);
  }
  std::uniform_int_distribution<uint64_t> any(clock.first_ticks(), clock.last_ticks());
  for (int i = 0; i < 20'000; ++i) {
    uint64_t early = any(random);
    uint64_t late = any(random);
    if (early > late) std::swap(early, late);
    EXPECT_LE(clock.ToTraceNs(early), clock.ToTraceNs(late));
  }
}

TEST(ClockReading, TwoReadingsEncloseWhatHappensBetween) {
  const wire::ClockKind kind = ChooseClockKind();
  const ClockReading first = ReadClocks(kind);
  const ClockReading second = ReadClocks(kind);
  EXPECT_LT(first.ticks, second.ticks);
  EXPECT_LE(first.monotonic_raw_ns, second.monotonic_raw_ns);
  EXPECT_GE(first.uncertainty_ns, 0);
  EXPECT_LT(first.uncertainty_ns, 100'000'000);
}

TEST(ClockReading, MonotonicRawTicksAreNanoseconds) {
  const ClockReading reading = ReadClocks(wire::ClockKind::kMonotonicRaw);
  EXPECT_EQ(reading.ticks, static_cast<uint64_t>(reading.monotonic_raw_ns));
}

}  // namespace
}  // namespace tutti::collector::clock
