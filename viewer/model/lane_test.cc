#include "viewer/model/lane.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "viewer/model/lane_builder.h"
#include "viewer/testing/random_events.h"

namespace tutti::viewer {
namespace {

using testing::EventMix;
using testing::LaneEvents;
using testing::TangledEvents;

LaneSummary SummarizeSlowly(const std::vector<Event>& events, size_t first, size_t last) {
  LaneSummary summary;
  summary.count = static_cast<int64_t>(last - first);
  for (size_t i = first; i < last; ++i) {
    const int64_t duration = events[i].end_ns - events[i].begin_ns;
    summary.busy_ns[static_cast<size_t>(events[i].category)] += duration;
    if (duration > summary.longest_ns) {
      summary.longest = static_cast<uint32_t>(i);
      summary.longest_ns = duration;
    }
  }
  return summary;
}

void ExpectSame(const Lane& lane, const std::vector<Event>& events) {
  ASSERT_EQ(lane.size(), events.size());
  for (uint32_t i = 0; i < lane.size(); ++i) {
    const Event event = lane.event(i);
    ASSERT_EQ(event.begin_ns, events[i].begin_ns) << i;
    ASSERT_EQ(event.end_ns, events[i].end_ns) << i;
    ASSERT_EQ(event.name, events[i].name) << i;
    ASSERT_EQ(event.row_id, events[i].row_id) << i;
    ASSERT_EQ(event.category, events[i].category) << i;
  }
}

TEST(Lane, GivesBackWhatItWasMadeOf) {
  const std::vector<Event> events = LaneEvents(1, 10'000);
  ExpectSame(Lane(events), events);
}

// Ten hours between events and ten hours long ones: neither fits 32 bits.
TEST(Lane, IsExactOverHours) {
  const int64_t hours = int64_t{36'000} * 1'000'000'000;
  const std::vector<Event> events = LaneEvents(
      2, 1'000, {.first_ns = -hours, .longest_gap_ns = hours, .longest_ns = hours / 1000});
  ExpectSame(Lane(events), events);
}

TEST(Lane, HoldsMoreNamesThan16Bits) {
  const std::vector<Event> events = LaneEvents(3, 150'000, {.names = 100'000});
  ExpectSame(Lane(events), events);
}

TEST(Lane, TakesNoMoreThan16BytesAnEvent) {
  const Lane lane(LaneEvents(4, 1'000'000, {.names = 3}));
  EXPECT_LE(lane.bytes(), 16U * lane.size());
}

TEST(Lane, SummariesAreThoseOfBruteForce) {
  const std::vector<Event> events = LaneEvents(5, 5'000);
  const Lane lane(events);
  std::mt19937 random(6);
  for (int trial = 0; trial < 3'000; ++trial) {
    uint32_t first = static_cast<uint32_t>(random() % (events.size() + 1));
    uint32_t last = static_cast<uint32_t>(random() % (events.size() + 1));
    if (first > last) std::swap(first, last);
    const LaneSummary summary = lane.Summarize(first, last);
    const LaneSummary expected = SummarizeSlowly(events, first, last);
    ASSERT_EQ(summary.count, expected.count);
    ASSERT_EQ(summary.longest_ns, expected.longest_ns) << first << " to " << last;
    ASSERT_EQ(summary.longest, expected.longest) << first << " to " << last;
    ASSERT_EQ(summary.busy_ns, expected.busy_ns) << first << " to " << last;
  }
}

// Whole and broken nodes at either end.
TEST(Lane, SummariesOfShortLanesAreThoseOfBruteForce) {
  for (uint32_t count = 1; count <= 70; ++count) {
    const std::vector<Event> events = LaneEvents(count, count);
    const Lane lane(events);
    for (uint32_t first = 0; first <= count; ++first) {
      for (uint32_t last = first; last <= count; ++last) {
        const LaneSummary expected = SummarizeSlowly(events, first, last);
        ASSERT_EQ(lane.Summarize(first, last).busy_ns, expected.busy_ns) << count;
        ASSERT_EQ(lane.Summarize(first, last).longest_ns, expected.longest_ns) << count;
      }
    }
  }
}

TEST(Lane, FindsEventsByTime) {
  const std::vector<Event> events = LaneEvents(7, 2'000);
  const Lane lane(events);
  std::mt19937_64 random(8);
  for (int trial = 0; trial < 3'000; ++trial) {
    const auto span = static_cast<uint64_t>(events.back().end_ns + 200);
    const int64_t time = static_cast<int64_t>(random() % span) - 100;
    const auto beginning = std::find_if(events.begin(), events.end(),
                                        [&](const Event& e) { return e.begin_ns >= time; });
    ASSERT_EQ(lane.FirstBeginningAt(time), beginning - events.begin());
    const uint32_t from = static_cast<uint32_t>(random() % (events.size() + 1));
    ASSERT_EQ(lane.FirstBeginningAt(time, from),
              std::max<int64_t>(from, beginning - events.begin()));
    const auto ending = std::find_if(events.begin(), events.end(), [&](const Event& e) {
      return e.end_ns > time || e.begin_ns >= time;
    });
    ASSERT_EQ(lane.FirstEndingAfter(time), ending - events.begin());
  }
}

TEST(Lane, BusyTimeIsClippedToTheRange) {
  const std::vector<Event> events = LaneEvents(9, 2'000);
  const Lane lane(events);
  std::mt19937_64 random(10);
  for (int trial = 0; trial < 1'000; ++trial) {
    const auto span = static_cast<uint64_t>(events.back().end_ns);
    int64_t begin = static_cast<int64_t>(random() % span);
    int64_t end = trial % 2 == 0 ? begin + 20 : static_cast<int64_t>(random() % span);
    if (begin > end) std::swap(begin, end);
    CategoryNs expected = {};
    for (const Event& e : events) {
      const int64_t inside = std::min(end, e.end_ns) - std::max(begin, e.begin_ns);
      expected[static_cast<size_t>(e.category)] += std::max<int64_t>(0, inside);
    }
    CategoryNs busy = {};
    lane.AddBusy(begin, end, &busy);
    ASSERT_EQ(busy, expected) << begin << " to " << end;
  }
}

TEST(BuildLanes, HidesNothing) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const std::vector<Event> events = TangledEvents(seed, 500);
    const std::vector<Lane> lanes = BuildLanes(events);
    std::vector<uint32_t> rows;
    for (const Lane& lane : lanes) {
      for (uint32_t i = 0; i < lane.size(); ++i) {
        rows.push_back(lane.row_id(i));
        ASSERT_TRUE(i == 0 || lane.begin_ns(i) >= lane.end_ns(i - 1));
      }
    }
    std::sort(rows.begin(), rows.end());
    ASSERT_EQ(rows.size(), events.size());
    for (uint32_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i], i);
  }
}

// outer  [==================)
// first    [=====)
// inner      [=)
// second             [===)
TEST(BuildLanes, PutsCallsBelowTheirCaller) {
  const std::vector<Lane> lanes = BuildLanes({{.begin_ns = 2, .end_ns = 8, .row_id = 1},
                                              {.begin_ns = 4, .end_ns = 6, .row_id = 2},
                                              {.begin_ns = 0, .end_ns = 20, .row_id = 0},
                                              {.begin_ns = 12, .end_ns = 16, .row_id = 3}});
  ASSERT_EQ(lanes.size(), 3U);
  EXPECT_EQ(lanes[0].row_id(0), 0U);
  ASSERT_EQ(lanes[1].size(), 2U);
  EXPECT_EQ(lanes[1].row_id(1), 3U);
  EXPECT_EQ(lanes[2].row_id(0), 2U);
}

// Kernels that overlap without one containing the other take the first free lane.
TEST(BuildLanes, ReusesLanes) {
  std::vector<Event> events;
  for (int64_t i = 0; i < 100; ++i) {
    events.push_back(
        {.begin_ns = 10 * i, .end_ns = 10 * i + 15, .row_id = static_cast<uint32_t>(i)});
  }
  EXPECT_EQ(BuildLanes(events).size(), 2U);
}

}  // namespace
}  // namespace tutti::viewer
