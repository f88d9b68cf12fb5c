#include <gtest/gtest.h>

#include "analyzer/testing/derived.h"

namespace tutti::analyzer {
namespace {

using testing::Derived;
using testing::RunFolder;
using testing::TraceBuilder;

// Tensor groups {0,1} and {2,3}, data groups {0,2} and {1,3}; each rank issues two
// collectives in each of its groups, in an order of its own; rank 3 records late.
TEST(Collective, IsMatchedByGroupAndSequenceAndNeverByPosition) {
  RunFolder run;
  for (int64_t rank = 0; rank < 4; ++rank) {
    TraceBuilder trace(rank, 4);
    const bool first_pair = rank < 2;
    trace.Communicator(2, first_pair ? "tp0" : "tp1",
                       first_pair ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{2, 3});
    trace.Communicator(3, rank % 2 == 0 ? "dp0" : "dp1",
                       rank % 2 == 0 ? std::vector<int64_t>{0, 2} : std::vector<int64_t>{1, 3});
    trace.Step(0, 0, 100);
    int64_t t = 1;
    for (const int64_t sequence : {100, 101}) {
      for (const int64_t group : {rank % 2 == 0 ? 2 : 3, rank % 2 == 0 ? 3 : 2}) {
        const bool late = rank == 3 && sequence == 100;
        if (!late) trace.Collective("all_reduce", sequence, t, t, 80, 64, group);
        t += 10;
      }
    }
    run.Add(trace);
  }
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT state, count(*) FROM collective GROUP BY state ORDER BY state"),
            "complete|6\nnot_captured|2");
  EXPECT_EQ(derived.Query("SELECT m.uid, c.sequence FROM collective AS c JOIN run_communicator AS m"
                          " ON m.id = c.communicator_id WHERE c.state = 'not_captured'"
                          " ORDER BY m.uid"),
            "dp1|100\ntp1|100");
  EXPECT_EQ(derived.Query("SELECT name, count FROM data_issue"
                          " WHERE name <> 'no_operators'"),
            "collective_not_captured|2");
  EXPECT_EQ(derived.Query("SELECT count(*) FROM finding WHERE kind <> 'exposed_comm'"), "0");
}

// In the two steps that count, 10 exchanges of 1,006 to 1,015 bytes and 2 of 3,000 and 3,001, each
// of a size of its own, beside reductions of two sizes.
TEST(Collective, SizesThatNeverRepeatAreSummedUpTogether) {
  RunFolder run;
  for (int64_t rank = 0; rank < 2; ++rank) {
    TraceBuilder trace(rank, 2);
    int64_t sequence = 0;
    for (int64_t step = 0; step < 3; ++step) {
      const int64_t begin = step * 1'000;
      trace.Step(step, begin, begin + 1'000);
      for (int64_t i = 0; i < 6; ++i, ++sequence) {
        const int64_t number = step * 6 + i;
        const int64_t t = begin + 10 * i;
        trace.Collective("all_to_all", sequence, t, t, t + 5,
                         number < 16 ? 1'000 + number : 2'984 + number);
      }
      trace.Collective("all_reduce", sequence++, begin + 100, begin + 100, begin + 110, 64);
      trace.Collective("all_reduce", sequence++, begin + 200, begin + 200, begin + 210, 65);
    }
    run.Add(trace);
  }
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT op, bytes, sum(count) FROM collective_summary"
                          " GROUP BY op, bytes ORDER BY op, bytes"),
            "all_reduce|64|2\nall_reduce|65|2\nall_to_all|1010|10\nall_to_all|3000|2");
}

