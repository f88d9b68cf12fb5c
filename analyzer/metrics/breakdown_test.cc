#include "analyzer/metrics/breakdown.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analyzer/metrics/after_sync.h"

namespace tutti::analyzer {
namespace {

// The picture of breakdown.h.
TEST(BreakDown, FirstInPrecedenceTakesTheMoment) {
  ActivitySets activity;
  activity.compute = {{0, 9}, {20, 25}};
  activity.comm_wait = {{5, 15}};
  activity.comm_transfer = {{14, 32}};
  activity.input_wait = {{30, 35}};
  const Interval windows[] = {{0, 40}};
  const Breakdown expected{.compute_ns = 14,
                           .exposed_comm_transfer_ns = 13,
                           .exposed_comm_wait_ns = 5,
                           .input_wait_ns = 3,
                           .host_bound_ns = 5};
  EXPECT_EQ(BreakDown(activity, windows)[0], expected);
}

// ns           0         10        20
// window       [===================)
// unexplained            [=========)
TEST(BreakDown, WhatIsLeftIsHostBoundUnlessItIsUnexplained) {
  ActivitySets activity;
  activity.unexplained = {{10, 30}};
  const Interval windows[] = {{0, 20}};
  const Breakdown result = BreakDown(activity, windows)[0];
  EXPECT_EQ(result.host_bound_ns, 10);
  EXPECT_EQ(result.idle_ns, 10);
}

TEST(BreakDown, ActivityAcrossTwoWindowsIsCutBetweenThem) {
  ActivitySets activity;
  activity.compute = {{5, 25}};
  const Interval windows[] = {{0, 10}, {10, 20}, {22, 22}, {24, 30}};
  const std::vector<Breakdown> parts = BreakDown(activity, windows);
  EXPECT_EQ(parts[0].compute_ns, 5);
  EXPECT_EQ(parts[1].compute_ns, 10);
  EXPECT_EQ(parts[2].total_ns(), 0);
  EXPECT_EQ(parts[3].compute_ns, 1);
}

// ns            0         10        20        30
// exposed       [===================)
// wait for 3    [=========)
// wait for 1         [==============)
// charged       |  3 |       1      |
TEST(SplitWait, ChargesTheRankThatHoldsOutLongest) {
  const Interval exposed[] = {{0, 20}};
  const RankWait waits[] = {{3, {0, 10}}, {1, {5, 20}}};
  const Interval windows[] = {{0, 30}};
  EXPECT_EQ(SplitWait(exposed, waits, windows)[0], (std::vector<WaitFor>{{1, 15}, {3, 5}}));
}

// Oracles: mark every nanosecond.
constexpr int kEnd = 120;

class RandomTraces : public ::testing::Test {
 protected:
  std::vector<Interval> RandomList(size_t most) {
    std::vector<Interval> list(random_() % (most + 1));
    for (Interval& interval : list) {
      interval.begin_ns = static_cast<int64_t>(random_() % (kEnd - 20));
      interval.end_ns = interval.begin_ns + static_cast<int64_t>(random_() % 20);
    }
    SortByBegin(list);
    return list;
  }
  IntervalSet RandomSet() { return Union(RandomList(6)); }

  std::vector<Interval> RandomWindows() {
    std::vector<Interval> windows;
    int64_t t = 0;
    while (t < kEnd) {
      const int64_t begin = t + static_cast<int64_t>(random_() % 5);
      t = begin + static_cast<int64_t>(random_() % 40);
      windows.push_back({begin, t});
    }
    return windows;
  }

  static bool Holds(std::span<const Interval> set, int64_t t) {
    return std::any_of(set.begin(), set.end(),
                       [t](const Interval& i) { return i.begin_ns <= t && t < i.end_ns; });
  }

