#include "analyzer/metrics/collective_timing.h"

#include <gtest/gtest.h>

#include <random>

namespace tutti::analyzer {
namespace {

CallTime Call(int rank, int64_t arrival, std::optional<int64_t> end, bool root = false) {
  return {.rank = rank, .is_root = root, .arrival_ns = arrival, .end_ns = end};
}

// ns       0         10        20        30
// rank 0   [.wait....wait.....=========)        ends 29
// rank 1        [.............==========)       ends 30
// rank 2                      [=========)       arrives 20
TEST(TimeCollective, AllReduceIsReadyAtTheLastArrival) {
  const CallTime calls[] = {Call(0, 0, 29), Call(1, 5, 30), Call(2, 20, 30)};
  const CollectiveTiming timing = TimeCollective(OpKind::kAllToAll, calls);
  EXPECT_EQ(timing.ready_ns, 20);
  EXPECT_EQ(timing.last_rank, 2);
  EXPECT_EQ(timing.skew_ns, 20);
  EXPECT_EQ(timing.calls[0].wait_ns, 20);
  EXPECT_EQ(timing.calls[1].wait_ns, 15);
  EXPECT_EQ(timing.calls[2].wait_ns, 0);
  EXPECT_EQ(timing.transfer_ns, 9);
  EXPECT_EQ(timing.clamped, 0);
}

TEST(TimeCollective, BroadcastWaitsForTheRootOnly) {
  const CallTime calls[] = {Call(0, 0, 18), Call(1, 10, 14, true), Call(2, 15, 18)};
  const CollectiveTiming timing = TimeCollective(OpKind::kFromRoot, calls);
  EXPECT_EQ(timing.ready_ns, 10);
  EXPECT_EQ(timing.last_rank, 1);
  EXPECT_EQ(timing.calls[0].wait_ns, 10);
  EXPECT_EQ(timing.calls[1].wait_ns, 0);
  EXPECT_EQ(timing.calls[2].wait_ns, 0);
  EXPECT_EQ(timing.transfer_ns, 3);  // rank 2 came late: its transfer starts when it arrives
}

// ns       0         10        20        30
// rank 0   [.wait....wait.....==)               the root: not done before rank 2 has come
// rank 1        [=================)
// rank 2                      [===)
TEST(TimeCollective, ARootThatIsNotDoneBeforeTheOthersComeHasWaitedForThem) {
  const CallTime calls[] = {Call(0, 0, 22, true), Call(1, 5, 24), Call(2, 20, 24)};
  const CollectiveTiming timing = TimeCollective(OpKind::kFromRoot, calls);
  EXPECT_EQ(timing.ready_ns, 20);
  EXPECT_EQ(timing.last_rank, 2);
  EXPECT_EQ(timing.calls[0].wait_ns, 20);
  EXPECT_EQ(timing.calls[0].transfer_ns, 2);
  EXPECT_EQ(timing.calls[1].wait_ns, 0);  // it has the root's data, whoever else comes
  EXPECT_EQ(timing.calls[2].wait_ns, 0);
}

TEST(TimeCollective, AMemberOfAReduceThatIsNotDoneBeforeTheRootComesHasWaitedForIt) {
  const CallTime calls[] = {Call(0, 20, 30, true), Call(1, 0, 24), Call(2, 5, 8)};
  const CollectiveTiming timing = TimeCollective(OpKind::kToRoot, calls);
  EXPECT_EQ(timing.ready_ns, 20);
  EXPECT_EQ(timing.last_rank, 0);
  EXPECT_EQ(timing.calls[1].wait_ns, 20);
  EXPECT_EQ(timing.calls[2].wait_ns, 0);
}

TEST(TimeCollective, InAReduceOnlyTheRootWaits) {
  const CallTime calls[] = {Call(0, 0, 30, true), Call(1, 5, 8), Call(2, 20, 24)};
  const CollectiveTiming timing = TimeCollective(OpKind::kToRoot, calls);
  EXPECT_EQ(timing.calls[0].wait_ns, 20);
  EXPECT_EQ(timing.calls[1].wait_ns, 0);
  EXPECT_EQ(timing.calls[2].wait_ns, 0);
  EXPECT_EQ(timing.last_rank, 2);
}

TEST(TimeCollective, ACallThatEndsBeforeAllArrivedIsClampedAndCounted) {
  const CallTime calls[] = {Call(0, 0, 15), Call(1, 20, 30)};
  const CollectiveTiming timing = TimeCollective(OpKind::kAllToAll, calls);
  EXPECT_EQ(timing.calls[0].wait_ns, 15);
  EXPECT_EQ(timing.calls[0].transfer_ns, -5);
  EXPECT_EQ(timing.transfer_ns, 10);
  EXPECT_EQ(timing.clamped, 1);
}

TEST(TimeCollective, RanksThatArriveTogetherHaveNoLastOne) {
  const CallTime calls[] = {Call(0, 7, 15), Call(1, 7, 15)};
  EXPECT_EQ(TimeCollective(OpKind::kAllToAll, calls).last_rank, std::nullopt);
  const CallTime alone[] = {Call(4, 7, 15)};
  EXPECT_EQ(TimeCollective(OpKind::kAllToAll, alone).calls[0].wait_ns, 0);
}

TEST(TimeCollective, AnOpenCallHasAWaitButNoTransfer) {
  const CallTime calls[] = {Call(0, 0, std::nullopt), Call(1, 20, std::nullopt)};
  const CollectiveTiming timing = TimeCollective(OpKind::kAllToAll, calls);
  EXPECT_EQ(timing.calls[0].wait_ns, 20);
  EXPECT_EQ(timing.calls[0].transfer_ns, std::nullopt);
  EXPECT_EQ(timing.transfer_ns, std::nullopt);
}

TEST(TimeCollective, WaitAndTransferFillEachInterval) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    std::vector<CallTime> calls;
    for (int rank = 0; rank < 1 + static_cast<int>(random() % 5); ++rank) {
      const auto arrival = static_cast<int64_t>(random() % 50);
      calls.push_back(Call(rank, arrival, arrival + static_cast<int64_t>(random() % 50)));
    }
    calls[random() % calls.size()].is_root = true;
    for (const OpKind kind : {OpKind::kAllToAll, OpKind::kFromRoot, OpKind::kToRoot,
                              OpKind::kPointToPoint, OpKind::kUnknown}) {
      const CollectiveTiming timing = TimeCollective(kind, calls);
      for (size_t i = 0; i < calls.size(); ++i) {
        const CallTiming& call = timing.calls[i];
        ASSERT_GE(*call.wait_ns, 0);
        ASSERT_EQ(*call.wait_ns + std::max<int64_t>(*call.transfer_ns, 0),
                  *calls[i].end_ns - calls[i].arrival_ns);
      }
    }
  }
}

