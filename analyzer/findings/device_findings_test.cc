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

std::string Find(Fault fault, const char* columns = "kind") {
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
  return Derived(run.Add(rank)).Query(std::string("SELECT ") + columns + " FROM finding");
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
  EXPECT_EQ(Find(sync, "kind, title LIKE '%cudaStreamSynchronize, 1 times a step'"),
            "sync_points|1");
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
  EXPECT_EQ(Find([](GpuStep& step) { CopyThenKernel(step, "pinned", 20, 1024); }), "copy_storm");
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
