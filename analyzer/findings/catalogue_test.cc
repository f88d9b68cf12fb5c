// Findings of the catalogue, each in a run in which its cost can be worked out by hand.
#include <gtest/gtest.h>

#include "analyzer/testing/derived.h"

namespace tutti::analyzer {
namespace {

using testing::Derived;
using testing::RunFolder;
using testing::TraceBuilder;

constexpr int64_t kSteps = 40;
constexpr int64_t kStepUs = 10'000;

// Steps of 10 ms on one rank, of which it computes for nine; in microseconds.
void AddStep(TraceBuilder& rank, int64_t step, int64_t begin, int64_t length = kStepUs) {
  rank.Step(step, begin, begin + length).Op("aten::mm", begin, begin + length - 1000);
}

TraceBuilder PlainRank(int64_t number, int64_t world) {
  TraceBuilder rank(number, world, 1000);
  for (int64_t step = 0; step < kSteps; ++step) AddStep(rank, step, step * kStepUs);
  return rank;
}

// One of two ranks; rank 1 computes 2 ms longer, for which rank 0 waits.
TraceBuilder RankOfTwo(int64_t number) {
  TraceBuilder rank(number, 2, 1000);
  const int64_t compute = number == 1 ? 9000 : 7000;
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t t = step * kStepUs;
    rank.Step(step, t, t + kStepUs).Op("aten::mm", t, t + compute);
    rank.AllReduce(step, t + compute, t + compute, t + 9500, 64);
  }
  return rank;
}

// 8 MiB that are taken and given back in each step.
void AddFreshMemory(TraceBuilder& rank) {
  for (int64_t step = 0; step < kSteps; ++step) {
    rank.Memory(step * kStepUs + 10, 8 << 20, 8 << 20);
    rank.Memory(step * kStepUs + 5000, -(8 << 20), 0);
  }
}

// A counter that rises by `per_step` in every step, read at the begin of each and at the end.
void Count(RunFolder& run, int64_t rank, const std::string& name, int64_t per_step) {
  const std::string file = "rank-0000" + std::to_string(rank) + ".sqlite";
  run.Execute(file, "INSERT INTO counter SELECT coalesce(max(id), 0) + 1, '" + name +
                        "', 'ns', 'cumulative', '', NULL FROM counter");
  run.Execute(file,
              "INSERT INTO counter_sample SELECT (SELECT max(id) FROM counter), begin_ns, "
              "number * " +
                  std::to_string(per_step) + " FROM step");
  run.Execute(file,
              "INSERT INTO counter_sample SELECT (SELECT max(id) FROM counter), max(end_ns), "
              "count(*) * " +
                  std::to_string(per_step) + " FROM step");
}

// Of 10 ms the training thread of rank 1 waits 4 for a core; rank 0 uses most of the cores.
TEST(Catalogue, ARankThatWaitsForACoreIsContended) {
  RunFolder run;
  run.Add(PlainRank(0, 2)).Add(PlainRank(1, 2));
  Count(run, 0, "process.main_run_delay", 1'000'000);
  Count(run, 1, "process.main_run_delay", 4'000'000);
  Count(run, 0, "process.cpu_user", 30'000'000);
  Count(run, 1, "process.cpu_user", 6'000'000);
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT kind, cost_ns, confidence FROM finding"),
            "cpu_contention|4000000|high");
  EXPECT_EQ(derived.Query("SELECT title FROM finding"),
            "the training thread waits 4.00 ms per step for a core; rank 0 uses 3.0 cores");
  EXPECT_EQ(derived.Query("SELECT rank FROM finding_rank"), "0");
}

TEST(Catalogue, RanksThatUseLittleAreContendedByOthers) {
  RunFolder run;
  run.Add(PlainRank(0, 2)).Add(PlainRank(1, 2));
  Count(run, 1, "process.main_run_delay", 4'000'000);
  Count(run, 1, "process.cpu_user", 6'000'000);
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT kind, cause, cost_ns FROM finding"),
            "cpu_contention|busy_machine|4000000");
  EXPECT_EQ(derived.Query("SELECT count(*) FROM finding_rank"), "2");
}

