#include "analyzer/metrics/coarsen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tutti::analyzer {
namespace {

// ns      0    5    10   15   20   25
// set     [==)  [==)  [==)      [===)
// two     [==============)      [===)
TEST(Coarsen, JoinsAcrossTheShortestGaps) {
  const IntervalSet set = {{0, 3}, {6, 9}, {12, 15}, {21, 25}};
  EXPECT_EQ(Coarsen(set, 2), (std::vector<CoarseSpan>{{{0, 15}, 9}, {{21, 25}, 4}}));
  EXPECT_EQ(Coarsen(set, 3), (std::vector<CoarseSpan>{{{0, 9}, 6}, {{12, 15}, 3}, {{21, 25}, 4}}));
}

TEST(Coarsen, ChangesNothingThatIsFewEnough) {
  const IntervalSet set = {{0, 3}, {6, 9}};
  EXPECT_EQ(Coarsen(set, 2), (std::vector<CoarseSpan>{{{0, 3}, 3}, {{6, 9}, 3}}));
  EXPECT_TRUE(Coarsen({}, 2).empty());
  EXPECT_EQ(Coarsen(set, 0), (std::vector<CoarseSpan>{{{0, 9}, 6}}));
}

TEST(Coarsen, KeepsAllBusyTimeAndTheNumberThatWasAskedFor) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    IntervalSet set;
    int64_t time_ns = 0;
    for (size_t i = 0; i < 1 + random() % 60; ++i) {
      const int64_t begin_ns = time_ns + 1 + static_cast<int64_t>(random() % 9);
      time_ns = begin_ns + 1 + static_cast<int64_t>(random() % 9);
      set.push_back({begin_ns, time_ns});
    }
    const size_t most = 1 + random() % 40;
    const auto spans = Coarsen(set, most);
    EXPECT_EQ(spans.size(), std::min(most, set.size()));
    int64_t busy_ns = 0;
    for (const CoarseSpan& span : spans) busy_ns += span.busy_ns;
    EXPECT_EQ(busy_ns, TotalNs(set));
    EXPECT_EQ(spans.front().interval.begin_ns, set.front().begin_ns);
    EXPECT_EQ(spans.back().interval.end_ns, set.back().end_ns);
  }
}

}  // namespace
}  // namespace tutti::analyzer
