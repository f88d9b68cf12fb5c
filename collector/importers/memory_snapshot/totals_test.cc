#include "collector/importers/memory_snapshot/totals.h"

#include <gtest/gtest.h>

namespace tutti::collector::importers::memory_snapshot {
namespace {

OpeningBalance After(std::initializer_list<int64_t> changes) {
  OpeningBalance balance;
  for (const int64_t change : changes) balance.Add(change);
  return balance;
}

TEST(OpeningBalance, LeadsToTheTotalAtTheEnd) {
  EXPECT_EQ(After({100, -40, 7}).Opening(200), 133);
  EXPECT_TRUE(After({100, -40, 7}).Agrees(200));
  EXPECT_EQ(After({}).Opening(200), 200);
}

TEST(OpeningBalance, IsEnoughForEveryReleaseWithoutATotal) {
  EXPECT_EQ(After({-30, 50, -90}).Opening(std::nullopt), 70);
  EXPECT_EQ(After({10}).Opening(std::nullopt), 0);
}

TEST(OpeningBalance, IsNeverSuchThatTheTotalWouldBeNegative) {
  EXPECT_EQ(After({-30, 10}).Opening(0), 30);
  EXPECT_FALSE(After({-30, 10}).Agrees(0));
}

TEST(OpeningBalance, SurvivesAbsurdSizes) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(After({kMost, kMost}).Opening(kMost), 0);
  EXPECT_GE(After({-kMost, -kMost, kMost}).Opening(5), 0);
}

}  // namespace
}  // namespace tutti::collector::importers::memory_snapshot
