// GPUs over a whole run: files in, derived tables out. The cases are small traces that users
// of other tools reported; numbers can be checked by eye.
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "analyzer/analyze.h"
#include "analyzer/testing/derived.h"

namespace tutti::analyzer {
namespace {

using testing::Derived;
using testing::RunFolder;
using testing::TraceBuilder;

// us       0    100  150  200  250  300  350  400  500
// nccl 20  [==================)
// nccl 24       [========================)
// gemm 7      [=========)              [=========)
TEST(Device, TwoCommunicatorsAtOnceCountOnceAgainstTheWallClock) {
  TraceBuilder rank(0, 1, 1'000);
  rank.Step(0, 0, 500);
  rank.Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, 0, 300);
  rank.Kernel("ncclDevKernel_AllGather_RING_LL", 24, 100, 400);
  rank.Kernel("volta_sgemm_128x64_nt", 7, 50, 250).Kernel("volta_sgemm_128x64_nt", 7, 350, 500);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT comm_ns, compute_ns, busy_ns, idle_unknown_ns, work_ns"
                          " FROM device_summary"),
            "400000|350000|500000|0|950000");
  EXPECT_EQ(derived.Query("SELECT comm_ns, exposed_ns FROM step_overlap"), "400000|150000");
  EXPECT_EQ(derived.Query("SELECT value FROM run_metric WHERE name = 'overlap.frac'"), "0.625");
  EXPECT_EQ(derived.Query("SELECT streams, total_ns FROM stream_concurrency ORDER BY streams"),
            "0|0\n1|200000\n2|150000\n3|150000");
  EXPECT_EQ(derived.Query("SELECT category, count, total_ns FROM step_category ORDER BY category"),
            "comm_all_gather|1|300000\ncomm_all_reduce|1|300000\ngemm|2|350000");
}

// ns      0     100            1000    1100
// a GPU   [=====)                [=====)
// gap             [200 .... 900)
TEST(Device, NobodyKeptItIdleWhileNothingWasCaptured) {
  TraceBuilder rank(0, 1);
  rank.Api("cudaLaunchKernel", 0, 10, 1).Api("cudaLaunchKernel", 950, 980, 2);
  rank.Kernel("a", 7, 0, 100, 1).Kernel("a", 7, 1'000, 1'100, 2);
  rank.Stat("capture_gap", 1, 200, 900);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT idle_host_ns, idle_launched_ns, idle_unknown_ns"
                          " FROM device_summary"),
            "180|20|700");
}

// Programmatic dependent launch: the next kernel of a stream begins before the last one ends.
TEST(Device, KernelsThatOverlapInOneStreamAreAllThereAndCountOnce) {
  TraceBuilder rank(0, 1, 1'000);
  rank.Kernel("a", 7, 0, 100).Kernel("b", 7, 98, 200).Kernel("c", 7, 150, 155);
  rank.Kernel("d", 7, 198, 254);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT kernels, work_ns, busy_ns, end_ns - begin_ns, gaps"
                          " FROM device_summary"),
            "4|263000|254000|254000|0");
}

