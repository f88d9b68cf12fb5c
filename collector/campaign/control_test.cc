#include "collector/campaign/control.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tutti::collector::campaign {
namespace {

// The product of rank r's matrices a and b has the sum over k of (sum of column k of a) times (sum
// of row k of b), in whole numbers.
double SumOfProduct(size_t rank) {
  constexpr size_t kOrder = 192;
  const auto element = [](size_t i, size_t factor) { return static_cast<double>(i * factor % 3); };
  double sum = 0;
  for (size_t k = 0; k < kOrder; ++k) {
    double column = 0;
    double row = 0;
    for (size_t i = 0; i < kOrder; ++i) {
      column += element(i * kOrder + k, rank + 1);
      row += element(k * kOrder + i, 2 * rank + 1);
    }
    sum += column * row;
  }
  return sum;
}

TEST(MeasureControl, SumsTheProductsOfAllRanks) {
  for (const size_t ranks : {2, 3, 5}) {
    const auto times = MeasureControl(ranks, 3);
    ASSERT_TRUE(times.ok()) << times.status().message();
    EXPECT_EQ(times->ns.size(), 3U);
    for (const int64_t ns : times->ns) EXPECT_GT(ns, 0);
    double expected = 0;
    for (size_t rank = 0; rank < ranks; ++rank) expected += SumOfProduct(rank);
    EXPECT_EQ(times->checksum, expected) << ranks;
  }
}

TEST(ControlJson, IsWhatCompareReads) {
  const auto json = nlohmann::json::parse(ControlJson({{5, 7}, 0}));
  EXPECT_EQ(json.at("schema"), "tutti.control/1");
  EXPECT_EQ(json.at("ns"), nlohmann::json({5, 7}));
}

}  // namespace
}  // namespace tutti::collector::campaign
