// Faults of GPU ranks with a known answer, each against the same step without it.
#include <gtest/gtest.h>

#include "analyzer/findings/throttle.h"
#include "analyzer/testing/derived.h"

namespace tutti::analyzer {
namespace {

using testing::Derived;
using testing::kMainTid;
using testing::RunFolder;
using testing::TraceBuilder;

constexpr const char* kGemm = "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_nn";
constexpr const char* kSlowGemm = "ampere_sgemm_128x64_nn";

// A step of 10 ms in microseconds: two kernels of 5 ms without a gap, launched well before.
//
// launch  [1)[2)
// stream   [first=======)[second======)
struct GpuStep {
  TraceBuilder& rank;
  int64_t t;
  int64_t id;

  int64_t Launch(int64_t at) {
    rank.Api("cudaLaunchKernel", t + at, t + at + 5, ++id);
    return id;
  }
  void Kernel(const std::string& name, int64_t begin, int64_t end, int64_t launched) {
    const int64_t correlation = Launch(launched);
    rank.Kernel(name, 7, t + begin, t + end, correlation);
  }
};

using Fault = void (*)(GpuStep& step);

void Clean(GpuStep& step) {
  step.Kernel(kGemm, 12, 5000, 0);
  step.Kernel(kGemm, 5001, 9990, 5);
}

// `sql` changes the rank's file afterwards.
std::string Find(Fault fault, const char* columns = "kind", const std::string& sql = "") {
  TraceBuilder rank(0, 1, 1000);
  int64_t id = 0;
  for (int64_t i = 0; i < 30; ++i) {
    GpuStep step{rank, i * 10'000, id};
    rank.Step(i, step.t, step.t + 10'000).Op("aten::mm", step.t, step.t + 10);
    rank.Backward("MmBackward0", step.t + 1, step.t + 2);
    fault(step);
    id = step.id;
  }
  RunFolder run;
  run.Add(rank);
  if (!sql.empty()) run.Execute("rank-00000.sqlite", sql);
  return Derived(run).Query(std::string("SELECT ") + columns + " FROM finding");
}

// A GPU of 108 multiprocessors, each of which holds 2,048 threads and 65,536 registers; all
// kernels have so many blocks of 256 threads with 128 registers.
std::string OfBlocks(int64_t blocks) {
  return "INSERT OR REPLACE INTO device (id, name, sm_count, warp_size, max_threads_per_sm,"
         " registers_per_sm, shared_bytes_per_sm) VALUES (0, 'GPU', 108, 32, 2048, 65536, 167936);"
         "UPDATE kernel SET grid_x = " +
         std::to_string(blocks) +
         ", grid_y = 1, grid_z = 1, block_x = 256, block_y = 1, block_z = 1,"
         " registers_per_thread = 128, static_shared_bytes = 0, dynamic_shared_bytes = 0";
}

TEST(DeviceFindings, NoneInAFullStep) { EXPECT_EQ(Find(Clean), ""); }

TEST(DeviceFindings, AHostThatLaunchesLateIsLaunchBound) {
  const auto late = [](GpuStep& step) {
    step.Kernel(kGemm, 12, 5000, 0);
    step.Kernel(kGemm, 7012, 9990, 7000);
  };
  EXPECT_EQ(Find(late, "kind, cost_ns BETWEEN 1900000 AND 2100000, replayed_ns > 1500000"),
            "launch_bound|1|1");
}

TEST(DeviceFindings, CopiesAreNoKernelsOfALaunchBoundStep) {
  const auto late = [](GpuStep& step) {
    step.Kernel(kGemm, 12, 5000, 0);
    step.rank.Memcpy("DtoD", 7, step.t + 5000, step.t + 5010, 1024);
    step.Kernel(kGemm, 7012, 9990, 7000);
  };
  EXPECT_EQ(Find(late, "kind, title LIKE '%: 2 kernels a step of 3.98 ms on average'"),
            "launch_bound|1");
}

TEST(DeviceFindings, KernelsShorterThanTheirLaunchesAreTiny) {
  const auto tiny = [](GpuStep& step) {
    for (int64_t i = 0; i < 400; ++i) step.Kernel(kGemm, i * 24 + 12, i * 24 + 17, i * 24);
  };
  EXPECT_EQ(Find(tiny), "tiny_kernels");
}

TEST(DeviceFindings, ASynchronisationWithNothingRunningIsASyncPoint) {
  const auto sync = [](GpuStep& step) {
    step.Kernel(kGemm, 12, 5000, 0);
    step.rank.Api("cudaStreamSynchronize", step.t + 20, step.t + 7000, ++step.id);
    step.Kernel(kGemm, 7012, 9990, 7000);
  };
  EXPECT_EQ(Find(sync, "kind, title LIKE '%cudaStreamSynchronize, once a step'"), "sync_points|1");
}

// The call returns with the kernel, as .item() does; the host then takes 2 ms to launch anew.
TEST(DeviceFindings, TheGapAfterASynchronisationIsItsFaultNotTheLaunches) {
  const auto sync = [](GpuStep& step) {
    step.Kernel(kGemm, 12, 5000, 0);
    step.rank.Api("cudaStreamSynchronize", step.t + 20, step.t + 5010, ++step.id);
    step.Kernel(kGemm, 7012, 9990, 7000);
  };
  EXPECT_EQ(Find(sync, "kind, cost_ns BETWEEN 1900000 AND 2100000, replayed_ns > 1500000"),
            "sync_points|1|1");
}

TEST(DeviceFindings, ThePythonLineOfASynchronisationIsTold) {
  const auto sync = [](GpuStep& step) {
    step.Kernel(kGemm, 12, 5000, 0);
    step.rank.Api("cudaStreamSynchronize", step.t + 20, step.t + 7000, ++step.id);
    step.Kernel(kGemm, 7012, 9990, 7000);
  };
  // Two calls that last all along, one inside the other, and one that is not the user's.
  const std::string calls =
      "INSERT INTO string VALUES (9997, 'train.py(7): main'), (9998, 'train.py(88): step'),"
      " (9999, 'torch/_tensor.py(40): item');"
      "INSERT INTO python_call (id, tid, name_id, begin_ns, end_ns, depth) VALUES"
      " (1, 100, 9997, 0, NULL, 0), (2, 100, 9998, 0, NULL, 1), (3, 100, 9999, 0, NULL, 2)";
  EXPECT_EQ(Find(sync, "kind, advice LIKE '%; the longest is called at train.py(88): step'", calls),
            "sync_points|1");
}

// Most of a step passes in the user's own call, whatever that calls.
TEST(DeviceFindings, ThePythonLineAtWhichAStepsTimePassesIsTold) {
  const auto tiny = [](GpuStep& step) {
    for (int64_t i = 0; i < 400; ++i) step.Kernel(kGemm, i * 24 + 12, i * 24 + 17, i * 24);
  };
  const std::string calls =
      "INSERT INTO string VALUES (9997, 'train.py(7): main'), (9998, 'optim.py(31): update'),"
      " (9999, 'torch/_ops.py(40): __call__');"
      "INSERT INTO python_call (id, tid, name_id, begin_ns, end_ns, depth)"
      " VALUES (1, 100, 9997, 0, NULL, 0);"
      "INSERT INTO python_call (id, tid, name_id, begin_ns, end_ns, depth)"
      " SELECT 2 * id + 10, tid, 9998, begin_ns, end_ns - 1000000, 1 FROM step;"
      "INSERT INTO python_call (id, tid, name_id, begin_ns, end_ns, depth)"
      " SELECT 2 * id + 11, tid, 9999, begin_ns + 1000, end_ns - 2000000, 2 FROM step;";
  EXPECT_EQ(Find(tiny,
                 "kind, advice LIKE '%; 9.00 ms of a step''s 10.0 ms pass at optim.py(31): "
                 "update'",
                 calls),
            "tiny_kernels|1");
  EXPECT_EQ(Find(tiny, "advice LIKE '%pass at%'"), "0");
}

TEST(DeviceFindings, AllocationsInEveryStepAreChurn) {
  const auto churn = [](GpuStep& step) {
    step.Kernel(kGemm, 12, 5000, 0);
    step.rank.Api("cudaMalloc", step.t + 5000, step.t + 6000, ++step.id);
    step.rank.Api("cudaFree", step.t + 6000, step.t + 7000, ++step.id);
    step.Kernel(kGemm, 7012, 9990, 7000);
  };
  EXPECT_EQ(Find(churn, "kind, cost_ns"), "device_alloc_churn|2000000");
  const auto pinned = [](GpuStep& step) {
    step.Kernel(kGemm, 12, 5000, 0);
    step.rank.Api("cudaHostAlloc", step.t + 5000, step.t + 7000, ++step.id);
    step.Kernel(kGemm, 7012, 9990, 7000);
  };
  EXPECT_EQ(Find(pinned), "pinned_alloc_churn");
}

void CopyThenKernel(GpuStep& step, const char* source, int64_t copies, int64_t bytes) {
  step.Kernel(kGemm, 12, 5000, 0);
  const int64_t length = 2000 / copies;
  for (int64_t i = 0; i < copies; ++i) {
    step.rank.Api("cudaMemcpyAsync", step.t + 20 + i, step.t + 21 + i, ++step.id);
    step.rank.Memcpy("HtoD", 7, step.t + 5000 + i * length, step.t + 5000 + (i + 1) * length, bytes,
                     step.id, source, "device");
  }
  step.Kernel(kGemm, 7001, 9990, 60);
  step.rank.Api("cudaDeviceSynchronize", step.t + 100, step.t + 9992, ++step.id);
}

TEST(DeviceFindings, ExposedCopiesAreToldApart) {
  EXPECT_EQ(Find([](GpuStep& step) { CopyThenKernel(step, "pageable", 1, 4 << 20); },
                 "kind, cost_ns, replayed_ns"),
            "pageable_copy|2000000|2000000");
  EXPECT_EQ(Find([](GpuStep& step) { CopyThenKernel(step, "pinned", 1, 4 << 20); }),
            "exposed_copy");
  EXPECT_EQ(Find([](GpuStep& step) { CopyThenKernel(step, "pinned", 20, 1024); },
                 "kind, cost_ns, advice LIKE '%: one of 20 KiB instead of 20'"),
            "copy_storm|1900000|1");
}

// 4 MiB in 2 ms, of pinned memory 4 MiB in 0.5 ms, which a kernel hides: three quarters are saved.
TEST(DeviceFindings, PageableCopiesCostWhatPinnedOnesDoNot) {
  const auto fault = [](GpuStep& step) {
    CopyThenKernel(step, "pageable", 1, 4 << 20);
    step.rank.Memcpy("HtoD", 9, step.t + 4000, step.t + 4500, 4 << 20, {}, "pinned", "device");
  };
  EXPECT_EQ(Find(fault, "kind, cost_ns, advice LIKE '%: pinned memory moves 8.39 GB/s here'"),
            "pageable_copy|1500000|1");
}

// 1 of 40 MiB is used: a batch could be 16 times as large and more, and launches cost the same.
TEST(DeviceFindings, ALargerBatchIsAdvisedWhereMemoryIsFree) {
  const auto late = [](GpuStep& step) {
    step.Kernel(kGemm, 12, 5000, 0);
    step.Kernel(kGemm, 7012, 9990, 7000);
    step.rank.Memory(step.t + 1, 0, 1 << 20);
  };
  EXPECT_EQ(
      Find(late, "kind, advice LIKE '%; a batch 16 times as large and more would fit into memory%'",
           "INSERT OR REPLACE INTO device (id, name, memory_bytes) VALUES (0, 'GPU', 41943040);"
           "UPDATE memory_event SET device_type = 'cuda', device_id = 0"),
      "launch_bound|1");
}

TEST(DeviceFindings, MatrixWorkWithoutTensorCores) {
  const auto slow = [](GpuStep& step) {
    step.Kernel(kSlowGemm, 12, 5000, 0);
    step.Kernel(kGemm, 5001, 9990, 5);
  };
  EXPECT_EQ(Find(slow, "kind, confidence, cost_ns BETWEEN 2400000 AND 2600000"),
            "no_tensor_cores|medium|1");
}

TEST(DeviceFindings, KernelsThatOnlyMoveData) {
  const auto moves = [](GpuStep& step) {
    step.Kernel(kGemm, 12, 7000, 0);
    step.Kernel("void cudnn::ops::nchwToNhwcKernel<__half, __half>", 7001, 9990, 5);
  };
  EXPECT_EQ(Find(moves, "kind, cost_ns"), "layout_conversion|2989000");
}

TEST(DeviceFindings, ManyElementwiseKernels) {
  const auto chain = [](GpuStep& step) {
    step.Kernel(kGemm, 500, 3000, 0);
    for (int64_t i = 0; i < 60; ++i) {
      step.Kernel("void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor>",
                  3001 + i * 110, 3110 + i * 110, 5 + i * 5);
    }
  };
  EXPECT_EQ(Find(chain, "kind"), "unfused_elementwise");
}

// Of 9,977 us of kernels, blocks for 27 of 108 multiprocessors leave three quarters.
TEST(DeviceFindings, KernelsOfFewBlocksLeaveTheGpuEmpty) {
  EXPECT_EQ(Find(Clean, "kind, cost_ns", OfBlocks(27)), "gpu_underfilled|7482750");
  EXPECT_EQ(Find(Clean, "title", OfBlocks(27)),
            "kernels have blocks for 25.0 % of the multiprocessors on average");
  EXPECT_EQ(Find(Clean, "kind", OfBlocks(216)), "");
}

// Registers allow two blocks at once, 216 on the GPU: 270 are 1.25 waves, which take two.
TEST(DeviceFindings, AProductsLastWaveLeavesTheGpuEmpty) {
  EXPECT_EQ(Find(Clean, "kind, cost_ns", OfBlocks(270)), "gemm_shape|3741375");
  EXPECT_EQ(Find(Clean, "kind", OfBlocks(432)), "");
}

// us        0   12       4012  4020            9990
// stream 13     [A=======)
// default                [8 us)
// stream 14                   [B===============)      4 ms could run at once
TEST(DeviceFindings, TheDefaultStreamBetweenTwoOthersSerializesThem) {
  const auto serialized = [](GpuStep& step) {
    const int64_t a = step.Launch(0);
    const int64_t between = step.Launch(5);
    const int64_t b = step.Launch(10);
    step.rank.Kernel(kGemm, 13, step.t + 12, step.t + 4012, a);
    step.rank.Kernel("void at::native::vectorized_elementwise_kernel<4>", 7, step.t + 4012,
                     step.t + 4020, between);
    step.rank.Kernel(kGemm, 14, step.t + 4020, step.t + 9990, b);
  };
  EXPECT_EQ(Find(serialized, "kind, cost_ns"), "false_serialization|4000000");
}

// us        12     3012          7012  8012
// compute   [3 ms=)[5 ms===============)       the same kernel: 2 ms longer
// NCCL             [==============)
TEST(DeviceFindings, KernelsThatTakeLongerBesideCollectivesAreContended) {
  const auto contended = [](GpuStep& step) {
    step.Kernel(kGemm, 12, 3012, 0);
    step.Kernel(kGemm, 3012, 8012, 5);
    step.rank.Kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 9, step.t + 3012, step.t + 7012,
                     step.Launch(10));
    step.Kernel("void at::native::other_kernel<4>", 8013, 9990, 15);
  };
  EXPECT_EQ(Find(contended, "kind, cost_ns"), "compute_contention|2000000");
  EXPECT_EQ(Find(contended, "title"),
            "1 kernels a step beside collectives take 2.00 ms longer than alone");
}

// 64 MiB in 5 ms are 13.4 GB/s on the bus; three quarters of an A100's links are 225.
TEST(DeviceFindings, CollectivesThatMissTheirLinkAreSlow) {
  for (const char* gpu : {"NVIDIA A100-SXM4-80GB", "NVIDIA A100-PCIE-40GB"}) {
    RunFolder run;
    for (int64_t r = 0; r < 2; ++r) {
      TraceBuilder rank(r, 2, 1000);
      for (int64_t i = 0; i < 30; ++i) {
        GpuStep step{rank, i * 10'000, i * 10};
        rank.Step(i, step.t, step.t + 10'000).Op("aten::mm", step.t, step.t + 10);
        step.Kernel(kGemm, 12, 4990, 0);
        const int64_t launch = step.Launch(5);
        rank.Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 9, step.t + 4990, step.t + 9990,
                    launch);
        rank.KernelCollective("all_reduce", 9, step.t + 4990, step.t + 9990, launch, 64 << 20, i);
      }
      run.Add(rank);
      run.Execute("rank-0000" + std::to_string(r) + ".sqlite",
                  "UPDATE communicator SET backend = 'nccl';"
                  "INSERT OR REPLACE INTO device (id, name) VALUES (0, '" +
                      std::string(gpu) + "')");
    }
    const std::string found = Derived(run).Query(
        "SELECT kind, cost_ns BETWEEN 4690000 AND 4710000, title, confidence"
        " FROM finding");
    if (std::string_view(gpu).find("SXM") == std::string_view::npos) {
      EXPECT_EQ(found.substr(0, 12), "exposed_comm");
    } else {
      EXPECT_EQ(found,
                "low_bandwidth|1|collectives of 16 MiB and more among ranks 0 and 1 move 13.4 GB/s "
                "on the bus, three quarters of the GPUs' link is 225 GB/s|medium");
    }
  }
}

// All-reduces of 64 MiB on GPUs of which no data sheet is known; every fifth step takes `fast_us`,
// the others 5 ms.
std::string FindAmongUneven(int64_t fast_us) {
  RunFolder run;
  for (int64_t r = 0; r < 2; ++r) {
    TraceBuilder rank(r, 2, 1000);
    for (int64_t i = 0; i < 50; ++i) {
      GpuStep step{rank, i * 10'000, i * 10};
      rank.Step(i, step.t, step.t + 10'000).Op("aten::mm", step.t, step.t + 10);
      step.Kernel(kGemm, 12, 4990, 0);
      const int64_t launch = step.Launch(5);
      const int64_t end = step.t + 4990 + (i % 5 == 0 ? fast_us : 5000);
      rank.Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 9, step.t + 4990, end, launch);
      rank.KernelCollective("all_reduce", 9, step.t + 4990, end, launch, 64 << 20, i);
    }
    run.Add(rank);
    run.Execute("rank-0000" + std::to_string(r) + ".sqlite",
                "UPDATE communicator SET backend = 'nccl'");
  }
  return Derived(run).Query("SELECT kind, title FROM finding WHERE kind = 'low_bandwidth'");
}

TEST(DeviceFindings, CollectivesThatAreMostlySlowerThanTheyCanBeAreTold) {
  EXPECT_EQ(FindAmongUneven(1000),
            "low_bandwidth|collectives of 16 MiB and more among ranks 0 and 1 move 16 GB/s on the "
            "bus, what they reach in one of ten is 67.1 GB/s");
  EXPECT_EQ(FindAmongUneven(5000), "");
  EXPECT_EQ(FindAmongUneven(3500), "");
}

// 2 * 1024^3 in each of two products of a step of 10 ms: 429 GFLOP/s; an A100 does 312 TFLOP/s.
TEST(DeviceFindings, ShapesTellTheFloatingPointOperations) {
  TraceBuilder rank(0, 1, 1000);
  for (int64_t i = 0; i < 30; ++i) {
    GpuStep step{rank, i * 10'000, i * 10};
    rank.Step(i, step.t, step.t + 10'000);
    rank.Op("aten::mm", step.t, step.t + 10).Op("aten::mm", step.t + 20, step.t + 30);
    Clean(step);
  }
  RunFolder run;
  run.Add(rank);
  run.Execute("rank-00000.sqlite",
              "INSERT INTO string VALUES (9999, '[[1024,1024],[1024,1024]]');"
              "UPDATE cpu_op SET shapes_id = 9999;"
              "INSERT OR REPLACE INTO device (id, name) VALUES (0, 'NVIDIA A100-SXM4-80GB')");
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT DISTINCT operators, flop FROM step_flop"), "2|4294967296");
  EXPECT_EQ(derived.Query("SELECT round(value / 1e9, 3) FROM run_metric"
                          " WHERE name = 'compute.flop_per_s'"),
            "429.497");
  EXPECT_EQ(derived.Query("SELECT round(value, 6) FROM run_metric"
                          " WHERE name = 'compute.mfu_frac'"),
            "0.001377");
}

// Four ranks; on rank 2 every kernel takes 1.3 times as long.
TEST(DeviceFindings, AGpuThatTakesLongerForTheSameKernelsIsSlow) {
  for (const bool is_slow : {false, true}) {
    RunFolder run;
    for (int64_t r = 0; r < 4; ++r) {
      TraceBuilder rank(r, 4, 1000);
      const int64_t factor = is_slow && r == 2 ? 13 : 10;
      for (int64_t i = 0; i < 30; ++i) {
        GpuStep step{rank, i * 10'000, i * 10};
        rank.Step(i, step.t, step.t + 10'000).Op("aten::mm", step.t, step.t + 10);
        int64_t at = 20;
        for (const char* name : {"gemm_a_s16816", "gemm_b_s16816", "gemm_c_s16816"}) {
          step.Kernel(name, at, at + 230 * factor, 0);
          at += 230 * factor + 1;
        }
        rank.KernelCollective("all_reduce", 9, step.t + at, step.t + 9980, {}, 1 << 20, i);
      }
      run.Add(rank);
    }
    const std::string found = Derived(run).Query(
        "SELECT kind, (SELECT group_concat(rank) FROM finding_rank WHERE finding_id = id)"
        " FROM finding WHERE kind IN ('slow_gpu', 'straggler')");
    EXPECT_EQ(found, is_slow ? "slow_gpu|2" : "");
    if (!is_slow) continue;
    run.Execute("rank-00002.sqlite",
                "INSERT INTO counter (id, name, unit, kind, description, device_id)"
                " VALUES (1, 'gpu.throttle_reasons', 'bits', 'gauge', '', 0);"
                "INSERT INTO counter_sample VALUES (1, 1000, 32), (1, 2000, 0)");
    EXPECT_EQ(Derived(run).Query("SELECT title LIKE '%: its clocks were lowered in 50.0 % of the"
                                 " samples (heat 50.0 %)' FROM finding"
                                 " WHERE kind = 'slow_gpu'"),
              "1");
  }
}

TEST(DeviceFindings, ThrottleReasonsAreToldByTheirShare) {
  EXPECT_EQ(ThrottleText({}), "");
  EXPECT_EQ(ThrottleText({{0, 100}, {1, 50}, {2, 50}}), "") << "idle, and clocks that were set";
  EXPECT_EQ(ThrottleText({{0, 96}, {4, 4}}), "") << "now and then";
  EXPECT_EQ(ThrottleText({{0, 50}, {0x20, 30}, {0x44, 20}}),
            "its clocks were lowered in 50.0 % of the samples (heat 50.0 %, power cap 20.0 %)");
}

TEST(DeviceFindings, ANearlyFullGpuIsARiskAndStopsNothing) {
  TraceBuilder rank(0, 1, 1000);
  for (int64_t i = 0; i < 30; ++i) {
    GpuStep step{rank, i * 10'000, i * 10};
    rank.Step(i, step.t, step.t + 10'000).Op("aten::mm", step.t, step.t + 10);
    Clean(step);
    rank.Memory(step.t + 1, 0, 1 << 20);
  }
  RunFolder run;
  run.Add(rank);
  run.Execute(
      "rank-00000.sqlite",
      "INSERT OR REPLACE INTO device (id, name, memory_bytes) VALUES (0, 'GPU', 1100000);"
      "UPDATE memory_event SET device_type = 'cuda', device_id = 0, reserved_bytes = 1048576");
  EXPECT_EQ(Derived(run).Query("SELECT kind, cost_ns, share FROM finding"), "near_oom|0|0");
}

}  // namespace
}  // namespace tutti::analyzer
