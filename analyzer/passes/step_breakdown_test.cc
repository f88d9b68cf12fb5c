// Breakdown, overlap and waiting over a whole run: files in, derived tables out.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "analyzer/testing/derived.h"

namespace tutti::analyzer {
namespace {

using testing::Derived;
using testing::kGlooTid;
using testing::kLoaderTid;
using testing::RunFolder;
using testing::TraceBuilder;

// ns         0    10   20   30   40   50   60   70   80   90  100
// rank 0     |step 0                                            |
//   input    [====)
//   main          [mm==========)              [sgd )
//   gloo                  [wait....|transfer==)
// rank 1     |step 0                                            |
//   main     [mm======================)       [sgd )
//   gloo                           [==========)
TEST(StepBreakdown, OfTwoRanksByHand) {
  TraceBuilder rank0(0, 2);
  rank0.Step(0, 0, 100).DataWait(0, 10, 0).Op("aten::mm", 10, 36).Op("aten::sgd", 56, 66);
  rank0.AllReduce(0, 25, 26, 56, 4096);
  TraceBuilder rank1(1, 2);
  rank1.Step(0, 0, 100).Op("aten::mm", 0, 50).Op("aten::sgd", 56, 66);
  rank1.AllReduce(0, 43, 44, 56, 4096);
  RunFolder run;
  const Derived derived(run.Add(rank0).Add(rank1));
  EXPECT_EQ(derived.Query("SELECT rank, step_ns, compute_ns, exposed_comm_wait_ns,"
                          " exposed_comm_transfer_ns, exposed_comm_unsplit_ns, input_wait_ns,"
                          " host_bound_ns, idle_ns FROM step_breakdown ORDER BY rank"),
            "0|100|36|8|12|0|10|34|0\n"
            "1|100|60|0|6|0|0|34|0");
  EXPECT_EQ(derived.Query("SELECT rank, late_rank, wait_ns FROM step_wait_for"), "0|1|8");
  EXPECT_EQ(derived.Query("SELECT rank, comm_ns, exposed_ns FROM step_overlap ORDER BY rank"),
            "0|30|20\n1|12|6");
  EXPECT_EQ(derived.Query("SELECT op, state, matched_by, ranks_seen, last_rank, skew_ns,"
                          " transfer_ns, clamped FROM collective"),
            "all_reduce|complete|sequence|2|1|18|12|0");
}

TEST(StepBreakdown, LoaderAndGlooThreadsDoNotCompute) {
  TraceBuilder rank(0, 1);
  rank.Step(0, 0, 100).Op("aten::mm", 0, 20);
  rank.Op("aten::stack", 10, 90, kLoaderTid).Op("aten::copy_", 30, 50, kGlooTid);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT compute_ns, host_bound_ns FROM step_breakdown"), "20|80");
  EXPECT_EQ(derived.Query("SELECT id, role FROM lane ORDER BY id"),
            "100|compute\n200|communication\n300|loader");
}

TEST(StepBreakdown, OperatorsInsideADataWaitAreLoadingAndBlockingOnesAreNotCompute) {
  TraceBuilder rank(0, 1);
  rank.Step(0, 0, 100).DataWait(0, 30).Op("aten::stack", 5, 25);
  rank.Op("aten::outer", 40, 80).Op("_c10d_functional::wait_tensor", 50, 70);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT compute_ns, input_wait_ns, sync_ns, host_bound_ns"
                          " FROM step_breakdown"),
            "20|30|20|30");
}

// ns         0    10   20   30   40
// main       [AccumulateGrad......)
//   c10d          [========)
// gloo              [==========)
TEST(StepBreakdown, HandingABucketToTheBackendIsNotCompute) {
  TraceBuilder rank(0, 1);
  rank.Step(0, 0, 40).Backward("torch::autograd::AccumulateGrad", 0, 30);
  rank.Op("c10d::allreduce_", 10, 24).Communicator(1, "0", {0});
  rank.AllReduce(0, 10, 14, 34, 64);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT compute_ns, exposed_comm_transfer_ns, sync_ns, host_bound_ns"
                          " FROM step_breakdown"),
            "16|14|0|10");
}

