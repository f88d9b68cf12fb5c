#include "common/interval.h"

#include <gtest/gtest.h>

#include <bitset>
#include <limits>
#include <random>

namespace tutti {
namespace {

TEST(Union, MergesOverlapAndTouchAndDropsEmpty) {
  const Interval sorted[] = {{0, 5}, {3, 8}, {8, 9}, {10, 10}, {12, 13}};
  EXPECT_EQ(Union(sorted), (IntervalSet{{0, 9}, {12, 13}}));
}

// ns   0         10        20        30   35   40
// a    [===================)         [=========)
// b              [========================)
// a\b  [=========)                        [====)
TEST(Subtract, LeavesWhatTheOtherDoesNotCover) {
  const Interval a[] = {{0, 20}, {30, 40}};
  const Interval b[] = {{10, 35}};
  EXPECT_EQ(Subtract(a, b), (IntervalSet{{0, 10}, {35, 40}}));
  EXPECT_EQ(Intersect(a, b), (IntervalSet{{10, 20}, {30, 35}}));
}

TEST(Subtract, OneHoleMayCutSeveralIntervals) {
  const Interval a[] = {{0, 2}, {4, 6}, {8, 10}};
  const Interval b[] = {{1, 9}};
  EXPECT_EQ(Subtract(a, b), (IntervalSet{{0, 1}, {9, 10}}));
}

TEST(Clip, CutsAtBothEndsOfTheWindow) {
  const Interval set[] = {{0, 4}, {6, 10}, {12, 20}};
  EXPECT_EQ(Clip(set, {2, 13}), (IntervalSet{{2, 4}, {6, 10}, {12, 13}}));
  EXPECT_TRUE(Clip(set, {4, 6}).empty());
}

// Oracle: mark every nanosecond.
using Marks = std::bitset<128>;
Marks MarksOf(std::span<const Interval> intervals) {
  Marks marks;
  for (const Interval& interval : intervals) {
    for (int64_t t = interval.begin_ns; t < interval.end_ns; ++t) marks.set(static_cast<size_t>(t));
  }
  return marks;
}

bool IsCanonical(std::span<const Interval> set) {
  for (size_t i = 0; i < set.size(); ++i) {
    if (set[i].begin_ns >= set[i].end_ns) return false;
    if (i > 0 && set[i - 1].end_ns >= set[i].begin_ns) return false;
  }
  return true;
}

TEST(IntervalSets, AgreeWithMarkingEveryNanosecond) {
  std::mt19937 random(20261130);
  auto random_list = [&] {
    std::vector<Interval> list(random() % 12);
    for (Interval& interval : list) {
      interval.begin_ns = random() % 100;
      interval.end_ns = interval.begin_ns + random() % 20;
    }
    SortByBegin(list);
    return list;
  };
  for (int round = 0; round < 5000; ++round) {
    const std::vector<Interval> list_a = random_list();
    const std::vector<Interval> list_b = random_list();
    const IntervalSet a = Union(list_a);
    const IntervalSet b = Union(list_b);
    const Marks marks_a = MarksOf(list_a);
    const Marks marks_b = MarksOf(list_b);
    const Interval window{static_cast<int64_t>(random() % 60),
                          60 + static_cast<int64_t>(random() % 60)};
    const IntervalSet results[] = {a, Intersect(a, b), Subtract(a, b), Merge(a, b),
                                   Clip(a, window)};
    const Interval window_list[] = {window};
    const Marks expected[] = {marks_a, marks_a & marks_b, marks_a & ~marks_b, marks_a | marks_b,
                              marks_a & MarksOf(window_list)};
    for (size_t i = 0; i < std::size(results); ++i) {
      ASSERT_EQ(MarksOf(results[i]), expected[i]) << "operation " << i << " round " << round;
      ASSERT_TRUE(IsCanonical(results[i])) << "operation " << i << " round " << round;
      ASSERT_EQ(TotalNs(results[i]), static_cast<int64_t>(expected[i].count()));
    }
  }
}

TEST(UnionOfRuns, IsTheUnionOfEverything) {
  std::mt19937 random(20261201);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::vector<Interval>> runs(random() % 8);
    std::vector<Interval> all;
    for (std::vector<Interval>& run : runs) {
      run.resize(random() % 6);
      for (Interval& interval : run) {
        interval.begin_ns = random() % 100;
        interval.end_ns = interval.begin_ns + random() % 20;
      }
      SortByBegin(run);
      all.insert(all.end(), run.begin(), run.end());
    }
    SortByBegin(all);
    ASSERT_EQ(UnionOfRuns({runs.begin(), runs.end()}), Union(all)) << "round " << round;
  }
}

// Many stretches of time, dense and sparse ones, intervals of nanoseconds and of minutes.
TEST(UnionOfRuns, IsTheSameForTimesOfAnyLength) {
  std::mt19937_64 random(7);
  constexpr int64_t kLengths[] = {1, 50, 5'000, 3'000'000, 4'294'967'296, 90'000'000'000};
  for (int round = 0; round < 24; ++round) {
    std::vector<std::vector<Interval>> runs(1 + random() % 5);
    std::vector<Interval> all;
    for (std::vector<Interval>& run : runs) {
      int64_t now_ns = static_cast<int64_t>(random() % 1'000) - 500;
      const auto most = static_cast<size_t>(round % 6);
      for (int64_t i = 0; i < 9'000; ++i) {
        const int64_t longest = kLengths[random() % (random() % 50 == 0 ? 6 : most + 1)];
        now_ns += static_cast<int64_t>(random() % static_cast<uint64_t>(kLengths[most] * 3));
        run.push_back({now_ns, now_ns + static_cast<int64_t>(random() % 2) * longest});
      }
      all.insert(all.end(), run.begin(), run.end());
    }
    SortByBegin(all);
    ASSERT_EQ(UnionOfRuns({runs.begin(), runs.end()}), Union(all)) << "round " << round;
  }
}

TEST(UnionOfRuns, KeepsTheEarliestTimeThereIs) {
  constexpr int64_t kEarliest = std::numeric_limits<int64_t>::min();
  const Interval a[] = {{kEarliest, kEarliest + 5}};
  const Interval b[] = {{kEarliest + 3, kEarliest + 9}};
  EXPECT_EQ(UnionOfRuns({a, b}), (IntervalSet{{kEarliest, kEarliest + 9}}));
}

}  // namespace
}  // namespace tutti