// 4,000,000.6 ns in each step: none is as long as the mean once that is rounded.
TEST(Catalogue, ACostThatIsRoundedUpHasItsEvidence) {
  RunFolder run;
  run.Add(PlainRank(0, 1));
  const std::string file = "rank-00000.sqlite";
  run.Execute(file,
              "INSERT INTO counter VALUES (1, 'process.main_run_delay', 'ns', 'cumulative', '',"
              " NULL)");
  run.Execute(file, "INSERT INTO counter_sample SELECT 1, min(begin_ns), 0 FROM step");
  run.Execute(file, "INSERT INTO counter_sample SELECT 1, max(end_ns), 160000024 FROM step");
  EXPECT_EQ(Derived(run).Query(
                "SELECT kind, cost_ns, (SELECT count(*) FROM finding_evidence) FROM finding"),
            "cpu_contention|4000001|5");
}

TEST(Catalogue, WaitingForACoreNowAndThenIsOrdinary) {
  RunFolder run;
  run.Add(PlainRank(0, 1));
  Count(run, 0, "process.main_run_delay", 1'900'000);
  EXPECT_EQ(Derived(run).Query("SELECT kind FROM finding"), "");
}

// 8 MiB a step, whose 2,048 pages are new each time. The kernel takes 3 ms of a step for it; or 9
// ms, of which no more than 2 µs a page are for that. 900 new pages are less than half of them.
TEST(Catalogue, LargeBlocksThatAreNewInEveryStep) {
  struct Case {
    int64_t pages, kernel_ns;
    const char* said;
  };
  for (const Case& one :
       {Case{2048, 3'000'000, "host_alloc_churn|3000000"},
        Case{2048, 9'000'000, "host_alloc_churn|4096000"},
        Case{5000, 9'000'000, "host_alloc_churn|4096000"}, Case{900, 3'000'000, ""}}) {
    TraceBuilder rank = PlainRank(0, 1);
    AddFreshMemory(rank);
    RunFolder run;
    run.Add(rank);
    Count(run, 0, "process.minor_faults", one.pages);
    Count(run, 0, "process.cpu_system", one.kernel_ns);
    EXPECT_EQ(Derived(run).Query("SELECT kind, cost_ns FROM finding"), one.said);
  }
}

// Six hundred operators of 2 µs, one every 5 µs: 3 ms of a step of 13.
TEST(Catalogue, OperatorsThatAreShorterThanTheirCall) {
  for (const int64_t count : {600, 400}) {
    TraceBuilder rank(0, 1, 1000);
    for (int64_t step = 0; step < kSteps; ++step) {
      const int64_t begin = step * 13'000;
      for (int64_t i = 0; i < count; ++i) {
        rank.Op("aten::add", begin + 5 * i, begin + 5 * i + 2);
      }
      rank.Op("aten::mm", begin + 5 * count, begin + 13'000).Step(step, begin, begin + 13'000);
      rank.Backward("MmBackward0", begin + 12'000, begin + 12'500);
    }
    RunFolder run;
    const Derived derived(run.Add(rank));
    EXPECT_EQ(derived.Query("SELECT kind, cost_ns FROM finding"),
              count == 400 ? "" : "tiny_operators|3000000");
    if (count == 400) continue;
    EXPECT_EQ(derived.Query("SELECT title FROM finding"),
              "600 operators a step of less than 10 µs, most of them aten::add, take 3.00 ms");
  }
}

// One of six hundred operators of 2 µs lasts 1 ms more: it was interrupted, and the loop takes 4
// ms. If one in ten is longer, long ones are such and no concern.
TEST(Catalogue, OperatorsThatAreShorterButInterrupted) {
  for (const int64_t long_ones : {1, 60}) {
    TraceBuilder rank(0, 1, 1000);
    for (int64_t step = 0; step < kSteps; ++step) {
      const int64_t begin = step * 80'000;
      int64_t t = begin;
      for (int64_t i = 0; i < 600; ++i) {
        const int64_t extra = i % (600 / long_ones) == 300 % (600 / long_ones) ? 1000 : 0;
        rank.Op("aten::add", t, t + 2 + extra);
        t += 5 + extra;
      }
      rank.Op("aten::mm", t, begin + 80'000).Step(step, begin, begin + 80'000);
      rank.Backward("MmBackward0", begin + 79'000, begin + 79'500);
    }
    RunFolder run;
    EXPECT_EQ(Derived(run.Add(rank)).Query("SELECT kind, cost_ns FROM finding"),
              long_ones == 1 ? "tiny_operators|4000000" : "");
  }
}

