#include "analyzer/metrics/communicators.h"

#include <gtest/gtest.h>

namespace tutti::analyzer {
namespace {

LocalCommunicator Local(int64_t rank, int64_t id, std::string uid, int64_t ordinal,
                        int64_t group_rank, int64_t size, std::vector<int64_t> ranks = {}) {
  LocalCommunicator local;
  local.rank = rank;
  local.local_id = id;
  local.backend = "gloo";
  local.uid = std::move(uid);
  local.ordinal = ordinal;
  local.group_rank = group_rank;
  local.size = size;
  local.global_ranks = std::move(ranks);
  return local;
}

std::vector<std::vector<int64_t>> MembersOf(const std::vector<JobCommunicator>& jobs) {
  std::vector<std::vector<int64_t>> members;
  for (const JobCommunicator& job : jobs) members.push_back(job.members);
  return members;
}

TEST(JoinCommunicators, TheDefaultGroupIsTheWholeWorld) {
  const LocalCommunicator locals[] = {Local(0, 1, "", 0, 0, 3), Local(1, 9, "", 0, 1, 3)};
  const std::vector<JobCommunicator> jobs = JoinCommunicators(locals, 3);
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].members_origin, MembersOrigin::kWholeWorld);
  EXPECT_EQ(jobs[0].members, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(jobs[0].expected(), 3);
  EXPECT_EQ(jobs[0].GlobalRankOf(2), 2);
}

TEST(JoinCommunicators, RanksWithDifferentOrdinalsShareAGroupByUid) {
  const LocalCommunicator locals[] = {Local(0, 2, "tp0", 1, 0, 2, {0, 1}),
                                      Local(1, 3, "tp0", 2, 1, 2)};
  const std::vector<JobCommunicator> jobs = JoinCommunicators(locals, 4);
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].members_origin, MembersOrigin::kTold);
  EXPECT_EQ(jobs[0].locals, (std::vector<size_t>{0, 1}));
}

TEST(JoinCommunicators, GroupsWithoutIdentityAreToldApartByTheirPlaces) {
  // Tensor groups {0,1} and {2,3}: nobody tells members, ordinals are equal.
  const LocalCommunicator tensor[] = {Local(0, 1, "", 1, 0, 2), Local(1, 1, "", 1, 1, 2),
                                      Local(2, 1, "", 1, 0, 2), Local(3, 1, "", 1, 1, 2)};
  EXPECT_EQ(MembersOf(JoinCommunicators(tensor, 4)),
            (std::vector<std::vector<int64_t>>{{0, 1}, {2, 3}}));
  // Data groups {0,2} and {1,3}.
  const LocalCommunicator data[] = {Local(0, 1, "", 1, 0, 2), Local(1, 1, "", 1, 0, 2),
                                    Local(2, 1, "", 1, 1, 2), Local(3, 1, "", 1, 1, 2)};
  EXPECT_EQ(MembersOf(JoinCommunicators(data, 4)),
            (std::vector<std::vector<int64_t>>{{0, 2}, {1, 3}}));
}

TEST(JoinCommunicators, MembersThatTellTheirPlacesTellTheGroup) {
  const LocalCommunicator locals[] = {Local(1, 1, "0xa", 1, 1, 2), Local(3, 1, "0xa", 1, 0, 2)};
  const std::vector<JobCommunicator> jobs = JoinCommunicators(locals, 4);
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].members_origin, MembersOrigin::kTold);
  EXPECT_EQ(jobs[0].global_ranks, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(jobs[0].GlobalRankOf(0), 3);
  // Of one member nothing is known.
  const LocalCommunicator some[] = {Local(1, 1, "0xa", 1, 1, 3), Local(3, 1, "0xa", 1, 0, 3)};
  EXPECT_EQ(JoinCommunicators(some, 4)[0].members_origin, MembersOrigin::kSeen);
}

TEST(JoinCommunicators, TwoGroupsOfTheSameRanksStayApart) {
  const LocalCommunicator locals[] = {
      Local(0, 1, "0", 0, 0, 2, {0, 1}), Local(0, 2, "1", 1, 0, 2, {0, 1}),
      Local(1, 1, "0", 0, 1, 2, {0, 1}), Local(1, 2, "1", 1, 1, 2, {0, 1})};
  const std::vector<JobCommunicator> jobs = JoinCommunicators(locals, 2);
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].uid, "0");
  EXPECT_EQ(jobs[0].locals, (std::vector<size_t>{0, 2}));
  EXPECT_EQ(jobs[1].locals, (std::vector<size_t>{1, 3}));
}

TEST(ParseRankList, ReadsJsonAndCommas) {
  EXPECT_EQ(ParseRankList("[0, 4, 8]"), (std::vector<int64_t>{0, 4, 8}));
  EXPECT_EQ(ParseRankList("3,1"), (std::vector<int64_t>{3, 1}));
  EXPECT_TRUE(ParseRankList("[\"a\"]").empty());
  EXPECT_TRUE(ParseRankList("").empty());
}

}  // namespace
}  // namespace tutti::analyzer
