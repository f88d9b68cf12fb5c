#include "viewer/model/event_set.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "viewer/model/lane_builder.h"
#include "viewer/testing/random_events.h"

namespace tutti::viewer {
namespace {

// ns        0    10   20   30   40   50   60   70
// rank 0    [gemm)    [add)     [gemm=====)
//                     [gemm)
// rank 1    [gemm==========)
class EventSetTest : public ::testing::Test {
 protected:
  EventSetTest() {
    gemm_ = names_.Intern("void Gemm<float>");
    add_ = names_.Intern("add");
    ranks_.push_back(Rank(
        {At(0, 10, gemm_, 0), At(20, 30, add_, 1), At(20, 30, gemm_, 2), At(40, 60, gemm_, 3)}));
    ranks_.push_back(Rank({At(0, 30, gemm_, 0)}));
    ranks_.push_back(nullptr);  // not loaded yet
  }

  static Event At(int64_t begin_ns, int64_t end_ns, NameId name, uint32_t row_id) {
    return {.begin_ns = begin_ns,
            .end_ns = end_ns,
            .name = name,
            .row_id = row_id,
            .category = Category::kCompute,
            .source = Source::kKernel};
  }

  static std::shared_ptr<const RankTrace> Rank(std::vector<Event> events) {
    auto trace = std::make_shared<RankTrace>();
    trace->tracks.emplace_back();
    trace->tracks[0].lanes = BuildLanes(std::move(events));
    return trace;
  }

  NameTable names_;
  NameId gemm_ = 0;
  NameId add_ = 0;
  RankTraces ranks_;
};

TEST_F(EventSetTest, SearchFindsAllRanksInOrderOfTime) {
  const SearchResult result = Search(ranks_, names_, *NameFilter::Parse("GEMM"), 100);
  EXPECT_EQ(result.total, 4);
  ASSERT_EQ(result.hits.size(), 4U);
  EXPECT_EQ(result.hits[0].rank, 0U);
  EXPECT_EQ(result.hits[1].rank, 1U);
  EXPECT_EQ(EventAt(ranks_, result.hits[3])->begin_ns, 40);
}

TEST_F(EventSetTest, SearchTakesRegularExpressions) {
  EXPECT_EQ(Search(ranks_, names_, *NameFilter::Parse("/^a.d$/"), 100).total, 1);
  EXPECT_EQ(NameFilter::Parse("/(/").status().code(), StatusCode::kUsage);
}

TEST_F(EventSetTest, SearchCountsBeyondItsLimit) {
  const SearchResult result = Search(ranks_, names_, *NameFilter::Parse("gemm"), 1);
  EXPECT_EQ(result.total, 4);
  EXPECT_LT(result.hits.size(), 4U);
}

TEST_F(EventSetTest, NextOfSameNameGoesOverLanesAndBack) {
  EventRef ref = Search(ranks_, names_, *NameFilter::Parse("gemm"), 100).hits[0];
  std::vector<uint32_t> rows;
  for (std::optional<EventRef> next = ref; next; next = NextOfSameName(ranks_, *next, 1)) {
    rows.push_back(EventAt(ranks_, *next)->row_id);
    ref = *next;
  }
  EXPECT_EQ(rows, (std::vector<uint32_t>{0, 2, 3}));
  rows.clear();
  for (std::optional<EventRef> next = ref; next; next = NextOfSameName(ranks_, *next, -1)) {
    rows.push_back(EventAt(ranks_, *next)->row_id);
  }
  EXPECT_EQ(rows, (std::vector<uint32_t>{3, 2, 0}));
}

TEST_F(EventSetTest, SumsAreClippedToTheRange) {
  const auto all = [](const EventRef&, const Track&) { return true; };
  const RangeTotals totals = SumRange(ranks_, 5, 50, all);
  EXPECT_EQ(totals.count, 5);
  ASSERT_EQ(totals.names.size(), 2U);
  EXPECT_EQ(totals.names[0].name, gemm_);
  EXPECT_EQ(totals.names[0].total_ns, 5 + 10 + 10 + 25);
  EXPECT_EQ(totals.names[0].longest_ns, 30);
  EXPECT_EQ(totals.names[1].total_ns, 10);
}

TEST_F(EventSetTest, DurationsKnowRanksAndPercentiles) {
  const NameDurations durations = CollectDurations(ranks_, gemm_, Source::kKernel);
  EXPECT_EQ(durations.sorted_ns, (std::vector<int64_t>{10, 10, 20, 30}));
  EXPECT_EQ(durations.MedianOf(0), 10);
  EXPECT_EQ(durations.MedianOf(1), 30);
  EXPECT_EQ(durations.MedianOf(2), std::nullopt);
  EXPECT_DOUBLE_EQ(durations.PercentileOf(20), 0.5);
}

TEST_F(EventSetTest, FindsAnEventByItsRow) {
  const std::optional<EventRef> ref = FindRow(ranks_, 0, Source::kKernel, 2);
  ASSERT_TRUE(ref.has_value());
  EXPECT_EQ(EventAt(ranks_, *ref)->begin_ns, 20);
  EXPECT_FALSE(FindRow(ranks_, 0, Source::kMemcpy, 2).has_value());
  EXPECT_FALSE(FindRow(ranks_, 2, Source::kKernel, 2).has_value());
}

TEST(SearchDurations, FindsWhatACountFinds) {
  auto trace = std::make_shared<RankTrace>();
  Track track;
  track.lanes = BuildLanes(testing::TangledEvents(9, 3'000));
  trace->tracks.push_back(std::move(track));
  const RankTraces ranks = {trace};
  for (const auto& [least, most] : {std::pair(0, 0), std::pair(5, 9), std::pair(38, 100)}) {
    int64_t count = 0;
    ForEachLane(ranks, [&](const EventRef&, const Lane& lane) {
      for (uint32_t i = 0; i < lane.size(); ++i) {
        const Event event = lane.event(i);
        const int64_t duration = event.end_ns - event.begin_ns;
        if (event.name == 3 && duration >= least && duration <= most) ++count;
      }
    });
    const SearchResult found = SearchDurations(ranks, 3, least, most, 100'000);
    EXPECT_EQ(found.total, count);
    EXPECT_EQ(found.hits.size(), static_cast<size_t>(count));
    EXPECT_TRUE(std::is_sorted(found.hits.begin(), found.hits.end(),
                               [&](const EventRef& a, const EventRef& b) {
                                 return EventAt(ranks, a)->begin_ns < EventAt(ranks, b)->begin_ns;
                               }));
  }
}

}  // namespace
}  // namespace tutti::viewer