TEST(StepBreakdown, WithoutThePeersFileCommunicationIsNotSplit) {
  TraceBuilder rank0(0, 2);
  rank0.Step(0, 0, 100).Op("aten::mm", 0, 50).AllReduce(0, 20, 40, 90, 4096);
  RunFolder run;
  const Derived derived(run.Add(rank0));
  EXPECT_EQ(derived.Query("SELECT exposed_comm_unsplit_ns, exposed_comm_wait_ns,"
                          " exposed_comm_transfer_ns FROM step_breakdown"),
            "40|0|0");
  EXPECT_EQ(derived.Query("SELECT state, is_bw_raw, duration_ns FROM collective"),
            "peers_missing|1|50");
  EXPECT_EQ(derived.Query("SELECT severity, name, count FROM data_issue"),
            "data_loss|ranks_missing|1");
}

TEST(StepBreakdown, WhereEventsWereLostAGapIsNotTheHosts) {
  TraceBuilder rank(0, 1);
  rank.Step(0, 0, 100).Op("aten::mm", 0, 50).Lost(7, 60, 80);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT host_bound_ns, idle_ns FROM step_breakdown"), "30|20");
  EXPECT_EQ(derived.Query("SELECT name, count, first_step, last_step FROM data_issue"),
            "ring_dropped|7|0|0");
  EXPECT_EQ(derived.Query("SELECT events_lost FROM rank"), "7");
}

TEST(StepBreakdown, WithoutOperatorsNothingIsSaidToBeTheHosts) {
  TraceBuilder rank(0, 1);
  rank.Step(0, 0, 100).DataWait(0, 10);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT compute_ns, input_wait_ns, host_bound_ns, idle_ns"
                          " FROM step_breakdown"),
            "0|10|0|90");
  EXPECT_EQ(derived.Query("SELECT severity, name, count FROM data_issue"),
            "data_loss|no_operators|1");
}

// us         0         10        20        30        40
// launch     [1)  [2)                 [3)
// kernel            [gemm====)            [nccl=====)
// copy                            [HtoD====)
// gaps       [h)[l)          [l)     [h==)[l)       [h)   h: host-bound, l: launched
TEST(StepBreakdown, OnAGpuStreamsComputeAndUnlaunchedTimeIsTheHosts) {
  TraceBuilder rank(0, 1, 1000);
  rank.Step(0, 0, 40).Api("cudaLaunchKernel", 0, 2, 1).Api("cudaMemcpyAsync", 5, 6, 2);
  rank.Kernel("gemm", 7, 4, 14, 1).Memcpy("HtoD", 8, 16, 24, 4096, 2);
  rank.Api("cudaLaunchKernel", 25, 27, 3).Kernel("ncclDevKernel_AllReduce_Sum_f32", 9, 29, 39, 3);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT compute_ns, exposed_comm_unsplit_ns, exposed_copy_ns,"
                          " host_bound_ns, idle_ns FROM step_breakdown"),
            "10000|10000|8000|6000|6000");
  EXPECT_EQ(derived.Query("SELECT id, role FROM lane WHERE kind = 'stream' ORDER BY id"),
            "7|compute\n8|copy\n9|communication");
  EXPECT_EQ(derived.Query("SELECT device_kind FROM rank"), "gpu");
}

TEST(StepBreakdown, AGapBeforeWorkWhoseLaunchIsNotKnownIsUnexplained) {
  TraceBuilder rank(0, 1);
  rank.Step(0, 0, 100).Kernel("gemm", 7, 0, 40).Kernel("gemm", 7, 60, 100);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT compute_ns, host_bound_ns, idle_ns FROM step_breakdown"),
            "80|0|20");
}

// ns         0    10   20   30   40   50   60   70   80   90
// host       [1)[cudaStreamSync==)   [2)   [cudaMemcpy)
// loader     [cudaEventSynchronize======================)    does not launch: not sync
// kernel        [gemm=)                [gemm=)
TEST(StepBreakdown, AHostBlockedInASynchronisationIsToldFromOneThatIsSlow) {
  TraceBuilder rank(0, 1);
  rank.Step(0, 0, 90).Api("cudaLaunchKernel", 0, 5, 1).Api("cudaStreamSynchronize", 8, 30, 0);
  rank.Api("cudaLaunchKernel", 40, 45, 2).Api("cudaMemcpy", 60, 85, 0);
  rank.Api("cudaEventSynchronize", 0, 80, 0, kLoaderTid);
  rank.Kernel("gemm", 7, 6, 20, 1).Kernel("gemm", 7, 46, 60, 2);
  rank.Sync("stream", 9, 29).Sync("stream_wait_event", 30, 40);
  RunFolder run;
  const Derived derived(run.Add(rank));
  // sync [20,30) [60,85); launched, not begun [5,6) [45,46); the rest of the gaps is the host's
  EXPECT_EQ(derived.Query("SELECT compute_ns, sync_ns, host_bound_ns, idle_ns"
                          " FROM step_breakdown"),
            "28|35|25|2");
}

