#include "collector/importers/replicas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tutti::collector::importers {
namespace {

using ::testing::ElementsAre;

CaptureClaim Claim(int64_t rank, std::string path, int64_t world_size = 1) {
  return {.rank = rank, .is_told_inside = true, .world_size = world_size, .path = std::move(path)};
}

TEST(ReplicaOf, IsTheNumberBehindDp) {
  EXPECT_EQ(ReplicaOf("d/dp1_pp0_tp0_rank0.17.pt.trace.json.gz"), 1);
  EXPECT_EQ(ReplicaOf("id_dp12_rank0.json"), 12);
  for (const char* other : {"fsdp2.json", "dp2/rank0.json", "dp.json", "dp2x.json", "rank0.json"}) {
    EXPECT_EQ(ReplicaOf(other), std::nullopt) << other;
  }
}

TEST(FindReplicas, CountsTheirRanksOnFromOneToTheNext) {
  const Replicas one_each = FindReplicas({Claim(0, "dp0_rank0.json"), Claim(0, "dp1_rank0.json")});
  EXPECT_EQ(one_each.count, 2);
  EXPECT_EQ(one_each.ranks_each, 1);
  EXPECT_THAT(one_each.first_ranks, ElementsAre(0, 1));
  const Replicas two_each =
      FindReplicas({Claim(1, "dp1_tp1_rank1.json", 2), Claim(0, "dp0_tp0_rank0.json", 2),
                    Claim(0, "dp1_tp0_rank0.json", 2)});
  EXPECT_EQ(two_each.ranks_each, 2);
  EXPECT_THAT(two_each.first_ranks, ElementsAre(2, 0, 2));
}

TEST(FindReplicas, LeavesRanksOfOneJob) {
  EXPECT_EQ(FindReplicas({Claim(0, "dp0_rank0.json", 2), Claim(1, "dp1_rank1.json", 2)}).count, 0);
  EXPECT_EQ(FindReplicas({Claim(0, "dp0_rank0.json"), Claim(0, "rank0.json")}).count, 0);
  EXPECT_EQ(FindReplicas({Claim(0, "a_dp0.json"), Claim(0, "b_dp0.json")}).count, 0);
  EXPECT_EQ(FindReplicas({}).count, 0);
}

}  // namespace
}  // namespace tutti::collector::importers
