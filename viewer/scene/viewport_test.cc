#include "viewer/scene/viewport.h"

#include <gtest/gtest.h>

#include <random>

namespace tutti::viewer {
namespace {

// Ten hours after the begin of time, at two pixels a nanosecond.
TEST(Viewport, ANanosecondIsAPlaceOfItsOwnAfterHours) {
  const int64_t begin = int64_t{1'700'000'000} * 1'000'000'000;
  const Viewport viewport{begin, begin + 500, 1000};
  EXPECT_DOUBLE_EQ(viewport.ToX(begin + 123), 246);
  EXPECT_EQ(viewport.ToTime(246), begin + 123);
}

TEST(Viewport, ColumnsCoverTimeWithoutGaps) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 2'000; ++trial) {
    const auto begin = static_cast<int64_t>(random() % 1'000'000);
    const auto span = static_cast<int64_t>(20 + random() % (trial % 2 == 0 ? 300 : 3'000'000));
    const Viewport viewport{begin, begin + span, 16 + static_cast<int>(random() % 500)};
    EXPECT_EQ(viewport.ColumnBegin(0), viewport.begin_ns);
    EXPECT_EQ(viewport.ColumnBegin(viewport.width_px), viewport.end_ns);
    const int64_t time = begin + static_cast<int64_t>(random() % static_cast<uint64_t>(span));
    const int column = viewport.ColumnOf(time);
    ASSERT_LE(viewport.ColumnBegin(column), time);
    ASSERT_GT(viewport.ColumnBegin(column + 1), time);
  }
}

TEST(Viewport, ZoomKeepsTheTimeUnderTheCursor) {
  const Viewport viewport{1'000'000, 9'000'000, 800};
  const int64_t anchor = viewport.ToTime(300);
  Viewport zoomed = viewport;
  for (int i = 0; i < 20; ++i) zoomed = zoomed.ZoomedAt(zoomed.ToX(anchor), 0.8);
  EXPECT_NEAR(zoomed.ToX(anchor), 300, 1);
  EXPECT_LT(zoomed.span_ns(), viewport.span_ns() / 50);
}

TEST(Viewport, StopsAtTwentyNanoseconds) {
  Viewport viewport{0, 1'000, 100};
  for (int i = 0; i < 50; ++i) viewport = viewport.ZoomedAt(50, 0.5);
  EXPECT_EQ(viewport.span_ns(), Viewport::kShortestNs);
}

TEST(Viewport, StaysNearTheRun) {
  const Viewport viewport{0, 1'000, 100};
  const Viewport far = viewport.PannedBy(1e6).KeptInside(0, 10'000);
  EXPECT_LE(far.end_ns, 10'600);
  EXPECT_EQ(far.span_ns(), 1'000);
  const Viewport wide = viewport.ZoomedAt(50, 1e6).KeptInside(0, 10'000);
  EXPECT_LE(wide.begin_ns, 0);
  EXPECT_GE(wide.end_ns, 10'000);
  EXPECT_LE(wide.span_ns(), 11'100);
}

}  // namespace
}  // namespace tutti::viewer