TEST(Collective, WithoutSequenceTheOrderWithinOpAndBytesMatches) {
  TraceBuilder rank0(0, 2);
  rank0.Step(0, 0, 100)
      .Collective("all_reduce", {}, 1, 2, 9, 64)
      .Collective("barrier", {}, 10, 11, 20, {});
  TraceBuilder rank1(1, 2);
  rank1.Step(0, 0, 100)
      .Collective("all_reduce", {}, 4, 5, 9, 64)
      .Collective("barrier", {}, 10, 15, 20, {});
  RunFolder run;
  const Derived derived(run.Add(rank0).Add(rank1));
  EXPECT_EQ(
      derived.Query("SELECT op, matched_by, skew_ns, transfer_ns FROM collective ORDER BY id"),
      "all_reduce|order|3|4\nbarrier|order|4|5");
}

TEST(Collective, RanksOnDifferentClocksAreMatchedButNotCompared) {
  TraceBuilder rank0(0, 2);
  rank0.Step(0, 0, 100).AllReduce(0, 1, 2, 30, 64);
  TraceBuilder rank1(1, 2);
  rank1.BootId("another").Step(0, 0, 100).AllReduce(0, 1, 20, 30, 64);
  RunFolder run;
  const Derived derived(run.Add(rank0).Add(rank1));
  EXPECT_EQ(
      derived.Query("SELECT state, ready_ns, skew_ns, is_bw_raw, duration_ns FROM collective"),
      "complete|||1|10");
  EXPECT_EQ(derived.Query("SELECT rank, exposed_comm_unsplit_ns FROM step_breakdown ORDER BY rank"),
            "0|28\n1|10");
  EXPECT_EQ(derived.Query("SELECT name FROM data_issue WHERE name <> 'no_operators'"),
            "clocks_not_aligned");
  EXPECT_EQ(derived.Query("SELECT sum(abs(clock_offset_ns)) FROM rank"), "0");
}

// ns      0    10   20   30                  90  100
// rank 0       [send.....====)  asked here: -|
// rank 1            [recv====)
TEST(Collective, ASendIsOverWhenItsReceiveIs) {
  TraceBuilder rank0(0, 2);
  rank0.Step(0, 0, 100).Transfer("send", 1, 1, 10, 90, 64);
  TraceBuilder rank1(1, 2);
  rank1.Step(0, 0, 100).Transfer("recv", 0, 1, 20, 30, 64);
  RunFolder run;
  const Derived derived(run.Add(rank0).Add(rank1));
  EXPECT_EQ(derived.Query("SELECT rank, end_ns - arrival_ns, wait_ns, transfer_ns"
                          " FROM collective_call ORDER BY rank"),
            "0|20|10|10\n1|10|0|10");
  EXPECT_EQ(derived.Query("SELECT state, duration_ns, clamped FROM collective"), "complete|10|0");
}

TEST(Collective, DisagreeingRanksAreKeptAsMismatch) {
  TraceBuilder rank0(0, 2);
  rank0.Step(0, 0, 1000).AllReduce(0, 1, 2, 30, 64);
  TraceBuilder rank1(1, 2);
  rank1.Step(0, 0, 1000).AllReduce(0, 1, 2, 30, 32);
  RunFolder run;
  const Derived derived(run.Add(rank0).Add(rank1));
  EXPECT_EQ(derived.Query("SELECT state FROM collective"), "mismatched");
  EXPECT_EQ(derived.Query("SELECT kind, cost_ns FROM finding"), "collective_mismatch|");
}

TEST(Collective, BandwidthIsOfTheTransferAndNotOfTheWait) {
  TraceBuilder rank0(0, 2);
  rank0.Step(0, 0, 4000).AllReduce(0, 1, 100, 3100, 2000);  // waits 2,000
  TraceBuilder rank1(1, 2);
  rank1.Step(0, 0, 4000).AllReduce(0, 1, 2100, 3100, 2000);
  RunFolder run;
  const Derived derived(run.Add(rank0).Add(rank1));
  EXPECT_EQ(derived.Query("SELECT transfer_ns, algbw_gb_per_s, busbw_gb_per_s, is_bw_raw"
                          " FROM collective"),
            "1000|2|2|0");  // 2(n-1)/n = 1 for two ranks
}

}  // namespace
}  // namespace tutti::analyzer