// One batch of four is twice as large and takes twice as long: 2.5 ms a step on average. Sizes that
// are not known, or that cost nothing, are no finding; one long step is no matter.
TEST(Catalogue, BatchesThatChangeTheirSize) {
  for (const auto& [told, costs] : {std::pair(true, true), {false, true}, {true, false}}) {
    TraceBuilder rank(0, 1, 1000);
    int64_t t = 0;
    for (int64_t step = 0; step < kSteps; ++step) {
      const int64_t factor = step % 4 == 1 ? 2 : 1;
      const int64_t length = (costs ? factor : 1) * kStepUs + (step == 20 ? 100'000 : 0);
      AddStep(rank, step, t, length);
      rank.Batch(t, told ? 64 * factor : 64);
      t += length;
    }
    RunFolder run;
    const Derived derived(run.Add(rank));
    EXPECT_EQ(derived.Query("SELECT count(*) FROM finding WHERE kind = 'shape_churn'"),
              told && costs ? "1" : "0");
    if (!told || !costs) continue;
    EXPECT_EQ(derived.Query("SELECT cost_ns BETWEEN 2300000 AND 2700000 FROM finding"
                            " WHERE kind = 'shape_churn'"),
              "1")
        << derived.Query("SELECT cost_ns FROM finding");
  }
}

// Five steps of 3 s before sixty of 10 ms: 15 s, 230 ms a step. Five of 30 ms are no matter.
TEST(Catalogue, AWarmUpThatTakesLong) {
  for (const int64_t first_us : {3'000'000, 30'000}) {
    TraceBuilder rank(0, 1, 1000);
    int64_t t = 0;
    for (int64_t step = 0; step < 65; ++step) {
      const int64_t length = step < 5 ? first_us : kStepUs;
      AddStep(rank, step, t, length);
      t += length;
    }
    RunFolder run;
    const Derived derived(run.Add(rank));
    EXPECT_EQ(derived.Query("SELECT kind, cost_ns / 1000000 FROM finding"),
              first_us == 30'000 ? "" : "warm_up|230");
  }
}

// A pause of 50 ms in every eighth step is told once, as pauses of both ranks: not again as
// host-bound steps.
TEST(Catalogue, PausesAreChargedOnce) {
  RunFolder run;
  for (int64_t number : {0, 1}) {
    TraceBuilder rank(number, 2, 1000);
    int64_t t = 0;
    for (int64_t step = 0; step < kSteps; ++step) {
      const int64_t pause = step % 8 == 7 ? 50'000 : 0;
      rank.Step(step, t, t + kStepUs + pause).Op("aten::mm", t, t + kStepUs - 500);
      t += kStepUs + pause;
    }
    run.Add(rank);
  }
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT kind, steps_seen FROM finding"), "pauses|5");
  EXPECT_EQ(derived.Query("SELECT count(*) FROM finding_rank"), "2");
  EXPECT_EQ(derived.Query("SELECT cost_ns BETWEEN 6200000 AND 6800000 FROM finding"), "1");
}

// The same steps, but in them the training thread is ready to run and waits for 45 ms of the 50.
TEST(Catalogue, WaitingForACoreIsNoPauseOfTheProgram) {
  for (const int64_t delay_ns : {45'000'000, 5'000'000}) {
    TraceBuilder rank(0, 1, 1000);
    int64_t t = 0;
    for (int64_t step = 0; step < kSteps; ++step) {
      const int64_t pause = step % 8 == 7 ? 50'000 : 0;
      rank.Step(step, t, t + kStepUs + pause).Op("aten::mm", t, t + kStepUs - 500);
      t += kStepUs + pause;
    }
    RunFolder run;
    run.Add(rank);
    run.Execute("rank-00000.sqlite",
                "INSERT INTO counter VALUES (1, 'process.main_run_delay', 'ns', 'cumulative', '',"
                " NULL)");
    run.Execute("rank-00000.sqlite", "INSERT INTO counter_sample SELECT 1, begin_ns, " +
                                         std::to_string(delay_ns) + " * (number / 8) FROM step");
    run.Execute("rank-00000.sqlite", "INSERT INTO counter_sample SELECT 1, max(end_ns), " +
                                         std::to_string(delay_ns) + " * 5 FROM step");
    EXPECT_EQ(Derived(run).Query("SELECT count(*) FROM finding WHERE kind = 'pauses'"),
              delay_ns == 5'000'000 ? "1" : "0");
  }
}

// Four checkpoints of 30 ms in 40 steps.
TEST(Catalogue, StepsThatWriteACheckpoint) {
  TraceBuilder rank(0, 1, 1000);
  int64_t t = 0;
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t writing = step % 10 == 4 ? 30'000 : 0;
    rank.Step(step, t, t + kStepUs + writing).Op("aten::mm", t, t + kStepUs - 500);
    if (writing > 0) rank.Phase("checkpoint", t + kStepUs - 100, t + kStepUs + writing - 100);
    t += kStepUs + writing;
  }
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT kind, steps_seen FROM finding"), "checkpoints|4");
  EXPECT_EQ(derived.Query("SELECT cost_ns BETWEEN 2900000 AND 3200000 FROM finding"), "1")
      << derived.Query("SELECT cost_ns FROM finding");
}

// Half of 128 MiB lies unused between what is in use; a free segment is no fragment.
TEST(Catalogue, MemoryThatIsFreeInPartsOnly) {
  for (const int64_t unused_mib : {64, 16}) {
    RunFolder run;
    run.Add(PlainRank(0, 1));
    const std::string file = "rank-00000.sqlite";
    run.Execute(file,
                "INSERT INTO memory_segment (id, device_id, address, bytes)"
                " VALUES (1, 0, 4096, 134217728), (2, 0, 999999999, 134217728)");
    run.Execute(file,
                "INSERT INTO memory_block (id, segment_id, address, bytes, state) VALUES"
                " (1, 1, 4096, " +
                    std::to_string((128 - unused_mib) << 20) +
                    ", 'active_allocated'), (2, 1, 90000000, " + std::to_string(unused_mib << 20) +
                    ", 'inactive'),"
                    " (3, 2, 999999999, 134217728, 'inactive')");
    EXPECT_EQ(Derived(run).Query("SELECT kind, cost_ns, title FROM finding"),
              unused_mib == 16 ? ""
                               : "fragmentation|0|rank 0: 64 MiB of 256 MiB that the allocator "
                                 "holds lie unused in 1 parts, the largest 128 MiB");
  }
}

// A step of two ranks: 6 ms of compute, half of it backward, then an all-reduce of 4 ms that is
// enqueued when the last gradient is there, inside of backward.
void AddSingleBucket(TraceBuilder& rank, int64_t step, int64_t bytes) {
  const int64_t t = step * 11'000;
  rank.Op("aten::mm", t, t + 3000);
  rank.Backward("MmBackward0", t + 3000, t + 3990);
  rank.Backward("torch::autograd::AccumulateGrad", t + 3990, t + 4000);
  rank.Backward("MmBackward0", t + 4000, t + 6000);
  rank.Backward("torch::autograd::AccumulateGrad", t + 6000, t + 6100);
  rank.AllReduce(step, t + 6050, t + 6060, t + 10'100, bytes);
  rank.Op("aten::add_", t + 10'100, t + 10'900).Step(step, t, t + 11'000);
}

TEST(Catalogue, AllGradientsInOneBucket) {
  for (const int64_t bytes : {16 << 20, 1 << 20}) {
    RunFolder run;
    for (int64_t number : {0, 1}) {
      TraceBuilder rank(number, 2, 1000);
      for (int64_t step = 0; step < kSteps; ++step) AddSingleBucket(rank, step, bytes);
      run.Add(rank);
    }
    const Derived derived(run);
    // From the first gradient on there are 2.1 ms of compute; 4 ms of transfer are exposed.
    EXPECT_EQ(derived.Query("SELECT kind, cost_ns FROM finding WHERE kind <> 'exposed_comm'"),
              bytes == 1 << 20 ? "" : "single_bucket|2100000");
  }
}

// Two ranks of a pipeline: the first computes 3 of 10 ms, the second 5.
TEST(Catalogue, PipelineStagesThatStandIdle) {
  RunFolder run;
  for (int64_t number : {0, 1}) {
    TraceBuilder rank(number, 2, 1000);
    rank.Communicator(1, "pp", {0, 1});
    for (int64_t step = 0; step < kSteps; ++step) {
      const int64_t t = step * kStepUs;
      const bool is_first = number == 0;
      rank.Op("aten::mm", is_first ? t : t + 3500, is_first ? t + 3000 : t + 8500);
      // Whoever receives asks for it when there is nothing else to do.
      const int64_t first = is_first ? t + 3000 : t;
      const int64_t second = is_first ? t + 3400 : t + 8500;
      rank.Collective(is_first ? "send" : "recv", 2 * step, first, first, t + 3400, 1000);
      rank.Collective(is_first ? "recv" : "send", 2 * step + 1, second, second, t + 8900, 1000);
      rank.Step(step, t, t + kStepUs);
    }
    run.Add(rank);
  }
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT kind FROM finding ORDER BY id LIMIT 1"), "pipeline_bubble");
  // Without compute and transfer: 10 - 3 - 0.8 and 10 - 5 - 0.8 ms; their lower median.
  EXPECT_EQ(derived.Query("SELECT cost_ns FROM finding WHERE kind = 'pipeline_bubble'"), "4200000");
  EXPECT_EQ(derived.Query("SELECT title LIKE '%stage 1 computes longest, 5.00 ms'"
                          " FROM finding WHERE kind = 'pipeline_bubble'"),
            "1");
  // As long as the other stage, and it would be 2 ms less in the part of the step that it sets the
  // pace of: 5 ms, and 3 of the other stage's to fill a pipeline of one micro-batch. In the other 2
  // of 10 it waits, too.
  EXPECT_EQ(derived.Query("SELECT cost_ns, rank, cause FROM finding AS f JOIN finding_rank AS r"
                          " ON r.finding_id = f.id WHERE kind = 'pipeline_imbalance'"),
            "1600000|1|compute");
}

// All-to-alls of 3 ms in which rank 1 has `bytes` to send, rank 0 1 MiB.
TEST(Catalogue, AllToAllsOfWhichOneRankHasMost) {
  for (const int64_t bytes : {3 << 20, 9 << 17}) {  // 1.5 and 1.06 times the mean
    RunFolder run;
    for (int64_t number : {0, 1}) {
      TraceBuilder rank(number, 2, 1000);
      rank.Communicator(1, "ep", {0, 1});
      for (int64_t step = 0; step < kSteps; ++step) {
        const int64_t t = step * kStepUs;
        rank.Op("aten::mm", t, t + 6900).Step(step, t, t + kStepUs);
        rank.Collective("all_to_all", step, t + 6900, t + 6900, t + 9900,
                        number == 1 ? bytes : 1 << 20);
      }
      run.Add(rank);
    }
    const Derived derived(run);
    // 3 ms * (1 - 2 / 3).
    EXPECT_EQ(derived.Query("SELECT cost_ns, rank FROM finding AS f JOIN finding_rank AS r"
                            " ON r.finding_id = f.id WHERE kind = 'skewed_experts'"),
              bytes == 3 << 20 ? "1000000|1" : "");
  }
}

// Kernels of 5 ms, then 2 MiB over Gloo for 4 ms.
TEST(Catalogue, GpusThatCommunicateOverGloo) {
  RunFolder run;
  for (int64_t number : {0, 1}) {
    TraceBuilder rank(number, 2, 1000);
    for (int64_t step = 0; step < kSteps; ++step) {
      const int64_t t = step * kStepUs;
      rank.Api("cudaLaunchKernel", t, t + 5, step + 1);
      rank.Kernel("ampere_fp16_s16816gemm_fp16_128x64_tn", 7, t + 6, t + 5006, step + 1);
      rank.AllReduce(step, t + 5010, t + 5010, t + 9010, 2 << 20);
      rank.Step(step, t, t + kStepUs);
    }
    run.Add(rank);
  }
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT kind, cost_ns FROM finding WHERE kind = 'gloo_on_gpu'"),
            "gloo_on_gpu|4000000");
  EXPECT_EQ(derived.Query("SELECT count(*) FROM finding WHERE kind = 'exposed_comm'"), "0");
}

// One process, two GPUs of 5 ms each, and 3 ms of copies between them.
TEST(Catalogue, OneProcessThatDrivesTwoGpus) {
  TraceBuilder rank(0, 1, 1000);
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t t = step * kStepUs;
    for (int64_t device : {0, 1}) {
      const int64_t id = 3 * step + device + 1;
      rank.Api("cudaLaunchKernel", t + device, t + device + 1, id);
      rank.Kernel("ampere_fp16_s16816gemm_fp16_128x64_tn", 7, t + 6, t + 5006, id);
    }
    rank.Memcpy("PtoP", 8, t + 5006, t + 8006, 1 << 20);
    rank.Step(step, t, t + kStepUs);
  }
  RunFolder run;
  run.Add(rank);
  run.Execute("rank-00000.sqlite", "UPDATE kernel SET device_id = 1 WHERE correlation_id % 3 = 2");
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT kind, cost_ns FROM finding WHERE kind = 'data_parallel'"),
            "data_parallel|3000000");
}

// Half of the ranks is no majority: odd is who had not issued the like before.
TEST(Catalogue, OfTwoRanksTheOneThatChangesIsOdd) {
  RunFolder run;
  for (int64_t number : {0, 1}) {
    TraceBuilder rank(number, 2, 1000);
    for (int64_t step = 0; step < 5; ++step) {
      const int64_t t = step * 100;
      const bool is_odd = step == 4 && number == 0;
      rank.Step(step, t, t + 100).AllReduce(step, t + 10, t + 10, t + 20, is_odd ? 512 : 1024);
    }
    run.Add(rank);
  }
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT kind, cause FROM finding"), "collective_mismatch|size");
  EXPECT_EQ(derived.Query("SELECT rank FROM finding_rank"), "0");
}

// Rank 1 has the longer batches: it is named, its peer is not.
TEST(Catalogue, TheRankWithTheLargerBatchesIsNamed) {
  RunFolder run;
  for (int64_t number : {0, 1}) {
    TraceBuilder rank(number, 2, 1000);
    for (int64_t step = 0; step < kSteps; ++step) {
      const int64_t t = step * kStepUs;
      // Alike in both, so that sizes of the rank vary a little with its compute.
      const int64_t compute = (number == 1 ? 9000 : 3000) + 10 * (step % 5);
      rank.Step(step, t, t + kStepUs).Op("aten::mm", t, t + compute);
      rank.Batch(t, number == 1 ? 96 : 32);
      rank.AllReduce(step, t + compute, t + compute, t + 9500, 64);
    }
    run.Add(rank);
  }
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT kind, cost_ns FROM finding"), "data_imbalance|3000000");
  EXPECT_EQ(derived.Query("SELECT rank FROM finding_rank"), "1");
}

// Of backward's 4 ms an operator of 1.5 ms builds a graph: it is part of a forward.
TEST(Catalogue, AForwardThatRunsAgainInBackward) {
  for (const bool builds_graph : {true, false}) {
    TraceBuilder rank(0, 1, 1000);
    for (int64_t step = 0; step < kSteps; ++step) {
      const int64_t t = step * kStepUs;
      rank.Op("aten::mm", t, t + 5000).Op("aten::addmm", t + 6000, t + 7500);
      rank.Backward("MmBackward0", t + 5000, t + 9000).Step(step, t, t + kStepUs);
    }
    RunFolder run;
    run.Add(rank);
    run.Execute("rank-00000.sqlite",
                "UPDATE cpu_op SET sequence_nr = CASE WHEN name_id = (SELECT id FROM string"
                " WHERE text = 'aten::addmm') AND NOT " +
                    std::to_string(builds_graph) + " THEN NULL ELSE id END");
    EXPECT_EQ(Derived(run).Query("SELECT kind, cost_ns FROM finding"),
              builds_graph ? "recompute|1500000" : "");
  }
}

// The same operator between two backward functions: it is of another micro-batch.
TEST(Catalogue, AForwardBetweenBackwardsIsNoneThatRunsAgain) {
  TraceBuilder rank(0, 1, 1000);
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t t = step * kStepUs;
    rank.Op("aten::mm", t, t + 5000).Backward("MmBackward0", t + 5000, t + 6000);
    rank.Op("aten::addmm", t + 6000, t + 7500).Backward("MmBackward0", t + 7500, t + 9000);
    rank.Step(step, t, t + kStepUs);
  }
  RunFolder run;
  run.Add(rank);
  run.Execute("rank-00000.sqlite", "UPDATE cpu_op SET sequence_nr = id");
  EXPECT_EQ(Derived(run).Query("SELECT kind FROM finding"), "");
}

