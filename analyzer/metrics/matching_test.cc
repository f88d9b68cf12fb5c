#include "analyzer/metrics/matching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace tutti::analyzer {
namespace {

MatchCall Call(int rank, int64_t communicator, std::optional<int64_t> sequence,
               std::string op = "all_reduce", int64_t bytes = 64, std::string dtype = "float32") {
  MatchCall call;
  call.rank = rank;
  call.communicator = communicator;
  call.sequence = sequence;
  call.op = std::move(op);
  call.bytes = bytes;
  call.dtype = std::move(dtype);
  return call;
}

std::set<std::vector<size_t>> CallsOf(const std::vector<Match>& matches) {
  std::set<std::vector<size_t>> calls;
  for (const Match& match : matches) calls.insert(match.calls);
  return calls;
}

TEST(MatchCalls, BySequenceThoughRanksInterleaveTheirGroupsDifferently) {
  const MatchCall calls[] = {Call(0, 1, 7), Call(0, 2, 3), Call(0, 1, 8),   // 0 1 2
                             Call(1, 1, 7), Call(1, 1, 8), Call(2, 2, 3)};  // 3 4 5
  EXPECT_EQ(CallsOf(MatchCalls(calls)), (std::set<std::vector<size_t>>{{0, 3}, {2, 4}, {1, 5}}));
}

TEST(MatchCalls, WithoutSequenceByOrderWithinOpAndBytes) {
  const MatchCall calls[] = {Call(0, 1, {}, "all_reduce", 8), Call(0, 1, {}, "barrier", 0),
                             Call(0, 1, {}, "all_reduce", 8), Call(1, 1, {}, "all_reduce", 8),
                             Call(1, 1, {}, "all_reduce", 8), Call(1, 1, {}, "barrier", 0)};
  EXPECT_EQ(CallsOf(MatchCalls(calls)), (std::set<std::vector<size_t>>{{0, 3}, {2, 4}, {1, 5}}));
}

TEST(MatchCalls, ACallOfAnUnknownCommunicatorStaysAlone) {
  MatchCall unknown = Call(1, 0, 0);
  unknown.communicator.reset();
  const MatchCall calls[] = {Call(0, 0, 0), unknown};
  EXPECT_EQ(CallsOf(MatchCalls(calls)), (std::set<std::vector<size_t>>{{0}, {1}}));
}

TEST(MatchCalls, PairsSendsWithReceivesByDirection) {
  const auto p2p = [](int rank, int peer, std::string op) {
    MatchCall call = Call(rank, 1, {}, std::move(op));
    call.group_rank = rank;
    call.peer = peer;
    return call;
  };
  const MatchCall calls[] = {p2p(0, 1, "send"), p2p(0, 1, "recv"),   // 0 1
                             p2p(1, 0, "send"), p2p(1, 0, "recv")};  // 2 3
  EXPECT_EQ(CallsOf(MatchCalls(calls)), (std::set<std::vector<size_t>>{{0, 3}, {1, 2}}));
}

TEST(MatchCalls, FindsWhatWasIssuedOverSeveralGroupsWithHoles) {
  std::mt19937 random(17);
  for (int round = 0; round < 200; ++round) {
    // Truth: collectives of groups of ranks; each rank's record may lack some.
    std::vector<MatchCall> calls;
    std::map<std::pair<int64_t, int64_t>, std::vector<int>> truth;
    for (int rank = 0; rank < 6; ++rank) {
      std::vector<std::pair<int64_t, int64_t>> issued;
      for (int64_t group = 0; group < 3; ++group) {
        if ((rank + group) % 2 != 0) continue;
        for (int64_t sequence = 0; sequence < 5; ++sequence) issued.push_back({group, sequence});
      }
      std::shuffle(issued.begin(), issued.end(), random);
      for (const auto& [group, sequence] : issued) {
        if (random() % 5 == 0) continue;
        calls.push_back(Call(rank, group, sequence));
        truth[{group, sequence}].push_back(rank);
      }
    }
    const std::vector<Match> matches = MatchCalls(calls);
    ASSERT_EQ(matches.size(), truth.size());
    for (const Match& match : matches) {
      const MatchCall& first = calls[match.calls[0]];
      std::vector<int> ranks;
      for (const size_t index : match.calls) ranks.push_back(calls[index].rank);
      ASSERT_EQ(ranks, (truth[{*first.communicator, *first.sequence}]));
    }
  }
}

MemberTrace Member(int rank, bool has_call, bool open = false) {
  MemberTrace member;
  member.rank = rank;
  member.has_file = true;
  member.has_call = has_call;
  member.call_is_open = open;
  member.first_sequence = 40;
  member.last_sequence = 45;
  member.covers_call = true;
  return member;
}

TEST(StateOf, AMemberThatNeverEnteredHangsTheOthers) {
  MemberTrace behind = Member(2, false);
  behind.last_sequence = 44;
  const MemberTrace members[] = {Member(0, true, true), Member(1, true, true), behind};
  EXPECT_EQ(StateOf(members, 45, false), CollectiveState::kHung);
}

TEST(StateOf, AMemberThatWentOnWasNotCaptured) {
  const MemberTrace members[] = {Member(0, true), Member(1, false)};
  EXPECT_EQ(StateOf(members, 43, false), CollectiveState::kNotCaptured);
  EXPECT_EQ(StateOf(members, 36, false), CollectiveState::kNotCaptured);  // before its first
}

TEST(StateOf, AMemberWhoseTraceEndsEarlyWasNotCapturedUnlessTheOthersStillWait) {
  MemberTrace cut = Member(1, false);
  cut.covers_call = false;
  const MemberTrace ended[] = {Member(0, true), cut};
  EXPECT_EQ(StateOf(ended, 46, false), CollectiveState::kNotCaptured);
  const MemberTrace waiting[] = {Member(0, true, true), cut};
  EXPECT_EQ(StateOf(waiting, 46, false), CollectiveState::kHung);
}

TEST(StateOf, TellsMissingFilesAndOpenCollectivesFromHangs) {
  MemberTrace no_file = Member(1, false);
  no_file.has_file = false;
  const MemberTrace missing[] = {Member(0, true, true), no_file};
  EXPECT_EQ(StateOf(missing, 45, false), CollectiveState::kPeersMissing);
  const MemberTrace open[] = {Member(0, true, true), Member(1, true, true)};
  EXPECT_EQ(StateOf(open, 45, false), CollectiveState::kOpen);
  const MemberTrace complete[] = {Member(0, true), Member(1, true)};
  EXPECT_EQ(StateOf(complete, 45, false), CollectiveState::kComplete);
  EXPECT_EQ(StateOf(complete, 45, true), CollectiveState::kMismatched);
}

Mismatch MismatchOf(const std::vector<MatchCall>& calls) {
  Match match;
  for (size_t i = 0; i < calls.size(); ++i) match.calls.push_back(i);
  return FindMismatch(calls, match);
}

TEST(FindMismatch, NamesTheOddRank) {
  const Mismatch bytes =
      MismatchOf({Call(0, 0, 11, "all_reduce", 2048), Call(1, 0, 11, "all_reduce", 2048),
                  Call(3, 0, 11, "all_reduce", 1024)});
  EXPECT_EQ(bytes.kind, MismatchKind::kBytes);
  EXPECT_EQ(bytes.odd_ranks, std::vector<int>{3});
  const Mismatch op = MismatchOf(
      {Call(0, 0, 12, "all_gather"), Call(1, 0, 12, "broadcast"), Call(2, 0, 12, "all_gather")});
  EXPECT_EQ(op.kind, MismatchKind::kOp);
  EXPECT_EQ(op.odd_ranks, std::vector<int>{1});
  const Mismatch dtype =
      MismatchOf({Call(0, 0, 13, "all_reduce", 64, "float16"), Call(1, 0, 13), Call(2, 0, 13)});
  EXPECT_EQ(dtype.kind, MismatchKind::kDtype);
  EXPECT_EQ(dtype.odd_ranks, std::vector<int>{0});
}

TEST(FindMismatch, UnevenBytesAreFineWhereTheOperationAllowsThem) {
  EXPECT_EQ(MismatchOf({Call(0, 0, 1, "all_to_all", 8), Call(1, 0, 1, "all_to_all", 16)}).kind,
            MismatchKind::kNone);
  EXPECT_EQ(MismatchOf({Call(0, 0, 1), Call(1, 0, 1, "all_reduce", 64, "")}).kind,
            MismatchKind::kNone);
}

}  // namespace
}  // namespace tutti::analyzer
