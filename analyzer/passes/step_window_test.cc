#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/analyze.h"
#include "analyzer/testing/derived.h"

namespace tutti::analyzer {
namespace {

using testing::Derived;
using testing::RunFolder;
using testing::TraceBuilder;

// ns        0         10        20        30        40
// rank 0    [step 0 ..)  [step 1 .........)[2 .....)
// gloo          [=========)
// rank 1     [step 0 ..)  [step 1 ......)   [2 ......)
TEST(StepWindow, MarkedStepsOfTwoRanks) {
  TraceBuilder rank0(0, 2);
  rank0.Step(7, 0, 11).Step(8, 13, 30).Step(9, 30, 38).AllReduce(0, 3, 4, 14, 64);
  TraceBuilder rank1(1, 2);
  rank1.Step(7, 1, 12).Step(8, 14, 28).Step(9, 32, 40).AllReduce(0, 3, 4, 12, 64);
  RunFolder run;
  const Derived derived(run.Add(rank0).Add(rank1));
  const std::string t0 = derived.Query("SELECT min(begin_ns) FROM step_window");
  EXPECT_EQ(derived.Query("SELECT step, number, ranks, begin_ns - " + t0 + ", end_ns - " + t0 +
                          ", step_period_ns, is_steady FROM run_step ORDER BY step"),
            "0|7|2|0|14||0\n1|8|2|14|30|16|1\n2|9|2|30|40|10|1");
  EXPECT_EQ(derived.Query("SELECT rank, step, begin_ns - " + t0 +
                          ", step_ns, between_steps_ns"
                          " FROM step_window ORDER BY rank, step"),
            "0|0|0|14|\n0|1|14|16|0\n0|2|30|8|0\n"
            "1|0|1|11|\n1|1|14|14|2\n1|2|32|8|4");
}

TEST(StepWindow, NumbersThatStartAgainWithEachEpochAreDifferentSteps) {
  TraceBuilder rank(0, 1);
  rank.Step(0, 0, 10).Step(1, 10, 20).Step(0, 20, 30).Step(1, 30, 40);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT step, number, occurrence FROM run_step ORDER BY step"),
            "0|0|0\n1|1|0\n2|0|1\n3|1|1");
}

TEST(StepWindow, AnOpenStepAndOneThatARankLacksArePartial) {
  TraceBuilder rank0(0, 2);
  rank0.Step(0, 0, 10).Step(1, 10, 20).Step(2, 20, {}).Op("aten::mm", 20, 25);
  TraceBuilder rank1(1, 2);
  rank1.Step(0, 0, 10).Step(2, 20, 26);
  RunFolder run;
  const Derived derived(run.Add(rank0).Add(rank1));
  EXPECT_EQ(derived.Query("SELECT step, ranks, is_partial FROM run_step ORDER BY step"),
            "0|2|0\n1|1|1\n2|2|1");
}

TEST(StepWindow, OneConventionCountsWhereSeveralMarkTheSameSteps) {
  TraceBuilder rank(0, 1);
  rank.Step(0, 0, 10).Step(5, 0, 10, "profiler_step").Step(1, 10, 20);
  rank.Step(6, 10, 20, "profiler_step");
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT number, origin FROM run_step ORDER BY step"),
            "0|annotate\n1|annotate");
}

TEST(StepWindow, CheckpointAndEvaluationStepsAreASeriesOfTheirOwn) {
  TraceBuilder rank(0, 1);
  for (int64_t i = 0; i < 5; ++i) rank.Step(i, i * 10, i * 10 + 10);
  rank.Phase("checkpoint", 22, 29).Phase("evaluation", 35, 38);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT tag, is_steady FROM run_step ORDER BY step"),
            "train|0\ntrain|1\ncheckpoint|0\nevaluation|0\ntrain|1");
}

// Optimizer runs [8, 10), [18, 20), [28, 30), each after a backward function. What the
// program does afterwards is no step.
TEST(StepWindow, WithoutMarkersStepsEndWithTheOptimizer) {
  TraceBuilder rank(0, 1);
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t t = i * 10;
    rank.Op("aten::mm", t, t + 4).Backward("MmBackward0", t + 4, t + 7);
    rank.Op("Optimizer.step#SGD.step", t + 8, t + 10, testing::kMainTid, 7);
  }
  rank.Op("aten::item", 30, 33);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT origin, end_ns - begin_ns, is_partial FROM run_step"
                          " ORDER BY step"),
            "inferred_optimizer|10|1\ninferred_optimizer|10|0\ninferred_optimizer|10|0");
  EXPECT_EQ(derived.Query("SELECT severity, name FROM data_issue"), "notice|steps_inferred");
}

TEST(StepWindow, StepsAfterRecordingStoppedDoNotCount) {
  TraceBuilder rank(0, 1);
  for (int64_t i = 0; i < 9; ++i) {
    rank.Step(i, i * 10, i * 10 + 10);
    if (i < 4) rank.Op("aten::mm", i * 10, i * 10 + 9);
  }
  rank.Stat("max_size_reached", 1, 45, 45).Stat("spool_full", 7, {}, {});
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT count(*), max(number) FROM run_step"), "4|3");
  EXPECT_EQ(derived.Query("SELECT severity, count FROM data_issue"
                          " WHERE name = 'steps_not_recorded'"),
            "data_loss|5");
}