// Rank 1 computes 2 ms longer. If it waits as long for a core, it only got less of the machine.
TEST(Catalogue, WhoWaitsForACoreIsNoStraggler) {
  for (const int64_t delay_ns : {0, 1'900'000}) {
    RunFolder run;
    run.Add(RankOfTwo(0)).Add(RankOfTwo(1));
    Count(run, 1, "process.main_run_delay", delay_ns);
    const Derived derived(run);
    EXPECT_EQ(derived.Query("SELECT kind, cause FROM finding"),
              delay_ns == 0 ? "straggler|compute" : "");
  }
}

// Rank 1 computes 2 ms longer, and takes 8 MiB anew in each step. Only if that costs the kernel as
// much is it why.
TEST(Catalogue, AStragglerIsExplainedByWhatCostsAsMuch) {
  for (const int64_t kernel_ns : {700'000, 2'000'000}) {
    RunFolder run;
    for (int64_t number = 0; number < 2; ++number) {
      TraceBuilder rank = RankOfTwo(number);
      AddFreshMemory(rank);
      run.Add(rank);
    }
    Count(run, 1, "process.minor_faults", 2048);
    Count(run, 1, "process.cpu_system", kernel_ns);
    EXPECT_EQ(Derived(run).Query("SELECT kind, cost_ns FROM finding"),
              kernel_ns == 2'000'000 ? "host_alloc_churn|2000000"
                                     : "straggler|2000000\nhost_alloc_churn|700000");
  }
}

// 0.8 ms of 10 that rank 1 waits for input, while rank 0 computes as much longer.
TEST(Catalogue, ASmallCostThatAReplayDoesNotConfirmIsNone) {
  for (const int64_t wait : {0, 800}) {
    RunFolder run;
    for (int64_t number = 0; number < 2; ++number) {
      const int64_t own = number == 1 ? 800 : wait;
      TraceBuilder rank(number, 2, 1000);
      for (int64_t step = 0; step < kSteps; ++step) {
        const int64_t t = step * kStepUs;
        rank.Step(step, t, t + kStepUs);
        if (own > 0) rank.DataWait(t, t + own, 0);
        rank.Op("aten::mm", t + own, t + 9600);
        rank.AllReduce(step, t + 9600, t + 9600, t + 9900, 64);
      }
      run.Add(rank);
    }
    EXPECT_EQ(Derived(run).Query("SELECT kind, cost_ns FROM finding"),
              wait == 0 ? "" : "input_wait|800000");
  }
}

// Three steps are no steady state: what all of them show is found by the complete ones.
TEST(Catalogue, ARunWithoutASteadyStepHasFindings) {
  TraceBuilder rank(0, 1, 1000);
  for (int64_t step = 0; step < 3; ++step) {
    const int64_t t = step * kStepUs;
    rank.Step(step, t, t + kStepUs).DataWait(t, t + 6000, 0).Op("aten::mm", t + 6000, t + kStepUs);
  }
  RunFolder run;
  run.Add(rank);
  run.Execute("rank-00000.sqlite", "UPDATE step SET end_ns = NULL WHERE number = 2");
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT kind, cause FROM finding"), "input_wait|input_wait");
}

}  // namespace
}  // namespace tutti::analyzer
