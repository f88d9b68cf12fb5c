// Ranks on several clocks: imported files don't say which clock they were recorded with.
#include <gtest/gtest.h>

#include "analyzer/testing/derived.h"

namespace tutti::analyzer {
namespace {

using testing::Derived;
using testing::RunFolder;
using testing::TraceBuilder;

// Ten steps: rank 2 computes 8, the others 6; the all-reduce ends for all at 9, its transfer
// takes 1. Each rank's clock is `skew` off.
TraceBuilder RankOf(int64_t rank, int64_t skew) {
  TraceBuilder trace(rank, 4, 1'000'000);
  trace.BootId("boot " + std::to_string(rank));
  for (int64_t step = 0; step < 10; ++step) {
    const int64_t begin = step * 9 + skew;
    const int64_t ready = begin + (rank == 2 ? 8 : 6);
    trace.Step(step, begin, begin + 9, "profiler_step").Kernel("gemm", 7, begin, ready, step + 1);
    trace.Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, ready, begin + 9, 100 + step);
    trace.KernelCollective("all_reduce", 20, ready, begin + 9, 100 + step, 1'000, step);
  }
  return trace;
}

TEST(Clock, ThatDifferAreAlignedByTheEndsOfCollectives) {
  RunFolder run;
  for (int64_t rank = 0; rank < 4; ++rank) run.Add(RankOf(rank, rank * 1'000));
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT rank, clock_offset_ns, clock_error_ns, clock_domain FROM rank"),
            "0|0|0|0\n1|-1000000000|0|0\n2|-2000000000|0|0\n3|-3000000000|0|0");
  EXPECT_EQ(derived.Query("SELECT name, count FROM data_issue"), "clocks_aligned|3");
  EXPECT_EQ(derived.Query("SELECT min(skew_ns), max(skew_ns), min(transfer_ns), min(last_rank)"
                          " FROM collective"),
            "2000000|2000000|1000000|2");
  EXPECT_EQ(derived.Query("SELECT rank, cause, cause_ns FROM straggler WHERE net_cost_ns > 0"),
            "2|compute|2000000");
  EXPECT_EQ(derived.Query("SELECT rank, sum(exposed_comm_wait_ns) / 10 FROM step_breakdown"
                          " GROUP BY rank"),
            "0|2000000\n1|2000000\n2|0\n3|2000000");
}

// Steps of a second; rank 1's clock runs 50 ppm slow and 7 ms ahead: 5 ms in the hundred steps.
TraceBuilder DriftingRank(int64_t rank) {
  TraceBuilder trace(rank, 2, 1'000);
  trace.BootId("boot " + std::to_string(rank));
  const auto own = [rank](int64_t time_us) {
    return rank == 0 ? time_us : time_us + 7'000 - time_us / 20'000;
  };
  for (int64_t step = 0; step < 100; ++step) {
    const int64_t begin = step * 1'000'000;
    const int64_t ready = begin + (rank == 1 ? 800'000 : 600'000);
    const int64_t end = begin + 900'000;
    trace.Step(step, own(begin), own(begin + 1'000'000), "profiler_step");
    trace.Kernel("gemm", 7, own(begin), own(ready), step + 1);
    trace.Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, own(ready), own(end), 200 + step);
    trace.KernelCollective("all_reduce", 20, own(ready), own(end), 200 + step, 1'000, step);
  }
  return trace;
}

// Aligned in the middle of the run, 2.5 ms from both ends, which the bound covers.
TEST(Clock, ThatDriftsIsSaidToAndBounded) {
  RunFolder run;
  run.Add(DriftingRank(0)).Add(DriftingRank(1));
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT rank, clock_error_ns BETWEEN 2400000 AND 2600000 FROM rank"),
            "0|0\n1|1");
  EXPECT_EQ(derived.Query("SELECT count(*) FROM collective WHERE abs(skew_ns - 200000000) >"
                          " (SELECT max(clock_error_ns) FROM rank)"),
            "0");
  EXPECT_EQ(derived.Query("SELECT detail LIKE '%drift apart by up to 50 ppm%' FROM data_issue"
                          " WHERE name = 'clocks_aligned'"),
            "1");
}

// Gloo's operations end when their own part is done: that says nothing about clocks.
TEST(Clock, OfGlooCollectivesIsNotFitted) {
  RunFolder run;
  for (int64_t rank = 0; rank < 2; ++rank) {
    TraceBuilder trace(rank, 2);
    trace.BootId("boot " + std::to_string(rank)).Step(0, 0, 100).Op("aten::mm", 0, 10);
    for (int64_t i = 0; i < 5; ++i) trace.AllReduce(i, i * 10, i * 10, i * 10 + 5, 64);
    run.Add(trace);
  }
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT count(DISTINCT clock_domain), max(clock_error_ns) FROM rank"),
            "2|");
  EXPECT_EQ(derived.Query("SELECT count(*) FROM data_issue WHERE name = 'clocks_not_aligned'"),
            "1");
}

}  // namespace
}  // namespace tutti::analyzer
