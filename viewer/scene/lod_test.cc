#include "viewer/scene/lod.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "viewer/testing/random_events.h"

namespace tutti::viewer {
namespace {

using testing::LaneEvents;

class LodTest : public ::testing::Test {
 protected:
  // Viewports of every size, many of them with edges inside events.
  Viewport AnyViewport() {
    const auto whole = static_cast<double>(events_.back().end_ns);
    const auto span = static_cast<int64_t>(std::exp2(4.4 + Share() * std::log2(whole / 20)));
    const auto begin = static_cast<int64_t>(Share() * whole * 1.1 - whole * 0.05);
    return {begin, begin + span, 16 + static_cast<int>(Share() * 700)};
  }
  double Share() { return static_cast<double>(random_() % 100'000) / 100'000; }

  bool Overlaps(const Event& event, const Viewport& viewport) const {
    return event.begin_ns < viewport.end_ns && event.end_ns > viewport.begin_ns;
  }

  static constexpr int64_t kMany = 64;  // events of a column that is made of whole nodes

  size_t FirstAt(int64_t time_ns) const {
    return static_cast<size_t>(
        std::lower_bound(events_.begin(), events_.end(), time_ns,
                         [](const Event& event, int64_t t) { return event.begin_ns < t; }) -
        events_.begin());
  }
  int64_t CountIn(int64_t begin_ns, int64_t end_ns) const {
    return static_cast<int64_t>(FirstAt(end_ns)) - static_cast<int64_t>(FirstAt(begin_ns));
  }
  int64_t TimeOf15From(int64_t time_ns) const {
    int64_t sum = 0;
    for (size_t i = FirstAt(time_ns), end = std::min(events_.size(), i + 15); i < end; ++i) {
      sum += events_[i].end_ns - events_[i].begin_ns;
    }
    return sum;
  }

  std::vector<Event> events_ = LaneEvents(11, 4'000);
  Lane lane_{events_};
  std::mt19937_64 random_{12};
};

TEST_F(LodTest, CountsEveryEventOnce) {
  for (int trial = 0; trial < 2'000; ++trial) {
    const Viewport viewport = AnyViewport();
    std::vector<SpanMark> marks;
    AppendMarks(lane_, viewport, &marks);
    int64_t expected = 0;
    for (const Event& event : events_) {
      // One of no length is on screen if its moment is.
      const bool is_moment = event.begin_ns == event.end_ns;
      expected += is_moment
                      ? event.begin_ns >= viewport.begin_ns && event.begin_ns < viewport.end_ns
                      : Overlaps(event, viewport);
    }
    int64_t shown = 0;
    for (const SpanMark& mark : marks) shown += mark.count;
    // A moment at the very begin of the screen behind an event that ends there may be cut.
    ASSERT_LE(std::abs(shown - expected), 1) << trial;
  }
}

TEST_F(LodTest, TheWholeLaneIsShownWholly) {
  std::vector<SpanMark> marks;
  AppendMarks(lane_, {events_.front().begin_ns - 1, events_.back().end_ns + 1, 300}, &marks);
  int64_t shown = 0;
  for (const SpanMark& mark : marks) shown += mark.count;
  EXPECT_EQ(shown, static_cast<int64_t>(events_.size()));
}

TEST_F(LodTest, DrawsNoMoreThanPixelsAllow) {
  for (int trial = 0; trial < 500; ++trial) {
    const Viewport viewport = AnyViewport();
    std::vector<SpanMark> marks;
    AppendMarks(lane_, viewport, &marks);
    ASSERT_LE(marks.size(), static_cast<size_t>(2 * viewport.width_px + 2));
    for (size_t i = 1; i < marks.size(); ++i) ASSERT_GE(marks[i].x0, marks[i - 1].x0);
  }
}

TEST_F(LodTest, WideEventsAreDrawnAloneAndInPlace) {
  for (int trial = 0; trial < 500; ++trial) {
    const Viewport viewport = AnyViewport();
    std::vector<SpanMark> marks;
    AppendMarks(lane_, viewport, &marks);
    size_t wide = 0;
    for (const Event& event : events_) {
      const double width =
          static_cast<double>(event.end_ns - event.begin_ns) / viewport.ns_per_px();
      wide += Overlaps(event, viewport) && width >= 2;
    }
    size_t alone = 0;
    for (const SpanMark& mark : marks) {
      if (mark.count > 1) continue;
      const Event& event = events_[mark.index];
      alone += static_cast<double>(event.end_ns - event.begin_ns) / viewport.ns_per_px() >= 2;
      if (event.begin_ns >= viewport.begin_ns) {
        ASSERT_NEAR(mark.x0, viewport.ToX(event.begin_ns), 0.01);
      }
    }
    ASSERT_EQ(alone, wide);
  }
}

TEST_F(LodTest, AFoldNamesItsLongestEvent) {
  const Viewport viewport{0, events_.back().end_ns, 20};
  std::vector<SpanMark> marks;
  AppendMarks(lane_, viewport, &marks);
  size_t at = 0;
  for (const SpanMark& mark : marks) {
    int64_t longest = -1;
    for (int64_t i = 0; i < mark.count; ++i, ++at) {
      longest = std::max(longest, events_[at].end_ns - events_[at].begin_ns);
    }
    ASSERT_EQ(lane_.duration_ns(mark.index), longest);
  }
}

TEST_F(LodTest, BandsAreTheShareOfEachColumn) {
  const Lane* lanes[] = {&lane_};
  int exact_columns = 0;
  for (int trial = 0; trial < 600; ++trial) {
    Viewport viewport = AnyViewport();
    if (viewport.span_ns() < viewport.width_px) viewport.width_px = 16;
    const std::vector<BandMark> band = BandOf(lanes, viewport);
    for (int column = 0; column < viewport.width_px; ++column) {
      const int64_t begin = viewport.ColumnBegin(column);
      const int64_t end = viewport.ColumnBegin(column + 1);
      CategoryNs busy = {};
      lane_.AddBusy(begin, end, &busy);
      const auto mark = std::find_if(band.begin(), band.end(), [&](const BandMark& m) {
        return column >= m.x0 && column < m.x1;
      });
      // This column or the one before may have taken up to 15 events of the next.
      const bool is_exact = CountIn(begin - (end - begin) - 1, begin) + 15 < kMany &&
                            CountIn(begin, end) + 15 < kMany;
      // Of those that reach over an edge an eighth of a column may be on the other side.
      const int64_t moved_ns =
          is_exact ? 0 : TimeOf15From(begin) + TimeOf15From(end) + (end - begin) / 4;
      // Sixteenths, each category in turn at least one; a column is whole nanoseconds wide.
      const double tolerance =
          5.0 / 16 + (1 + static_cast<double>(moved_ns)) / viewport.ns_per_px();
      exact_columns += is_exact;
      double expected_sum = 0;
      double shown_sum = 0;
      for (size_t i = 0; i < kCategories; ++i) {
        const double expected = static_cast<double>(busy[i]) / viewport.ns_per_px();
        const double shown = mark == band.end() ? 0 : static_cast<double>(mark->share[i]);
        expected_sum += expected;
        shown_sum += shown;
        if (!is_exact) continue;
        ASSERT_NEAR(shown, expected, tolerance) << trial << " column " << column;
        ASSERT_EQ(shown > 0, busy[i] > 0) << trial << " column " << column;
      }
      ASSERT_NEAR(shown_sum, expected_sum, tolerance) << trial << " column " << column;
    }
  }
  EXPECT_GT(exact_columns, 1'000);
}

TEST_F(LodTest, BandsHaveNoGapsWithinANanosecond) {
  const Lane* lanes[] = {&lane_};
  const Event* longest = &events_[0];
  for (const Event& event : events_) {
    if (event.end_ns - event.begin_ns > longest->end_ns - longest->begin_ns) longest = &event;
  }
  const Viewport inside{longest->begin_ns + 10, longest->begin_ns + 40, 300};
  const std::vector<BandMark> band = BandOf(lanes, inside);
  ASSERT_EQ(band.size(), 1U);
  EXPECT_EQ(band[0].x0, 0);
  EXPECT_EQ(band[0].x1, 300);
}

// A burst of events in the first pixel, then one in the middle of each pixel.
TEST(Lod, ABurstTakesNothingFromFarAway) {
  constexpr int kColumns = 30;
  std::vector<Event> events;
  for (int64_t i = 0; i < 72; ++i) {
    events.push_back({.begin_ns = 2 * i, .end_ns = 2 * i + 1, .category = Category::kCompute});
  }
  for (int64_t column = 1; column < kColumns; ++column) {
    const int64_t begin = 1000 * column + 500;
    events.push_back({.begin_ns = begin, .end_ns = begin + 100, .category = Category::kCompute});
  }
  const Lane lane(events);
  const Viewport viewport{0, 1000 * kColumns, kColumns};
  std::vector<SpanMark> marks;
  AppendMarks(lane, viewport, &marks);
  ASSERT_EQ(marks.size(), static_cast<size_t>(kColumns));
  EXPECT_EQ(marks[0].count, 72);
  for (size_t i = 1; i < marks.size(); ++i) {
    EXPECT_EQ(marks[i].count, 1);
    EXPECT_EQ(marks[i].index, 71 + i);
  }
  const Lane* lanes[] = {&lane};
  int covered = 0;
  for (const BandMark& mark : BandOf(lanes, viewport)) covered += mark.x1 - mark.x0;
  EXPECT_EQ(covered, kColumns);
}

TEST(Lod, RangesAreNoWork) {
  const Lane range(std::vector<Event>{{.begin_ns = 0, .end_ns = 100, .category = Category::kStep}});
  const Lane work(
      std::vector<Event>{{.begin_ns = 20, .end_ns = 40, .category = Category::kCompute}});
  const Lane* lanes[] = {&range, &work};
  const Viewport viewport{0, 100, 10};
  EXPECT_EQ(BandOf(lanes, viewport).front().x0, 0);
  const std::vector<BandMark> band = BandOf(lanes, viewport, true);
  ASSERT_EQ(band.size(), 1U);
  EXPECT_EQ(band[0].x0, 2);
  EXPECT_EQ(band[0].x1, 4);
  EXPECT_EQ(band[0].share[static_cast<size_t>(Category::kStep)], 0);
}

TEST(EnvelopeOf, KeepsThePeakOfOneSample) {
  std::vector<Sample> samples;
  for (int64_t i = 0; i < 10'000; ++i) samples.push_back({i, i == 4'321 ? 1e6 : 1.0});
  const std::vector<SeriesMark> marks = EnvelopeOf(Series(samples), {0, 10'000, 100});
  ASSERT_EQ(marks.size(), 100U);
  EXPECT_EQ(marks[43].largest, 1e6);
  EXPECT_EQ(marks[43].least, 1);
  EXPECT_EQ(marks[44].largest, 1);
}

}  // namespace
}  // namespace tutti::viewer