  std::mt19937 random_{20261130};
};

TEST_F(RandomTraces, BreakdownAgreesWithMarkingEveryNanosecondAndAddsUp) {
  for (int round = 0; round < 2000; ++round) {
    ActivitySets activity{RandomSet(), RandomSet(), RandomSet(), RandomSet(),
                          RandomSet(), RandomSet(), RandomSet(), RandomSet()};
    const std::vector<Interval> windows = RandomWindows();
    const std::vector<Breakdown> parts = BreakDown(activity, windows);
    const std::vector<int64_t> exposed_wait = TotalPerWindow(ExposedWait(activity), windows);
    ASSERT_EQ(parts.size(), windows.size());
    const std::pair<const IntervalSet*, int64_t Breakdown::*> precedence[] = {
        {&activity.compute, &Breakdown::compute_ns},
        {&activity.comm_transfer, &Breakdown::exposed_comm_transfer_ns},
        {&activity.comm_wait, &Breakdown::exposed_comm_wait_ns},
        {&activity.comm_unsplit, &Breakdown::exposed_comm_unsplit_ns},
        {&activity.copy, &Breakdown::exposed_copy_ns},
        {&activity.input_wait, &Breakdown::input_wait_ns},
        {&activity.sync, &Breakdown::sync_ns},
        {&activity.unexplained, &Breakdown::idle_ns}};
    for (size_t w = 0; w < windows.size(); ++w) {
      Breakdown expected;
      for (int64_t t = windows[w].begin_ns; t < windows[w].end_ns; ++t) {
        const auto* taker = std::find_if(std::begin(precedence), std::end(precedence),
                                         [t](const auto& entry) { return Holds(*entry.first, t); });
        ++(taker == std::end(precedence) ? expected.host_bound_ns : expected.*(taker->second));
      }
      ASSERT_EQ(parts[w], expected) << "round " << round << " window " << w;
      ASSERT_EQ(parts[w].total_ns(), windows[w].length_ns());
      ASSERT_EQ(exposed_wait[w], expected.exposed_comm_wait_ns);
    }
  }
}

TEST_F(RandomTraces, AfterSyncAgreesWithMarkingEveryNanosecond) {
  for (int round = 0; round < 2000; ++round) {
    const ActivitySets activity{RandomSet(), RandomSet(), RandomSet(), RandomSet(),
                                RandomSet(), RandomSet(), RandomSet(), RandomSet()};
    const IntervalSet* const sets[] = {
        &activity.compute, &activity.comm_transfer, &activity.comm_wait,  &activity.comm_unsplit,
        &activity.copy,    &activity.sync,          &activity.input_wait, &activity.unexplained};
    const auto holds = [&](size_t first, size_t end, int64_t t) {
      return std::any_of(sets + first, sets + end, [t](const auto* set) { return Holds(*set, t); });
    };
    const IntervalSet after = AfterSync(activity);
    bool is_after = false;    // since something was waited for nothing has begun
    bool was_waited = false;  // in the synchronisation that goes on
    for (int64_t t = 0; t < kEnd; ++t) {
      if (t > 0 && Holds(activity.sync, t - 1) && !Holds(activity.sync, t)) {
        is_after = was_waited;
        was_waited = false;
      }
      if (Holds(activity.sync, t)) was_waited |= holds(0, 5, t);
      if (holds(0, 8, t)) is_after = false;
      ASSERT_EQ(Holds(after, t), is_after) << "round " << round << " at " << t;
    }
  }
}

TEST_F(RandomTraces, SplitWaitAgreesWithMarkingEveryNanosecond) {
  for (int round = 0; round < 2000; ++round) {
    const IntervalSet exposed = RandomSet();
    std::vector<RankWait> waits;
    for (const Interval& interval : RandomList(8)) {
      waits.push_back({static_cast<int>(random_() % 4), interval});
    }
    std::shuffle(waits.begin(), waits.end(), random_);
    const std::vector<Interval> windows = RandomWindows();
    const auto split = SplitWait(exposed, waits, windows);
    for (size_t w = 0; w < windows.size(); ++w) {
      int64_t expected[4] = {};
      for (int64_t t = windows[w].begin_ns; t < windows[w].end_ns; ++t) {
        if (!Holds(exposed, t)) continue;
        const RankWait* charged = nullptr;
        for (const RankWait& wait : waits) {
          if (t < wait.interval.begin_ns || wait.interval.end_ns <= t) continue;
          if (charged == nullptr || wait.interval.end_ns > charged->interval.end_ns ||
              (wait.interval.end_ns == charged->interval.end_ns &&
               wait.late_rank < charged->late_rank)) {
            charged = &wait;
          }
        }
        if (charged != nullptr) ++expected[charged->late_rank];
      }
      std::vector<WaitFor> list;
      for (int rank = 0; rank < 4; ++rank) {
        if (expected[rank] > 0) list.push_back({rank, expected[rank]});
      }
      ASSERT_EQ(split[w], list) << "round " << round << " window " << w;
    }
  }
}

}  // namespace
}  // namespace tutti::analyzer