TEST(StepBreakdown, WithoutCallsReadingAValueOfTheDeviceIsSync) {
  TraceBuilder rank(0, 1);
  rank.Step(0, 0, 100).Op("aten::item", 50, 90).Kernel("gemm", 7, 0, 60);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT compute_ns, sync_ns, idle_ns FROM step_breakdown"), "60|30|10");
}

// Metadata decides before names do: a kernel of any name communicates if its collective says
// so. What c10d tells is the time of the host, not of the GPU.
TEST(StepBreakdown, OnAGpuCommunicationIsKernelsByMetadataThenByName) {
  TraceBuilder rank(0, 1);
  rank.Step(0, 0, 100).Communicator(1, "0", {0});
  rank.Kernel("acme::ring", 7, 10, 30, 5).KernelCollective("all_reduce", 7, 10, 30, 5, 64, 0);
  rank.Kernel("ncclDevKernel_AllGather_RING_LL", 7, 40, 60).Kernel("acme::ring", 7, 70, 80);
  RunFolder run;
  run.Add(rank);
  run.Execute("rank-00000.sqlite",
              "INSERT INTO collective_source (id, origin, communicator_id, sequence, op_id,"
              " dtype_id, enqueue_ns, begin_ns, end_ns) SELECT 9, 'c10d', 1, 7, op_id, 0,"
              " begin_ns - 10, begin_ns - 10, begin_ns + 90 FROM collective_source");
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT compute_ns, exposed_comm_transfer_ns + exposed_comm_wait_ns"
                          " + exposed_comm_unsplit_ns FROM step_breakdown"),
            "10|40");
  EXPECT_EQ(derived.Query("SELECT comm_ns, exposed_ns FROM step_overlap"), "40|40");
}

// Random runs: whatever is in them, every check of every pass holds, and so do the
// constraints; what can be counted is counted again from the raw rows.
TEST(StepBreakdown, AddsUpOverRandomRuns) {
  std::mt19937 random(47);
  for (int round = 0; round < 40; ++round) {
    const int64_t world = 1 + static_cast<int64_t>(random() % 4);
    RunFolder run;
    for (int64_t rank = 0; rank < world; ++rank) {
      if (world > 1 && random() % 10 == 0) continue;
      TraceBuilder trace(rank, world);
      int64_t t = static_cast<int64_t>(random() % 50);
      for (int64_t step = 0; step < 6; ++step) {
        const int64_t begin = t;
        t += 40 + static_cast<int64_t>(random() % 60);
        const bool open = step == 5 && random() % 4 == 0;
        trace.Step(step, begin, open ? std::nullopt : std::optional(t));
        for (int64_t op = begin; op < t; op += 1 + static_cast<int64_t>(random() % 20)) {
          trace.Op("aten::op" + std::to_string(random() % 3), op,
                   op + static_cast<int64_t>(random() % 25));
        }
        if (random() % 2 == 0) trace.DataWait(begin, begin + static_cast<int64_t>(random() % 15));
        if (random() % 8 == 0) trace.Lost(1, begin, begin + 10);
        const int64_t arrival = begin + static_cast<int64_t>(random() % 40);
        trace.AllReduce(
            step, arrival, arrival + 1,
            open ? std::nullopt : std::optional(arrival + 1 + static_cast<int64_t>(random() % 50)),
            64);
        t += static_cast<int64_t>(random() % 10);
      }
      run.Add(trace);
    }
    if (std::filesystem::is_empty(run.path())) continue;
    const Derived derived(run);  // aborts if a check of a pass fails
    EXPECT_EQ(derived.Query("SELECT count(*) FROM step_breakdown AS b JOIN step_window AS w"
                            " USING (rank, step) WHERE b.compute_ns + b.exposed_comm_wait_ns"
                            " + b.exposed_comm_transfer_ns + b.exposed_comm_unsplit_ns"
                            " + b.exposed_copy_ns + b.input_wait_ns + b.sync_ns + b.host_bound_ns"
                            " + b.idle_ns <> w.end_ns - w.begin_ns"),
              "0");
    EXPECT_EQ(derived.Query("SELECT count(DISTINCT rank) FROM step_breakdown"),
              derived.Query("SELECT count(*) FROM rank"));
  }
}

}  // namespace
}  // namespace tutti::analyzer