TEST(Device, WorkWithoutLengthAndWorkThatTouchesIsNoOverlap) {
  TraceBuilder rank(0, 1, 1'000);
  rank.Kernel("a", 7, 0, 10).Kernel("a", 7, 10, 20).Kernel("a", 7, 10, 10).Kernel("a", 7, 20, 20);
  rank.Memset(7, 30, 30, 64);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT kernels, copies, busy_ns FROM device_summary"), "4|1|20000");
  EXPECT_EQ(derived.Query("SELECT sum(total_ns) FROM stream_concurrency WHERE streams > 1"), "");
}

TEST(Device, AGapOfAStreamIsNoGapOfTheGpu) {
  TraceBuilder rank(0, 1, 1'000);
  rank.Kernel("a", 7, 0, 500).Kernel("a", 7, 49'500, 50'000).Kernel("b", 8, 0, 50'000);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT gaps, idle_host_ns + idle_launched_ns + idle_unknown_ns"
                          " FROM device_summary"),
            "0|0");
  EXPECT_EQ(derived.Query("SELECT stream_id, gaps, longest_gap_ns, unknown_ns FROM stream_idle"),
            "7|1|49000000|49000000\n8|0|0|0");
}

// ns        0    10   20   30   40   50   60
// launch A  [)
// launch B       [====)
// launch C    [)
// stream 7  [A==)            [B===)
// stream 8       [D=========)      [C==)
//           B: host 12..20, D runs until 25, latency 25..30; C waits behind others from 4 on
TEST(Device, GapsOfStreamsTellTheHostFromOtherStreamsFromLatency) {
  TraceBuilder rank(0, 1);
  rank.Step(0, 0, 50).Api("cudaLaunchKernel", 0, 1, 1).Api("cudaLaunchKernel", 10, 20, 2);
  rank.Api("cudaLaunchKernel", 2, 4, 3).Api("cudaLaunchKernel", 4, 5, 4);
  rank.Kernel("a", 7, 2, 12, 1).Kernel("b", 7, 30, 40, 2);
  rank.Kernel("d", 8, 10, 25, 4).Kernel("c", 8, 41, 45, 3);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT stream_id, host_wait_ns, kernel_wait_ns, latency_ns, unknown_ns"
                          " FROM stream_idle ORDER BY stream_id"),
            "7|8|5|5|0\n8|0|10|6|0");
  EXPECT_EQ(derived.Query("SELECT gaps, idle_host_ns, idle_launched_ns FROM device_summary"),
            "2|0|6");
  EXPECT_EQ(derived.Query("SELECT busy_ns, idle_host_ns, idle_launched_ns FROM step_device"),
            "37|6|7");
}

