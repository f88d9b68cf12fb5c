#include "workloads/common/balance.h"

#include <gtest/gtest.h>

namespace tutti::workloads {
namespace {

TEST(ShareOf, IsTheBatchWhereRanksAreAlike) {
  EXPECT_EQ(ShareOf(8, {5, 5, 5}, 0), 8);
  EXPECT_EQ(ShareOf(8, {5, 5, 5}, 2), 8);
}

TEST(ShareOf, FollowsSpeedAndAddsUp) {
  EXPECT_EQ(ShareOf(8, {300, 100}, 0), 12);
  EXPECT_EQ(ShareOf(8, {300, 100}, 1), 4);
  EXPECT_EQ(ShareOf(5, {2, 1}, 0) + ShareOf(5, {2, 1}, 1), 10);
}

TEST(ShareOf, LeavesTheSlowestOneSample) {
  EXPECT_EQ(ShareOf(8, {1'000'000, 1}, 0), 15);
  EXPECT_EQ(ShareOf(8, {1'000'000, 1}, 1), 1);
}

}  // namespace
}  // namespace tutti::workloads
