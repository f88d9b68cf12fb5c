#include "analyzer/metrics/wait_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti::analyzer {
namespace {

using testing::ElementsAre;

OpenCall In(int64_t rank, int64_t communicator, int64_t sequence) {
  OpenCall call;
  call.rank = rank;
  call.communicator = communicator;
  call.sequence = sequence;
  return call;
}

OpenCall Transfer(int64_t rank, bool is_send, int64_t peer) {
  OpenCall call;
  call.rank = rank;
  call.is_point_to_point = true;
  call.is_send = is_send;
  call.peer = peer;
  return call;
}

MemberProgress Member(int64_t communicator, int64_t rank, std::optional<int64_t> last_entered) {
  return {rank, communicator, true, last_entered};
}

std::vector<int64_t> Culprits(const Diagnosis& diagnosis) {
  std::vector<int64_t> ranks;
  for (const Culprit& culprit : diagnosis.culprits) ranks.push_back(culprit.rank);
  return ranks;
}

// rank 0  #5 (
// rank 1  #5 (
// rank 2  #4 )
TEST(Diagnose, BlamesTheOneThatIsBehind) {
  const OpenCall calls[] = {In(0, 0, 5), In(1, 0, 5)};
  const MemberProgress members[] = {Member(0, 0, 5), Member(0, 1, 5), Member(0, 2, 4)};
  const Diagnosis diagnosis = Diagnose(calls, members);
  EXPECT_THAT(Culprits(diagnosis), ElementsAre(2));
  EXPECT_EQ(diagnosis.culprits[0].why, HoldUp::kNeverEntered);
  EXPECT_EQ(diagnosis.waits.size(), 2U);
}

// Group 0 of ranks 0 and 1, group 1 of ranks 1 and 2: rank 1 is missing in #5 of group 0
// only because it waits for rank 2 in group 1.
TEST(Diagnose, FollowsTheWaitsToTheirEnd) {
  const OpenCall calls[] = {In(0, 0, 5), In(1, 1, 9)};
  const MemberProgress members[] = {Member(0, 0, 5), Member(0, 1, 4), Member(1, 1, 9),
                                    Member(1, 2, 8)};
  EXPECT_THAT(Culprits(Diagnose(calls, members)), ElementsAre(2));
}

// rank 0  #5 ( #6 ( #7 (     its GPU failed in #5
// rank 1        #6 ) #7 (
TEST(Diagnose, BlamesADeviceThatStandsStill) {
  const OpenCall calls[] = {In(0, 0, 5), In(0, 0, 6), In(0, 0, 7), In(1, 0, 7)};
  const MemberProgress members[] = {Member(0, 0, 7), Member(0, 1, 7)};
  const Diagnosis diagnosis = Diagnose(calls, members);
  EXPECT_THAT(Culprits(diagnosis), ElementsAre(0));
  EXPECT_TRUE(diagnosis.culprits[0].is_device_stuck);
  EXPECT_EQ(diagnosis.culprits[0].call, 0U);
}

TEST(Diagnose, BlamesADeviceThatHasNotComeToTheCall) {
  OpenCall calls[] = {In(0, 0, 5), In(1, 0, 5)};
  calls[0].has_started = true;
  calls[1].has_started = false;
  const MemberProgress members[] = {Member(0, 0, 5), Member(0, 1, 5)};
  const Diagnosis diagnosis = Diagnose(calls, members);
  EXPECT_THAT(Culprits(diagnosis), ElementsAre(1));
  EXPECT_EQ(diagnosis.culprits[0].why, HoldUp::kNotStarted);
}

TEST(Diagnose, FindsNobodyWhereAllHaveEntered) {
  const OpenCall calls[] = {In(0, 0, 5), In(1, 0, 5)};
  const MemberProgress members[] = {Member(0, 0, 5), Member(0, 1, 5)};
  const Diagnosis diagnosis = Diagnose(calls, members);
  EXPECT_TRUE(diagnosis.culprits.empty());
  EXPECT_TRUE(diagnosis.waits.empty());
  EXPECT_TRUE(diagnosis.in_circle.empty());
}

// Rank 3's dump is not there; rank 2's is, and it is behind: that is known, the other not.
TEST(Diagnose, SuspectsWhoLeftNoTraceOnlyWithoutABetterOne) {
  std::vector<OpenCall> calls = {In(0, 0, 5), In(1, 0, 5)};
  std::vector<MemberProgress> members = {
      Member(0, 0, 5), Member(0, 1, 5), Member(0, 2, 4), {3, 0, false, std::nullopt}};
  EXPECT_THAT(Culprits(Diagnose(calls, members)), ElementsAre(2));
  members[2].last_entered = 5;
  calls.push_back(In(2, 0, 5));
  EXPECT_THAT(Culprits(Diagnose(calls, members)), ElementsAre(3));
}

TEST(Diagnose, ComparesTransfersByNumber) {
  // 0 sends twice, 1 receives once, and waits for nobody.
  const OpenCall calls[] = {Transfer(0, true, 1), Transfer(0, true, 1), Transfer(1, false, 0)};
  const Diagnosis diagnosis = Diagnose(calls, {});
  EXPECT_THAT(Culprits(diagnosis), ElementsAre(1));
  EXPECT_EQ(diagnosis.culprits[0].call, 1U);
}

// Rank 0 is in #5 of group 0, rank 1 in #3 of group 1, and each lacks the other's.
TEST(Diagnose, FindsACircle) {
  const OpenCall calls[] = {In(0, 0, 5), In(1, 1, 3)};
  const MemberProgress members[] = {Member(0, 0, 5), Member(0, 1, 4), Member(1, 0, 2),
                                    Member(1, 1, 3)};
  const Diagnosis diagnosis = Diagnose(calls, members);
  EXPECT_TRUE(diagnosis.culprits.empty());
  EXPECT_THAT(diagnosis.in_circle, ElementsAre(0, 1));
}

}  // namespace
}  // namespace tutti::analyzer
