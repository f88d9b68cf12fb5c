// Replays of small jobs whose answer can be told by hand.
#include "analyzer/replay/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "analyzer/metrics/names.h"
#include "analyzer/replay/whatif.h"
#include "analyzer/testing/derived.h"

namespace tutti::analyzer {
namespace {

using testing::Derived;
using testing::RunFolder;
using testing::TraceBuilder;

std::unique_ptr<WhatIfModel> Open(const RunFolder& run) {
  Result<Analysis> analysis = Analyze(run.path(), {});
  EXPECT_TRUE(analysis.ok()) << analysis.status().message();
  auto model = WhatIfModel::Open(run.path(), analysis->path, {});
  EXPECT_TRUE(model.ok()) << model.status().message();
  return std::move(*model);
}

int64_t StepNs(const WhatIfModel& model, const std::vector<std::string>& words) {
  const Result<WhatIfAnswer> answer = model.Ask(words);
  EXPECT_TRUE(answer.ok()) << answer.status().message();
  return answer->step_ns;
}

// us      0      100        400   500  600
// rank 0  [wait) [compute===)..........[opt)     all-reduce 100 from the later arrival
// rank 1  [wait) [compute========)     [opt)
// Gloo 0                    [=====|====)
// Gloo 1                         [=====)
struct CpuJob {
  int64_t input[2] = {100, 100};
  int64_t compute[2] = {300, 400};
  int64_t transfer = 100;
  bool in_range = false;  // fully_shard's, around a collective and its wait
  int64_t late_end = 0;   // Gloo's thread of rank 0 notes the end so much later

