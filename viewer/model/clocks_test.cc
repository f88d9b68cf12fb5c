#include "viewer/model/clocks.h"

#include <gtest/gtest.h>

#include "viewer/model/lane_builder.h"
#include "viewer/testing/small_run.h"
#include "viewer/testing/two_small_runs.h"

namespace tutti::viewer {
namespace {

// Two hosts; the second's clock is 1,000 ns behind.
RunSummary TwoHosts() {
  RunSummary summary = testing::SmallRun().summary;
  summary.ranks[1].clock_domain = 1;
  summary.ranks[1].clock_offset_ns = 1'000;
  summary.ranks[1].clock_error_ns = 30;
  return summary;
}

TEST(OwnClockShifts, AreThoseOfRank0sClock) {
  EXPECT_EQ(OwnClockShifts(TwoHosts()), (std::vector<int64_t>{0, -1'000}));
  EXPECT_TRUE(OwnClockShifts(testing::SmallRun().summary).empty()) << "one clock";
  EXPECT_TRUE(OwnClockShifts(testing::TwoSmallRuns().summary).empty());
}

TEST(ClockErrorNs, IsThatBetweenHosts) {
  EXPECT_EQ(ClockErrorNs(TwoHosts(), 1), 30);
  EXPECT_EQ(ClockErrorNs(TwoHosts(), 0), std::nullopt) << "untold";
  RunSummary one_clock = testing::SmallRun().summary;
  one_clock.ranks[1].clock_error_ns = 30;
  EXPECT_EQ(ClockErrorNs(one_clock, 1), std::nullopt);
}

TEST(MovedBy, MovesEveryTimeAndNothingElse) {
  const testing::SmallRun run;
  const auto moved = MovedBy(*run.ranks[0], -77);
  const Lane& before = run.ranks[0]->tracks[0].lanes[0];
  const Lane& after = moved->tracks[0].lanes[0];
  ASSERT_EQ(after.size(), before.size());
  for (uint32_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after.begin_ns(i), before.begin_ns(i) - 77);
    EXPECT_EQ(after.duration_ns(i), before.duration_ns(i));
    EXPECT_EQ(after.row_id(i), before.row_id(i));
  }
  EXPECT_EQ(after.FirstBeginningAt(200 - 77), before.FirstBeginningAt(200));
  EXPECT_EQ(moved->tracks[1].series.sample(1).time_ns, 100 - 77);
  EXPECT_EQ(moved->tracks[1].series.sample(1).value, 4096);
}

// Begins further apart than 32 bits tell are kept otherwise.
TEST(MovedBy, MovesBeginsThatAreHoursApart) {
  constexpr int64_t kHour = 3'600'000'000'000;
  const Lane lane(std::vector<Event>{{.begin_ns = 0, .end_ns = 1},
                                     {.begin_ns = kHour, .end_ns = 2 * kHour},
                                     {.begin_ns = 10 * kHour, .end_ns = 10 * kHour + 5}});
  const Lane moved = lane.MovedBy(kHour);
  EXPECT_EQ(moved.begin_ns(0), kHour);
  EXPECT_EQ(moved.end_ns(1), 3 * kHour);
  EXPECT_EQ(moved.begin_ns(2), 11 * kHour);
}

}  // namespace
}  // namespace tutti::viewer