// ns       0    10   20        60   70   80
// steps    [0   )[1  )         [5   )[6   )
// gap                [========)
TEST(StepWindow, NothingIsKnownBetweenCaptures) {
  TraceBuilder rank(0, 1);
  for (const auto& [number, begin] : {std::pair(0, 0), {1, 10}, {5, 60}, {6, 70}}) {
    rank.Step(number, begin, begin + 10).Kernel("k", 7, begin + 1, begin + 9);
  }
  rank.Stat("capture_gap", 1, 20, 60);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT w.step_ns, between_steps_ns, step_period_ns FROM step_window AS w"
                          " JOIN run_step USING (step) ORDER BY step"),
            "10||\n10|0|10\n10||\n10|0|10");
}

TEST(StepWindow, WithNothingThatRepeatsEachCaptureIsAStep) {
  TraceBuilder rank(0, 1);
  rank.Op("a", 0, 30).Op("b", 70, 100).Stat("capture_gap", 1, 30, 70);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT begin_ns - lag(end_ns) OVER (ORDER BY step), step_ns"
                          " FROM step_window ORDER BY step"),
            "|30\n40|30");
}

TEST(StepWindow, WithNothingThatRepeatsTheWholeTraceIsOneStep) {
  TraceBuilder rank(0, 1);
  rank.Op("aten::mm", 0, 40).Op("aten::relu", 50, 60).Ended(70);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT origin, end_ns - begin_ns, is_partial, is_steady FROM run_step"),
            "whole_trace|70|0|1");
  EXPECT_EQ(derived.Query("SELECT compute_ns, host_bound_ns FROM step_breakdown"), "50|20");
  EXPECT_EQ(derived.Query("SELECT name FROM data_issue"), "steps_unknown");
}

TEST(StepWindow, WarmUpIsLeftOutOfMedians) {
  TraceBuilder rank(0, 1, 1000);
  int64_t t = 0;
  for (int64_t i = 0; i < 60; ++i) {
    const int64_t length = i < 10 ? 400 : 100 + i % 3;
    rank.Step(i, t, t + length);
    t += length;
  }
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT sum(is_warmup), sum(is_steady) FROM run_step"), "10|50");
  EXPECT_EQ(derived.Query("SELECT value FROM run_metric WHERE name = 'step.median_ns'"), "101000");
}

// us         0    10   20   30   40   50
// host       |step 0  |step 1  |step 2 |
// launch      [0)      [1)
// kernels         [0=======)[1===)
TEST(StepWindow, OnAGpuWorkBelongsToTheStepThatLaunchedItAndALastStepWithoutAnyIsCutOff) {
  TraceBuilder rank(0, 1, 1'000);
  rank.Step(5, 0, 10, "profiler_step").Step(6, 10, 20, "profiler_step");
  rank.Step(7, 20, 30, "profiler_step");
  rank.Api("cudaLaunchKernel", 1, 2, 1).Api("cudaLaunchKernel", 11, 12, 2);
  rank.Kernel("gemm", 7, 5, 14, 1).Kernel("gemm", 7, 15, 25, 2);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT s.number, w.begin_ns - (SELECT min(begin_ns) FROM step_window),"
                          " w.step_ns, w.is_partial FROM step_window AS w JOIN run_step AS s"
                          " USING (step) ORDER BY step"),
            "5|0|14000|0\n6|14000|11000|0\n7|25000|5000|1");
}

TEST(StepWindow, WithoutAnyCallWorkBelongsToTheStepInWhichItBegins) {
  TraceBuilder rank(0, 1);
  rank.Step(0, 0, 100).Step(1, 100, 200).Kernel("gemm", 7, 50, 120).Kernel("gemm", 7, 120, 150);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT step, step_ns FROM step_window"), "0|120\n1|80");
}

TEST(StepWindow, ARangeThatRepeatsIsOfferedAndTakenIfTheUserSaysSo) {
  TraceBuilder rank(0, 1, 1'000);
  for (int64_t i = 0; i < 4; ++i) {
    rank.Op("train_iter", i * 1'000, i * 1'000 + 1'000, testing::kMainTid, 7);
    rank.Kernel("gemm", 7, i * 1'000 + 100, i * 1'000 + 160);
  }
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT count(*), min(origin) FROM run_step"), "1|whole_trace");
  EXPECT_EQ(derived.Query("SELECT count, detail FROM data_issue WHERE name ="
                          " 'step_marker_candidate'"),
            "4|range \"train_iter\" repeats 4 times, 1000 us each: it may mark the steps");
  AnalyzeOptions options;
  options.step_range = "train_iter";
  const Result<Analysis> chosen = Analyze(run.path(), options);
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(Derived::Open(chosen->path)
                .Query("SELECT count(*), min(origin), max(step_ns) FROM run_step"
                       " JOIN step_window USING (step)"),
            "4|range|1000000");
}

TEST(StepWindow, ARangeThatIsNotThereIsRefused) {
  TraceBuilder rank(0, 1, 1'000);
  for (int64_t i = 0; i < 4; ++i) {
    rank.Step(i, i * 1'000, i * 1'000 + 1'000);
    rank.Op("train_iter", i * 1'000, i * 1'000 + 1'000, testing::kMainTid, 7);
  }
  RunFolder run;
  run.Add(rank);
  AnalyzeOptions options;
  options.step_range = "train_itr";
  const Status refused = Analyze(run.path(), options).status();
  EXPECT_EQ(refused.code(), StatusCode::kUsage);
  EXPECT_THAT(refused.message(),
              ::testing::HasSubstr("no finished range is called \"train_itr\" in this run; these "
                                   "could be steps: \"train_iter\""));
}

}  // namespace
}  // namespace tutti::analyzer