  int64_t Period() const {
    return std::max(input[0] + compute[0], input[1] + compute[1]) + 2 + transfer + 2 + 100 + 10;
  }
  void Build(RunFolder& run) const {
    for (int64_t rank = 0; rank < 2; ++rank) {
      TraceBuilder trace(rank, 2, 1000);
      for (int64_t step = 0; step < 30; ++step) {
        const int64_t t = step * Period();
        const int64_t ready = input[rank] + compute[rank];
        const int64_t done = Period() - 100 - 10 - 2;
        trace.DataWait(t, t + input[rank], 0).Op("aten::mm", t + input[rank], t + ready);
        trace.AllReduce(step, t + ready, t + ready + 2, t + done + (rank == 0 ? late_end : 0),
                        4096);
        if (in_range) {
          trace.Op("FSDP::all_gather (0)", t + ready, t + done + 2, testing::kMainTid, kScopeUser);
        }
        trace.Op("aten::add_", t + done + 2, t + done + 102);
        trace.Step(step, t, t + Period());
      }
      run.Add(trace);
    }
  }
};

TEST(Replay, UnchangedGivesBackWhatWasMeasured) {
  RunFolder run;
  const CpuJob job;
  job.Build(run);
  const auto model = Open(run);
  EXPECT_EQ(model->measured_ns(), job.Period() * 1000);
  EXPECT_EQ(model->unchanged_ns(), model->measured_ns());
}

TEST(Replay, WithoutACauseItIsTheJobThatNeverHadIt) {
  RunFolder run;
  CpuJob job;
  job.input[1] = 700;
  job.Build(run);
  const auto model = Open(run);
  CpuJob without_input = job;
  without_input.input[0] = without_input.input[1] = 0;
  EXPECT_EQ(StepNs(*model, {"no-input-wait"}), without_input.Period() * 1000);
  CpuJob no_stragglers = job;
  no_stragglers.input[1] = job.input[0];
  no_stragglers.compute[1] = job.compute[0];
  // What exceeds is taken from all compute of a step alike, in the first one at another place.
  EXPECT_LE(std::abs(StepNs(*model, {"rank-at-median=1"}) - no_stragglers.Period() * 1000), 1000);
  EXPECT_EQ(StepNs(*model, {"rank-at-median=0"}), job.Period() * 1000);
  CpuJob fast_link = job;
  fast_link.transfer = 25;
  EXPECT_EQ(StepNs(*model, {"bandwidth=4"}), fast_link.Period() * 1000);
  EXPECT_EQ(StepNs(*model, {"op=aten::add_:2"}), (job.Period() + 100) * 1000);
}

// us      0       400 410        810  820 1000
// main    [backward)[enqueue)......[opt)..
// Gloo                [4 MiB=====)              at 100 us a MiB
TEST(Replay, GradientsInSmallerBucketsAreSentDuringBackward) {
  RunFolder run;
  for (int64_t rank = 0; rank < 2; ++rank) {
    TraceBuilder trace(rank, 2, 1000);
    for (int64_t step = 0; step < 30; ++step) {
      const int64_t t = step * 1000;
      trace.Step(step, t, t + 1000).Backward("MmBackward0", t, t + 400);
      trace.AllReduce(step, t + 400, t + 410, t + 810, 4 << 20);
      trace.Op("aten::add_", t + 820, t + 990);
    }
    run.Add(trace);
  }
  const auto model = Open(run);
  EXPECT_EQ(model->unchanged_ns(), 1'000'000);
  // The first is of 1 MiB and hidden, the other 3 are sent at 400.
  EXPECT_EQ(StepNs(*model, {"bucket-mb=1000"}) / 1000, 900);
  // Ready at 100, 200, 300 and 400 and sent at once: only the last is not hidden.
  EXPECT_EQ(StepNs(*model, {"bucket-mb=1"}) / 1000, 700);
  EXPECT_EQ(StepNs(*model, {"bucket-mb=1", "bandwidth=2"}) / 1000, 650);
}

// us       0        100 150  200         300   390 400 420
// rank 0   [mm==)   [recv====)[relu======)       |  [opt)
//               [send=============================)
// rank 1   [mm==========)    [mm==============)     [opt)
//                       [send)                [recv)
// The first rank's send outlasts its receive, though one thread handed both in.
TEST(Replay, StagesThatSendAndReceiveAtOnceHaveACriticalPath) {
  RunFolder run;
  TraceBuilder first(0, 2, 1000);
  TraceBuilder second(1, 2, 1000);
  for (int64_t step = 0; step < 30; ++step) {
    const int64_t t = step * 420;
    first.Step(step, t, t + 420).Op("aten::mm", t, t + 80).Op("aten::relu", t + 200, t + 300);
    first.Transfer("send", 1, 2 * step, t + 80, t + 400, 4096);
    first.Transfer("recv", 1, 2 * step + 1, t + 100, t + 200, 4096)
        .Op("aten::add_", t + 400, t + 420);
    second.Step(step, t, t + 420).Op("aten::mm", t, t + 150).Op("aten::mm", t + 200, t + 390);
    second.Transfer("send", 0, 2 * step + 1, t + 150, t + 200, 4096);
    second.Transfer("recv", 0, 2 * step, t + 390, t + 400, 4096).Op("aten::add_", t + 400, t + 420);
  }
  run.Add(first).Add(second);
  const auto model = Open(run);
  for (const CriticalPart& part : model->CriticalPath()) EXPECT_NE(part.part, "idle") << part.ns;
  EXPECT_EQ(model->unchanged_ns(), 420'000);
  // 75 + 50 + 95 + 10 + 20 on the second rank; the first has its time left.
  EXPECT_EQ(StepNs(*model, {"op=aten::mm:0.5"}) / 1000, 250);
}

TEST(Replay, WithoutGradientsThereAreNoBuckets) {
  RunFolder run;
  CpuJob().Build(run);
  EXPECT_EQ(Open(run)->Ask({"bucket-mb=25"}).status().code(), StatusCode::kUsage);
}

// us       0        400              900  902   930
// rank 0   [compute==)................... [opt)
// Gloo 0             [===================|=====)     the thread takes the core before Gloo's
// rank 1   [compute===================)  ..[opt)     notes the end
TEST(Replay, AWaitIsOneThoughItsEndIsNotedLate) {
  CpuJob job;
  job.compute[1] = 800;
  job.late_end = 30;
  RunFolder run;
  job.Build(run);
  const auto model = Open(run);
  EXPECT_EQ(model->unchanged_ns(), job.Period() * 1000);
  CpuJob no_straggler = job;
  no_straggler.compute[1] = job.compute[0];
  // 44 us of one step, see above; 500 in each if the wait is taken for host time.
  EXPECT_LE(std::abs(StepNs(*model, {"rank-at-median=1"}) - no_straggler.Period() * 1000), 2000);
}

// us       0        400              900  902
// rank 0   [compute==)[range...........)[opt)      the range hands in and waits
// rank 1   [compute===================)[.)[opt)
TEST(Replay, ARangeThatHandsInAndWaitsIsNoWork) {
  CpuJob job;
  job.compute[1] = 800;
  job.in_range = true;
  RunFolder run;
  job.Build(run);
  const auto model = Open(run);
  EXPECT_EQ(model->unchanged_ns(), job.Period() * 1000);
  CpuJob no_straggler = job;
  no_straggler.compute[1] = job.compute[0];
  EXPECT_LE(std::abs(StepNs(*model, {"rank-at-median=1"}) - no_straggler.Period() * 1000), 2000);
}

TEST(Replay, TheCriticalPathGoesOverTheLateRank) {
  RunFolder run;
  CpuJob job;
  job.input[1] = 700;
  job.Build(run);
  const Derived derived(run);
  // In steps in the middle: the late rank's wait and compute are on it, the other's are not.
  EXPECT_EQ(derived.Query("SELECT rank, part, total_ns FROM critical_path WHERE step = 20"
                          " AND part IN ('input_wait', 'compute') AND total_ns > 100000"),
            "1|compute|500000\n1|input_wait|700000");
  EXPECT_EQ(derived.Query("SELECT count(*) FROM (SELECT sum(p.total_ns) AS path, step_period_ns"
                          " FROM critical_path AS p JOIN run_step USING (step) WHERE step > 0"
                          " GROUP BY step) WHERE path <> step_period_ns"),
            "0");
  EXPECT_EQ(derived.Query("SELECT sum(end_ns - begin_ns) FROM critical_path_piece"),
            std::to_string(job.Period() * 1000));
}

TEST(Replay, SlackIsWhatTheEarlyRankWaits) {
  RunFolder run;
  CpuJob job;
  job.input[1] = 700;
  job.Build(run);
  const auto model = Open(run);
  const std::vector<CriticalPiece> pieces = model->CriticalPieces();
  ASSERT_FALSE(pieces.empty());
  for (size_t i = 1; i < pieces.size(); ++i) ASSERT_EQ(pieces[i].begin_ns, pieces[i - 1].end_ns);
  const std::vector<Slack> slacks = model->Slacks();
  const auto slack_at = [&](int64_t rank, int64_t time_ns) -> int64_t {
    for (const Slack& slack : slacks) {
      if (slack.rank == rank && slack.time_ns == time_ns) return slack.slack_ns;
    }
    return -1;
  };
  // Where compute of step 20 ends: rank 0 is 700 us early, rank 1 is whom all wait for.
  const auto piece = std::find_if(pieces.begin(), pieces.end(), [](const CriticalPiece& candidate) {
    return candidate.step == 20 && candidate.name == "aten::mm" && candidate.part == "compute";
  });
  ASSERT_NE(piece, pieces.end());
  EXPECT_EQ(piece->rank, 1);
  EXPECT_EQ(slack_at(1, piece->end_ns), 0);
  EXPECT_EQ(slack_at(0, piece->end_ns - 700'000), 700'000);
}

// us       0   10  20  30  40  50        60
// launch   [k1)[k2)            [sync====)
// stream    .[k1====)[k2=========)
TEST(Replay, OnAGpuTheHostWaitsForTheDevice) {
  TraceBuilder rank(0, 1, 1000);
  for (int64_t step = 0; step < 30; ++step) {
    const int64_t t = step * 100;
    const int64_t id = step * 10 + 1;
    rank.Step(step, t, t + 100);
    rank.Api("cudaLaunchKernel", t, t + 5, id).Api("cudaLaunchKernel", t + 5, t + 10, id + 1);
    rank.Kernel("gemm_one", 7, t + 8, t + 38, id).Kernel("relu_two", 7, t + 39, t + 79, id + 1);
    rank.Api("cudaStreamSynchronize", t + 20, t + 81, id + 2);
  }
  RunFolder run;
  run.Add(rank);
  const auto model = Open(run);
  EXPECT_EQ(model->unchanged_ns(), 100'000);
  // The second launch at 5 and its latency of 8, 40 of the kernel, its end seen 2 later, 19
  // until the next step.
  EXPECT_EQ(StepNs(*model, {"op=gemm_one:0"}), 74'000);
  // The host alone: two launches of 5, 10 until the synchronisation and 19 after it.
  EXPECT_EQ(StepNs(*model, {"op=gemm_one:0", "op=relu_two:0", "no-syncs"}), 39'000);
}

TEST(Replay, WhatCannotBeAskedIsSaid) {
  RunFolder run;
  CpuJob().Build(run);
  const auto model = Open(run);
  EXPECT_EQ(model->Ask({"rank-at-median=7"}).status().code(), StatusCode::kUsage);
  EXPECT_EQ(model->Ask({"warp=9"}).status().code(), StatusCode::kUsage);
}

TEST(Replay, ATraceWithoutEventsHasNothingToReplay) {
  RunFolder run;
  run.Add(TraceBuilder(0, 1));
  const Result<Analysis> analysis = Analyze(run.path(), {});
  ASSERT_TRUE(analysis.ok()) << analysis.status().message();
  EXPECT_EQ(WhatIfModel::Open(run.path(), analysis->path, {}).status().code(),
            StatusCode::kBadData);
}

}  // namespace
}  // namespace tutti::analyzer
