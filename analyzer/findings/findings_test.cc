// Faults with a known answer: the right finding, rank and cost; and none without a fault.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analyzer/testing/derived.h"

namespace tutti::analyzer {
namespace {

using testing::Derived;
using testing::kLoaderTid;
using testing::RunFolder;
using testing::TraceBuilder;

constexpr int64_t kSteps = 40;

// A data-parallel training of two ranks in microseconds: input, forward, backward with a
// bucket on the way and one at its end, optimizer; 1 to 2 % of noise. Faults by rank.
struct Job {
  std::mt19937 random{53};
  int64_t input[2] = {10, 10};
  int64_t extra_compute[2] = {0, 0};
  bool after_backward = false;

  int64_t Noise() { return static_cast<int64_t>(random() % 60); }

  void Build(RunFolder& run) {
    TraceBuilder ranks[2] = {TraceBuilder(0, 2, 1000), TraceBuilder(1, 2, 1000)};
    int64_t begin[2] = {0, 0};
    for (int64_t step = 0; step < kSteps; ++step) {
      int64_t first[2];
      int64_t last[2];
      for (size_t r = 0; r < 2; ++r) {
        int64_t t = begin[r];
        ranks[r].DataWait(t, t + input[r], input[r] > 100 ? 0 : 3);
        t += input[r];
        const int64_t forward_end = t + 1500 + extra_compute[r] + Noise();
        ranks[r].Op("aten::addmm", t, forward_end).Batch(t, 64);
        // Two gradients; the first bucket is ready half-way.
        const int64_t half = forward_end + 1000;
        const int64_t end = half + 1000;
        ranks[r].Backward("AddmmBackward0", forward_end, half - 10);
        ranks[r].Backward("torch::autograd::AccumulateGrad", half - 10, half);
        ranks[r].Backward("AddmmBackward0", half, end - 10);
        ranks[r].Backward("torch::autograd::AccumulateGrad", end - 10, end);
        first[r] = after_backward ? end + 5 : half - 5;
        last[r] = after_backward ? end + 10 : end - 5;
      }
      const int64_t first_done = std::max(first[0], first[1]) + 5 + 400;
      const int64_t last_done = std::max({last[0] + 5, last[1] + 5, first_done}) + 300;
      for (size_t r = 0; r < 2; ++r) {
        ranks[r].AllReduce(2 * step, first[r], first[r] + 5, first_done, 100'000);
        ranks[r].AllReduce(2 * step + 1, last[r], std::max(last[r] + 5, first_done), last_done,
                           60'000);
        ranks[r].Op("aten::add_", last_done, last_done + 200);
        ranks[r].Step(step, begin[r], last_done + 210);
        begin[r] = last_done + 210;
      }
    }
    run.Add(ranks[0]).Add(ranks[1]);
  }
};

TEST(Findings, NoneInACleanRun) {
  RunFolder run;
  Job().Build(run);
  EXPECT_EQ(Derived(run).Query("SELECT kind, title FROM finding"), "");
}

TEST(Findings, ASlowLoaderOnOneRankIsItsInputWait) {
  RunFolder run;
  Job job;
  job.input[1] = 1500;
  job.Build(run);
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT kind, cost_ns, cause, confidence FROM finding"),
            "input_wait|1500000|input_wait|high");
  EXPECT_EQ(derived.Query("SELECT rank FROM finding_rank"), "1");
  EXPECT_NE(derived.Query("SELECT title FROM finding").find("its queue was empty"),
            std::string::npos);
}

TEST(Findings, ASlowLoaderOnAllRanksNamesThemAll) {
  RunFolder run;
  Job job;
  job.input[0] = 1500;
  job.input[1] = 1500;
  job.Build(run);
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT kind, cost_ns FROM finding"), "input_wait|1500000");
  EXPECT_EQ(derived.Query("SELECT count(*) FROM finding_rank"), "2");
}

TEST(Findings, ExtraComputeOnOneRankIsAStraggler) {
  RunFolder run;
  Job job;
  job.extra_compute[0] = 800;
  job.Build(run);
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT kind, cause, confidence FROM finding"), "straggler|compute|high");
  EXPECT_EQ(derived.Query("SELECT rank FROM finding_rank"), "0");
  EXPECT_EQ(derived.Query("SELECT cost_ns BETWEEN 720000 AND 880000 FROM finding"), "1")
      << derived.Query("SELECT cost_ns FROM finding");
}

TEST(Findings, CommunicationOnlyAfterBackwardCouldHaveBeenHidden) {
  RunFolder run;
  Job job;
  job.after_backward = true;
  job.Build(run);
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT kind, confidence FROM finding"), "comm_after_backward|high");
  // 700 of transfer are exposed, 1,000 of compute follow the first gradient.
  EXPECT_EQ(derived.Query("SELECT cost_ns BETWEEN 650000 AND 750000 FROM finding"), "1");
  EXPECT_EQ(derived.Query("SELECT DISTINCT calls, calls_after, bytes_after FROM step_backward"),
            "2|2|160000");
}

// Epochs of ten steps; each first batch takes 60 ms, a step else 3.
TEST(Findings, StallsAtTheStartOfEpochsAreFoundThoughTheMedianStepDoesNotWait) {
  TraceBuilder rank(0, 1, 1000);
  int64_t t = 0;
  for (int64_t step = 0; step < 40; ++step) {
    const int64_t wait = step % 10 == 0 ? 60'000 : 20;
    rank.Step(step, t, t + wait + 3000).DataWait(t, t + wait, 0);
    rank.Op("aten::mm", t + wait, t + wait + 3000);
    t += wait + 3000;
  }
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT kind, cause, steps_seen FROM finding"),
            "input_wait|input_stall|3");
  // Three stalls of 60 ms in the 39 steps that count.
  EXPECT_EQ(derived.Query("SELECT cost_ns BETWEEN 4500000 AND 4700000 FROM finding"), "1")
      << derived.Query("SELECT cost_ns FROM finding");
  EXPECT_NE(derived.Query("SELECT advice FROM finding").find("persistent_workers"),
            std::string::npos);
}

TEST(Findings, OneHiccupOfALoaderIsNone) {
  TraceBuilder rank(0, 1, 1000);
  int64_t t = 0;
  for (int64_t step = 0; step < 40; ++step) {
    const int64_t wait = step == 20 ? 60'000 : 20;
    rank.Step(step, t, t + wait + 3000).DataWait(t, t + wait, 0);
    rank.Op("aten::mm", t + wait, t + wait + 3000);
    t += wait + 3000;
  }
  RunFolder run;
  EXPECT_EQ(Derived(run.Add(rank)).Query("SELECT kind FROM finding"), "");
}

// Ranks 0, 1 and 3 are in collective 5 for 30 s; rank 2 waits for data.
TEST(Findings, AHangNamesTheRankThatNeverEnteredAndWhatItDid) {
  RunFolder run;
  for (int64_t rank = 0; rank < 4; ++rank) {
    TraceBuilder trace(rank, 4, 1'000'000);
    for (int64_t step = 0; step < 5; ++step) {
      const int64_t t = step * 10;
      trace.Step(step, t, t + 10).Op("aten::mm", t, t + 8).AllReduce(step, t + 8, t + 8, t + 9, 64);
    }
    trace.Step(5, 50, {});
    if (rank == 2) {
      trace.DataWait(51, {}, 0).Op("aten::item", 50, 51);
    } else {
      trace.Op("aten::mm", 50, 55).AllReduce(5, 55, 55, {}, 64);
    }
    trace.Ended(30'055, 137);
    run.Add(trace);
  }
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT kind, cost_ns, confidence, first_step FROM finding"),
            "hang||high|5");
  EXPECT_EQ(derived.Query("SELECT rank FROM finding_rank"), "2");
  EXPECT_EQ(derived.Query("SELECT title FROM finding"),
            "rank 2 never entered all_reduce #5 of gloo group default_pg; ranks 0, 1 and 3 waited "
            "for it 30.0 s; rank 2 was waiting for data from train; it exited with 137");
  EXPECT_EQ(derived.Query("SELECT state, ranks_seen, ranks_expected FROM collective"
                          " WHERE sequence = 5"),
            "hung|3|4");
}

// Both ranks end 2.2 s later, when the backend's timeout is over: the only step there is
// lasts as long as the hang and says nothing about what is usual.
TEST(Findings, AHangInTheFirstStepIsFound) {
  RunFolder run;
  for (int64_t rank = 0; rank < 2; ++rank) {
    TraceBuilder trace(rank, 2, 1'000'000);
    trace.Step(0, 0, 2'200).Op("aten::mm", 0, 9).AllReduce(0, 9, 9, 10, 64);
    if (rank == 0) trace.AllReduce(1, 12, 12, {}, 64);
    trace.Ended(2'200, 1);
    run.Add(trace);
  }
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT kind, cause, first_step FROM finding"), "hang|all_reduce|0");
  EXPECT_EQ(derived.Query("SELECT rank FROM finding_rank"), "1");
}

// All enter a barrier whose end is missing: they end well, or the trace has holes.
TEST(Findings, ACollectiveWhoseEndIsOnlyNotInTheTraceIsNoHang) {
  for (const bool ends_well : {true, false}) {
    RunFolder run;
    for (int64_t rank = 0; rank < 2; ++rank) {
      TraceBuilder trace(rank, 2, 1'000'000);
      trace.Step(0, 0, 2'200).Op("aten::mm", 0, 9).Collective("barrier", 0, 12, 12, {}, {});
      trace.Ended(2'200, ends_well ? 0 : 137);
      if (!ends_well) trace.Lost(5, 100, 200);
      run.Add(trace);
    }
    const Derived derived(run);
    EXPECT_EQ(derived.Query("SELECT state FROM collective"), "open");
    EXPECT_EQ(derived.Query("SELECT kind FROM finding WHERE kind = 'hang'"), "");
  }
}

TEST(Findings, AJobThatIsKilledInTheMiddleOfACollectiveDidNotHang) {
  RunFolder run;
  for (int64_t rank = 0; rank < 2; ++rank) {
    TraceBuilder trace(rank, 2, 1'000'000);
    for (int64_t step = 0; step < 5; ++step) {
      const int64_t t = step * 10;
      trace.Step(step, t, t + 10).Op("aten::mm", t, t + 8).AllReduce(step, t + 8, t + 8, t + 9, 64);
    }
    trace.Step(5, 50, {}).Op("aten::mm", 50, 55);
    if (rank == 0) trace.AllReduce(5, 55, 55, {}, 64);
    trace.Ended(57, 137);
    run.Add(trace);
  }
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT state FROM collective WHERE sequence = 5"), "hung");
  EXPECT_EQ(derived.Query("SELECT kind FROM finding"), "");
}

TEST(Findings, TheFirstMismatchIsTheCause) {
  RunFolder run;
  for (int64_t rank = 0; rank < 4; ++rank) {
    TraceBuilder trace(rank, 4, 1000);
    trace.Step(0, 0, 100).AllReduce(10, 1, 1, 5, 2048);
    trace.AllReduce(11, 11, 11, 15, rank == 3 ? 1024 : 2048);
    trace.Collective(rank == 1 ? "broadcast" : "all_gather", 12, 21, 21, 25, 64);
    run.Add(trace);
  }
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT kind, steps_seen FROM finding"), "collective_mismatch|2");
  EXPECT_EQ(derived.Query("SELECT rank FROM finding_rank"), "3");
  EXPECT_EQ(derived.Query("SELECT title FROM finding"),
            "ranks disagree on the size of all_reduce #11 of gloo group default_pg: rank 3 issued "
            "all_reduce "
            "float32 1024 bytes; ranks 0, 1 and 2 issued all_reduce float32 2048 bytes");
  EXPECT_EQ(derived.Query("SELECT cause FROM finding"), "size");
}

TEST(Findings, AdviceHasAValueWhereTheTraceTellsIt) {
  TraceBuilder rank(0, 1, 1'000'000);
  for (int64_t step = 0; step < 20; ++step) {
    const int64_t t = step * 20;
    rank.Step(step, t, t + 20).DataWait(t, t + 11, 0).Op("aten::mm", t + 11, t + 20);
    rank.Phase("data", t, t + 20, kLoaderTid);
    rank.Op("aten::stack", t, t + 20, kLoaderTid);
  }
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT advice FROM finding"),
            "num_workers 1 -> 3: a batch takes 20.0 ms to load, a step without the wait 9.00 ms; "
            "also prefetch_factor, persistent_workers, a faster or cached data set");
}

// PyTorch's iterator classes: one has workers, the other has not; of a loader of the user's
// it is unknown.
TEST(Findings, AdviceOnWorkersKnowsWhetherThereAreAny) {
  const auto advice = [](const std::string& loader) {
    TraceBuilder rank(0, 1, 1000);
    for (int64_t step = 0; step < 20; ++step) {
      const int64_t t = step * 20'000;
      rank.Step(step, t, t + 20'000).DataWait(t, t + 11'000, {}, testing::kMainTid, loader);
      rank.Op("aten::mm", t + 11'000, t + 20'000);
    }
    RunFolder run;
    const std::string text = Derived(run.Add(rank)).Query("SELECT advice FROM finding");
    return text.substr(0, text.find(';'));
  };
  EXPECT_EQ(advice("_SingleProcessDataLoaderIter"),
            "num_workers 0 -> 3, so that workers load during the step");
  EXPECT_EQ(advice("_MultiProcessingDataLoaderIter"),
            "num_workers: up to 3 times as many, as the workers do not keep up with the steps");
  EXPECT_EQ(advice("train"), "num_workers 0 -> 3, so that workers load during the step");
}

}  // namespace
}  // namespace tutti::analyzer