struct BandwidthCase {
  const char* op;
  int64_t bytes;  // one rank's payload
  int64_t ns;
  int ranks;
  double algbw;
  double busbw;
};

TEST(BandwidthOf, HasTheFactorsOfNcclTests) {
  const BandwidthCase cases[] = {
      {"all_reduce", 67108864, 1000000, 8, 67.1089, 117.4405},
      {"all_gather", 33554432 / 8, 500000, 8, 67.1089, 58.7203},
      {"reduce_scatter", 33554432 / 8, 500000, 8, 67.1089, 58.7203},
      {"broadcast", 4194304, 100000, 8, 41.9430, 41.9430},
      {"all_to_all", 16777216 / 8, 400000, 8, 41.9430, 36.7002},
      {"send", 2097152, 50000, 8, 41.9430, 41.9430},
      {"all_reduce", 4096, 10000, 1, 0.4096, 0.0},
      {"reduce", 4096, 1000, 4, 4.096, 4.096},
      {"gather", 1000, 1000, 4, 4.0, 3.0},
      {"scatter", 1000, 1000, 4, 4.0, 3.0},
  };
  for (const BandwidthCase& c : cases) {
    const std::optional<Bandwidth> bandwidth = BandwidthOf(c.op, c.bytes, c.ranks, c.ns);
    ASSERT_TRUE(bandwidth) << c.op;
    EXPECT_NEAR(bandwidth->algbw_gb_per_s, c.algbw, 5e-4) << c.op;
    EXPECT_NEAR(bandwidth->busbw_gb_per_s, c.busbw, 5e-4) << c.op;
  }
}

TEST(BandwidthOf, IsNotAvailableWithoutBytesTimeOrKnownKind) {
  EXPECT_FALSE(BandwidthOf("barrier", 4, 2, 100));
  EXPECT_FALSE(BandwidthOf("all_reduce", 0, 2, 100));
  EXPECT_FALSE(BandwidthOf("all_reduce", 4, 2, 0));
  EXPECT_FALSE(BandwidthOf("coalesced", 4, 2, 100));
}

TEST(KindOfOp, ReadsTheSpellingsOfEveryBackend) {
  EXPECT_EQ(KindOfOp("all_reduce"), OpKind::kAllToAll);
  EXPECT_EQ(KindOfOp("AllReduce"), OpKind::kAllToAll);
  EXPECT_EQ(KindOfOp("_allgather_base"), OpKind::kAllToAll);
  EXPECT_EQ(KindOfOp("_reduce_scatter_base"), OpKind::kAllToAll);
  EXPECT_EQ(KindOfOp("reduce"), OpKind::kToRoot);
  EXPECT_EQ(KindOfOp("broadcast"), OpKind::kFromRoot);
  EXPECT_EQ(KindOfOp("recvAnysource"), OpKind::kPointToPoint);
  EXPECT_EQ(KindOfOp("coalesced"), OpKind::kUnknown);
}

}  // namespace
}  // namespace tutti::analyzer
