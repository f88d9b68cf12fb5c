#include "viewer/model/grouping.h"

#include <gtest/gtest.h>

#include <map>

#include "viewer/model/lane_builder.h"
#include "viewer/testing/small_run.h"

namespace tutti::viewer {
namespace {

class GroupingTest : public ::testing::Test {
 protected:
  std::vector<GroupTotal> Group(GroupBy by, int64_t begin_ns = 0, int64_t end_ns = 400) {
    return GroupEvents(run_.summary, run_.ranks, run_.names, begin_ns, end_ns, by);
  }
  testing::SmallRun run_;
};

TEST_F(GroupingTest, ByNameMostTimeFirst) {
  const std::vector<GroupTotal> totals = Group(GroupBy::kName);
  ASSERT_EQ(totals.size(), 4U);
  EXPECT_EQ(totals[0].label, "void Gemm<float>(int)");
  EXPECT_EQ(totals[0].total_ns, 110 + 90 + 130 + 70);
  EXPECT_EQ(totals[0].longest_ns, 130);
}

TEST_F(GroupingTest, ByRankAndRow) {
  const std::vector<GroupTotal> ranks = Group(GroupBy::kRank);
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_EQ(ranks[0].label, "rank 0");
  EXPECT_EQ(ranks[0].count, 44);
  EXPECT_EQ(ranks[1].total_ns, 130 + 40 + 70);
  EXPECT_EQ(Group(GroupBy::kRow)[1].label, "rank 1  stream 7");
}

TEST_F(GroupingTest, AnEventBelongsToTheStepItBeginsIn) {
  const std::vector<GroupTotal> steps = Group(GroupBy::kStep);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].label, "step 10");
  EXPECT_EQ(steps[0].total_ns, 110 + 80 + 20 + 130 + 40);
  run_.summary.steps.pop_back();
  EXPECT_EQ(Group(GroupBy::kStep)[1].label, "no step");
}

TEST_F(GroupingTest, ACallsCallerIsTheCallThatItBeginsIn) {
  Track track;
  track.kind = TrackKind::kThread;
  const auto call = [&](const char* name, int64_t begin_ns, int64_t end_ns) {
    return Event{.begin_ns = begin_ns, .end_ns = end_ns, .name = run_.names.Intern(name)};
  };
  track.lanes = BuildLanes({call("linear", 0, 100), call("t", 0, 10), call("mm", 20, 60),
                            call("relu", 100, 140), call("clamp", 110, 130),
                            call("linear", 200, 250), call("mm", 210, 240)});
  auto trace = std::make_shared<RankTrace>();
  trace->tracks.push_back(std::move(track));
  run_.ranks = {trace};
  run_.summary.ranks.resize(1);
  std::map<std::string, std::pair<int64_t, int64_t>> by_caller;
  for (const GroupTotal& total : Group(GroupBy::kCaller)) {
    by_caller[total.label] = {total.count, total.total_ns};
  }
  const std::map<std::string, std::pair<int64_t, int64_t>> wanted = {
      {"no caller", {3, 190}}, {"linear", {3, 80}}, {"relu", {1, 20}}};
  EXPECT_EQ(by_caller, wanted);
}

// Whatever they are grouped by, it is the same events and the same time.
TEST_F(GroupingTest, AllGroupingsAddUpToTheSame) {
  for (const auto& [begin, end] : std::map<int64_t, int64_t>{{0, 400}, {100, 310}, {305, 306}}) {
    std::pair<int64_t, int64_t> first;
    for (size_t by = 0; by < kGroupings; ++by) {
      std::pair<int64_t, int64_t> sums;
      for (const GroupTotal& total : Group(static_cast<GroupBy>(by), begin, end)) {
        sums.first += total.count;
        sums.second += total.total_ns;
      }
      if (by == 0) first = sums;
      EXPECT_EQ(sums, first) << NameOf(static_cast<GroupBy>(by));
    }
  }
}

}  // namespace
}  // namespace tutti::viewer