TEST(Device, TimesThatCannotBeAreLeftOutAndSaid) {
  TraceBuilder rank(0, 1, 1'000);
  rank.Step(0, 0, 2'000).Op("aten::mm", 0, 2'000);
  for (int64_t i = 0; i < 20; ++i) rank.Kernel("a", 7, i * 100, i * 100 + 50);
  rank.Kernel("corrupt", 7, 700, 700 + int64_t{7'447'000'000'000});  // 86 days
  rank.Kernel("negative", 7, 800, 797);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT kernels, busy_ns FROM device_summary"), "20|1000000");
  EXPECT_EQ(derived.Query("SELECT value FROM run_metric WHERE name = 'run.wall_ns'"), "2000000");
  EXPECT_EQ(derived.Query("SELECT count FROM data_issue WHERE name = 'impossible_times'"), "2");
}

TEST(Device, KernelsWithoutTimesAreInNoFigureAndNamed) {
  TraceBuilder rank(0, 1, 1'000);
  rank.Step(0, 0, 10'000).Api("cudaLaunchKernel", 10, 15, 1).Api("cudaLaunchKernel", 20, 25, 2);
  rank.Kernel("gemm", 7, 100, 120, 1).UntimedKernel("lost_one", 2);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT count, p50_ns FROM op_stats WHERE kind = 'kernel'"), "1|20000");
  EXPECT_EQ(derived.Query("SELECT severity, count, detail FROM data_issue"),
            "data_loss|1|the driver gave no times for 1 kernel; they are in no figure: lost_one "
            "(kernel 2, launched by cudaLaunchKernel 2)");
}

TEST(Launches, OfAGraphAreOneCallHoweverManyKernelsItHas) {
  TraceBuilder rank(0, 1, 1'000);
  rank.Step(0, 0, 1'000);
  for (int64_t replay = 0; replay < 2; ++replay) {
    const int64_t begin = replay * 400;
    rank.Api("cudaGraphLaunch", begin, begin + 12, 9 + replay);
    for (int64_t node = 1; node <= 5; ++node) {
      const int64_t at = begin + 20 + node * 40;
      rank.GraphKernel("node_kernel", 7, at, at + (node == 3 ? 40 : 10), 9 + replay, node);
    }
  }
  rank.Api("cudaLaunchKernel", 900, 905, 99).Kernel("single", 7, 910, 920, 99);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT name, calls, work, host_ns FROM launch_stats ORDER BY name"),
            "cudaGraphLaunch|2|10|24000\ncudaLaunchKernel|1|1|5000");
  EXPECT_EQ(derived.Query("SELECT graph_node_id, count, total_ns, max_ns FROM graph_node"
                          " ORDER BY total_ns DESC LIMIT 1"),
            "3|2|80000|40000");
  EXPECT_EQ(derived.Query("SELECT sum(count) FROM step_category"), "11");
}

TEST(Launches, OfWorkBeforeTheCaptureLeaveTheQueueAlone) {
  TraceBuilder rank(0, 1, 1'000);
  for (int64_t i = 0; i < 3; ++i) rank.Kernel("early", 7, i * 10, i * 10 + 10);
  for (int64_t i = 0; i < 4; ++i) {
    rank.Api("cudaLaunchKernel", i * 2, i * 2 + 1, 100 + i);
    rank.Kernel("late", 7, 30 + i * 10, 40 + i * 10, 100 + i);
  }
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT kernels, busy_ns FROM device_summary"), "7|70000");
  EXPECT_EQ(derived.Query("SELECT launches, before_capture, launch_unknown, max_length"
                          " FROM stream_queue"),
            "4|3|0|4");
  EXPECT_EQ(derived.Query("SELECT min(max_length) >= 0, max(max_length) FROM queue_timeline"),
            "1|4");
  EXPECT_EQ(derived.Query("SELECT count FROM data_issue WHERE name = 'launched_before_capture'"),
            "3");
}

TEST(Launches, ThatSeemToComeAfterTheirKernelSayByHowMuchTheClocksDiffer) {
  TraceBuilder rank(0, 1, 100);
  rank.Step(0, 0, 1'000).Api("cudaLaunchKernel", 10, 60, 1).Kernel("a", 7, 4, 9, 1);
  rank.Api("cudaLaunchKernel", 100, 160, 2).Kernel("a", 7, 120, 130, 2);
  rank.Api("cudaLaunchKernel", 200, 260, 3).Kernel("a", 7, 310, 320, 3);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT calls, skewed, max_skew_ns, p50_delay_ns, p99_delay_ns"
                          " FROM launch_stats"),
            "3|1|600|0|0");
  EXPECT_EQ(derived.Query("SELECT severity, count FROM data_issue WHERE name = "
                          "'device_clock_skew'"),
            "info|1");
}

TEST(Copies, AreCountedByWhatTheyMove) {
  TraceBuilder rank(0, 1);
  rank.Step(0, 0, 1'000).Kernel("gemm", 7, 100, 200);
  rank.Memcpy("HtoD", 8, 150, 250, 1'000, {}, "pageable", "device");
  rank.Memcpy("HtoD", 8, 300, 400, 3'000, {}, "pageable", "device");
  rank.Memcpy("HtoD", 8, 450, 500, 500, {}, "pinned", "device");
  rank.Memcpy("DtoH", 8, 600, 600, 4).Memset(7, 700, 710, 640);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT direction, source, count, bytes, total_ns, exposed_ns, gb_per_s,"
                          " min_gb_per_s, p50_gb_per_s, max_gb_per_s FROM copy_stats"
                          " ORDER BY direction, source"),
            "DtoH||1|4|0|0||||\n"
            "HtoD|pageable|2|4000|200|150|20|10|10|30\n"
            "HtoD|pinned|1|500|50|50|10|10|10|10\n"
            "memset||1|640|10|10|64|64|64|64");
}

TEST(KernelRules, DecideBeforeNamesAndMakeAnOlderAnalysisStale) {
  TraceBuilder rank(0, 1);
  rank.Step(0, 0, 100).Kernel("acme::ring<float>(float*)", 7, 0, 40);
  rank.Kernel("nccl_look_alike", 7, 40, 50).Kernel("gemm", 7, 50, 60);
  RunFolder run;
  run.Add(rank);
  std::ofstream(run.Path("rules.txt")) << "# ours\ncommunication acme::*\ncompute nccl_look*\n";
  AnalyzeOptions options;
  EXPECT_TRUE(EnsureAnalyzed(run.path(), options)->is_new);
  options.kernel_rules = run.Path("rules.txt");
  const Result<Analysis> ruled = EnsureAnalyzed(run.path(), options);
  ASSERT_TRUE(ruled.ok());
  EXPECT_TRUE(ruled->is_new);
  EXPECT_FALSE(EnsureAnalyzed(run.path(), options)->is_new);
  const Derived derived = Derived::Open(ruled->path);
  EXPECT_EQ(derived.Query("SELECT comm_ns, compute_ns FROM device_summary"), "40|20");
  std::ofstream(run.Path("rules.txt")) << "network acme::*\n";
  EXPECT_EQ(EnsureAnalyzed(run.path(), options).status().code(), StatusCode::kUsage);
}

TEST(KernelRules, AreOfferedForUnknownKernelsOnAStreamThatCommunicates) {
  TraceBuilder rank(0, 1);
  rank.Step(0, 0, 100).Kernel("ncclDevKernel_AllReduce_Sum_f32", 20, 0, 10);
  rank.Kernel("ncclDevKernel_AllReduce_Sum_f32", 20, 20, 30).Kernel("acme::ring", 20, 40, 50);
  rank.Kernel("acme::gelu", 7, 0, 50);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT count, detail FROM data_issue WHERE name ="
                          " 'kernels_on_comm_stream'"),
            "1|1 kernels of unknown kind run on a stream that communicates; they count as compute: "
            "acme::ring");
  EXPECT_EQ(derived.Query("SELECT comm_ns, compute_ns FROM step_device"), "20|50");
}

// Whatever is in a run, every check of every pass holds, and devices and breakdown agree.
TEST(Device, AgreesWithTheBreakdownOverRandomRuns) {
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    TraceBuilder rank(0, 1);
    for (int64_t step = 0; step < 3; ++step) rank.Step(step, step * 100, step * 100 + 95);
    const char* const names[] = {"gemm", "ncclDevKernel_AllReduce_Sum_f32", "elementwise"};
    for (int64_t i = 0; i < 12; ++i) {
      const auto launch = static_cast<int64_t>(random() % 280);
      const auto begin = launch + static_cast<int64_t>(random() % 20);
      const auto end = begin + static_cast<int64_t>(random() % 30);
      const auto stream = static_cast<int64_t>(7 + random() % 3);
      if (random() % 5 != 0) rank.Api("cudaLaunchKernel", launch, launch + 3, i + 1);
      if (random() % 4 == 0) {
        rank.Memcpy("HtoD", stream, begin, end, 64, i + 1);
      } else {
        rank.Kernel(names[random() % 3], stream, begin, end, i + 1);
      }
    }
    RunFolder run;
    const Derived derived(run.Add(rank));
    EXPECT_EQ(derived.Query("SELECT count(*) FROM step_device AS d JOIN step_breakdown AS b"
                            " USING (rank, step) WHERE d.compute_ns <> b.compute_ns"
                            " OR d.busy_ns <> b.compute_ns + b.exposed_comm_transfer_ns +"
                            " b.exposed_comm_wait_ns + b.exposed_comm_unsplit_ns +"
                            " b.exposed_copy_ns OR d.idle_launched_ns + d.idle_unknown_ns <"
                            " b.idle_ns OR d.idle_host_ns < b.host_bound_ns"),
              "0")
        << round;
    EXPECT_EQ(derived.Query("SELECT count(*) FROM step_device"), "3");
  }
}

}  // namespace
}  // namespace tutti::analyzer
