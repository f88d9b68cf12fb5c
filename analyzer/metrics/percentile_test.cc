#include "analyzer/metrics/percentile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tutti::analyzer {
namespace {

TEST(LowerNearestRank, MedianOfAnEvenNumberIsTheLowerMiddle) {
  std::vector<int64_t> values = {40, 10, 30, 20};
  EXPECT_EQ(LowerNearestRank(values, 500), 20);
  EXPECT_EQ(LowerNearestRank(values, 0), 10);
  EXPECT_EQ(LowerNearestRank(values, 1000), 40);
}

TEST(LowerNearestRank, P99OfAHundredValuesIsTheLastButOne) {
  std::vector<int64_t> values(100);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i) + 1;
  EXPECT_EQ(LowerNearestRank(values, 990), 99);  // floor(0.99 * 99) = 98
}

TEST(LowerNearestRank, AgreesWithSorting) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::vector<int64_t> values(1 + random() % 50);
    for (int64_t& value : values) value = static_cast<int64_t>(random() % 20);
    std::vector<int64_t> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    for (const int permille : {0, 250, 500, 900, 990, 1000}) {
      const size_t index = (sorted.size() - 1) * static_cast<size_t>(permille) / 1000;
      EXPECT_EQ(LowerNearestRank(values, permille), sorted[index]);
    }
  }
}

TEST(MedianOf, OfNothingIsNothing) {
  EXPECT_EQ(MedianOf({}), std::nullopt);
  EXPECT_EQ(MedianOf({7}), 7);
}

}  // namespace
}  // namespace tutti::analyzer
