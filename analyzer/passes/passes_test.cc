// The smaller passes: data waits, memory, operators, batches, stragglers, summary.
#include <gtest/gtest.h>

#include "analyzer/analyze.h"
#include "analyzer/testing/derived.h"

namespace tutti::analyzer {
namespace {

using testing::Derived;
using testing::kLoaderTid;
using testing::kMainTid;
using testing::RunFolder;
using testing::TraceBuilder;

TEST(DataWait, CountsNestedMarksOnceAndKnowsTheLoader) {
  TraceBuilder rank(0, 1);
  rank.Step(0, 0, 100).DataWait(0, 30, 0).DataWait(2, 28, 0);  // two conventions, one wait
  rank.Step(1, 100, 200).DataWait(100, 110, 2);
  rank.DataWait(0, 200, 0, kLoaderTid);  // not training's
  rank.Phase("data", 0, 40, kLoaderTid).Phase("data", 40, 90, kLoaderTid);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT step, waits, wait_ns, longest_ns, min_queue_depth FROM step_input"
                          " ORDER BY step"),
            "0|1|30|30|0\n1|1|10|10|2");
  EXPECT_EQ(derived.Query("SELECT name, waits, wait_ns, p50_wait_ns, empty_queue_frac, workers,"
                          " p50_load_ns FROM loader"),
            "train|2|40|10|0.5|1|40");
}

TEST(DataWait, SaysWhatLiesBetweenTheMarkedSteps) {
  TraceBuilder rank(0, 1, 1'000'000);
  rank.Step(0, 0, 10).Op("aten::mm", 0, 9).DataWait(10, 15).Step(1, 15, 25);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT name, count FROM data_issue"), "data_wait_outside_steps|1");
  EXPECT_EQ(derived.Query("SELECT between_steps_ns FROM step_window WHERE step = 1"), "5000000");
}

TEST(Memory, PeakStepAndTimeline) {
  TraceBuilder rank(0, 1);
  rank.Step(0, 0, 100).Step(1, 100, 200);
  rank.Memory(10, 400, 400).Memory(110, 600, 1000).Memory(120, -400, 600).Memory(190, -600, 0);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT device_type, device_id, peak_bytes, peak_step, end_bytes,"
                          " allocations, releases, allocated_bytes, ooms FROM memory_peak"),
            "cpu|-1|1000|1|0|2|2|1000|0");
  EXPECT_EQ(derived.Query("SELECT max(max_bytes), count(*) <= 512 FROM memory_timeline"), "1000|1");
}

TEST(OpStats, CountsEveryOperatorOnceAndTellsSelfTime) {
  TraceBuilder rank(0, 1);
  rank.Step(0, 0, 100).Step(1, 100, 200).Step(2, 200, 300);
  rank.Op("aten::linear", 10, 40).Op("aten::addmm", 15, 35);
  rank.Op("aten::linear", 110, 150).Op("aten::addmm", 120, 140);
  rank.Op("aten::addmm", 100, 190, kLoaderTid);
  rank.Op("aten::mm", 290, {});
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(
      derived.Query("SELECT name, on_compute, count, total_ns, self_ns, p50_ns, max_ns,"
                    " in_steps_count, in_steps_self_ns FROM op_stats ORDER BY name, on_compute"),
      "aten::addmm|0|1|90|90|90|90|1|90\n"
      "aten::addmm|1|2|40|40|20|20|1|20\n"
      "aten::linear|1|2|70|30|30|40|1|20");
}

// A job that was killed in its only step.
TEST(OpStats, CountsInTheStepsThatCountWhereNoneIsSteady) {
  TraceBuilder rank(0, 1, 1'000);
  rank.Step(0, 0, {}).Kernel("gemm", 7, 10, 40).Kernel("gemm", 7, 50, 90);
  rank.Memcpy("HtoD", 7, 90, 95, 1);
  RunFolder run;
  const Derived derived(run.Add(rank));
  EXPECT_EQ(derived.Query("SELECT count(*), max(is_steady) FROM run_step"), "1|0");
  EXPECT_EQ(derived.Query("SELECT kind, count, in_steps_count, in_steps_self_ns FROM op_stats"),
            "kernel|2|2|70000\nmemcpy|1|1|5000");
  EXPECT_EQ(derived.Query("SELECT count, in_steps_count FROM copy_stats"), "1|1");
}

TEST(Throughput, SamplesPerSecondAreOfTheJobsPeriod) {
  TraceBuilder rank0(0, 2, 1'000'000);
  TraceBuilder rank1(1, 2, 1'000'000);
  for (TraceBuilder* rank : {&rank0, &rank1}) {
    for (int64_t i = 0; i < 5; ++i) {
      rank->Step(i, i * 100, i * 100 + 90).Batch(i * 100 + 5, 32, 1000);
    }
  }
  RunFolder run;
  const Derived derived(run.Add(rank0).Add(rank1));
  EXPECT_EQ(derived.Query("SELECT count(*), sum(samples) FROM step_batch"), "10|320");
  // A step, 64 samples and 2,000 tokens each 100 ms; the first step is warm-up.
  EXPECT_EQ(derived.Query("SELECT value FROM run_metric WHERE name LIKE 'throughput.%_per_s'"
                          " ORDER BY name"),
            "640\n10\n20000");
}

// Ten steps of four ranks: rank 2 computes 8 ms, the others 6 ms; transfer takes 1 ms.
TEST(Straggler, IsTheRankWithTheShortestCollective) {
  RunFolder run;
  for (int64_t rank = 0; rank < 4; ++rank) {
    TraceBuilder trace(rank, 4, 1000);
    for (int64_t step = 0; step < 10; ++step) {
      const int64_t t = step * 9000;
      const int64_t computed = t + (rank == 2 ? 8000 : 6000);
      trace.Step(step, t, t + 9000).Op("aten::mm", t, computed);
      trace.AllReduce(step, computed, computed, t + 9000, 4096);
    }
    run.Add(trace);
  }
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT rank, collectives, times_last, net_cost_ns, cause, cause_ns"
                          " FROM straggler WHERE rank = 2"),
            "2|9|9|2000000|compute|2000000");
  EXPECT_EQ(derived.Query("SELECT max(net_cost_ns) FROM straggler WHERE rank <> 2"), "0");
  EXPECT_EQ(derived.Query("SELECT DISTINCT rank, exposed_comm_wait_ns, exposed_comm_transfer_ns"
                          " FROM step_breakdown ORDER BY rank"),
            "0|2000000|1000000\n1|2000000|1000000\n2|0|1000000\n3|2000000|1000000");
  EXPECT_EQ(derived.Query("SELECT kind, cost_ns, confidence FROM finding"),
            "straggler|2000000|medium");
  EXPECT_EQ(derived.Query("SELECT rank FROM finding_rank"), "2");
}

// us      0        20                  100  110
// rank 0  [compute=====================)[a )
// rank 1  [compute=)[a waits ..........)[a )[b=)     late for b because of rank 0
// rank 2  [compute=)[b waits ...............)[b)
TEST(WaitCause, AWaitIsChargedToWhoIsBehindIt) {
  TraceBuilder rank0(0, 3, 1000);
  TraceBuilder rank1(1, 3, 1000);
  TraceBuilder rank2(2, 3, 1000);
  rank0.Communicator(1, "a", {0, 1});
  rank1.Communicator(1, "a", {0, 1}).Communicator(2, "b", {1, 2});
  rank2.Communicator(2, "b", {1, 2});
  rank0.Step(0, 0, 130).Op("aten::mm", 0, 100).Collective("all_reduce", 0, 99, 100, 110, 64, 1);
  rank1.Step(0, 0, 130).Op("aten::mm", 0, 20).Collective("all_reduce", 0, 19, 20, 110, 64, 1);
  rank1.Collective("all_reduce", 0, 109, 110, 120, 64, 2);
  rank2.Step(0, 0, 130).Op("aten::mm", 0, 20).Collective("all_reduce", 0, 19, 20, 120, 64, 2);
  RunFolder run;
  run.Add(rank0).Add(rank1).Add(rank2);
  EXPECT_EQ(Derived(run).Query("SELECT rank, late_rank, cause_rank, wait_ns FROM wait_cause"
                               " ORDER BY rank, cause_rank"),
            "1|0|0|80000\n2|1|0|80000\n2|1|1|10000");
}

TEST(Summary, PartsAddUpAndMediansStandAlone) {
  TraceBuilder rank(0, 1);
  int64_t t = 0;
  for (int64_t i = 0; i < 4; ++i) {
    rank.Step(i, t, t + 100).Op("aten::mm", t, t + 10 * (i + 1));
    t += 100;
  }
  RunFolder run;
  const Derived derived(run.Add(rank));  // step 0 is warm-up: compute 20, 30, 40 count
  EXPECT_EQ(derived.Query("SELECT part, total_ns, median_ns FROM part_summary"
                          " WHERE total_ns > 0 ORDER BY ordinal"),
            "compute|90|30\nhost_bound|210|70");
  EXPECT_EQ(derived.Query("SELECT name, value FROM run_metric WHERE name IN"
                          " ('step.count', 'step.total_ns', 'step.basis', 'overlap.frac')"
                          " ORDER BY name"),
            "overlap.frac|\nstep.basis|steady\nstep.count|3\nstep.total_ns|300");
}

TEST(RunIndex, ARecordedRankWhoseEndWasNotSeenIsSaid) {
  TraceBuilder killed(0, 2, 1000);
  killed.Step(0, 0, 10).Op("aten::mm", 0, 9);
  TraceBuilder ended(1, 2, 1000);
  ended.Step(0, 0, 10).Op("aten::mm", 0, 9).Ended(12);
  RunFolder run;
  run.Add(killed).Add(ended);
  for (const char* name : {"rank-00000.sqlite", "rank-00001.sqlite"}) {
    run.Execute(name, "INSERT INTO meta VALUES ('recording.id', 'a')");
  }
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT severity, count, detail LIKE 'rank 0 was not seen to end%'"
                          " FROM data_issue WHERE name = 'ranks_unfinished'"),
            "data_loss|1|1");
  const Result<std::string> report = RenderReport(derived.path(), {});
  ASSERT_TRUE(report.ok());
  EXPECT_NE(report->find("none known lost"), std::string::npos);
}

TEST(RunIndex, ARecordingThatEndsBeforeItsRankLacksNothing) {
  TraceBuilder running(0, 2, 1000);
  running.Step(0, 0, 10).Op("aten::mm", 0, 9);
  RunFolder run;
  run.Add(running);
  run.Execute("rank-00000.sqlite",
              "INSERT INTO meta VALUES ('recording.id', 'a'), ('recording.running_until_ns',"
              " (SELECT max(end_ns) + 500 FROM step))");
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT severity, count FROM data_issue WHERE name = 'ranks_running'"),
            "info|1");
  EXPECT_EQ(derived.Query("SELECT count(*) FROM data_issue WHERE name = 'ranks_unfinished'"), "0");
  EXPECT_EQ(derived.Query("SELECT is_finished, end_ns - begin_ns FROM rank"), "0|10500")
      << "in ticks of 1,000 ns";
}

TEST(RunIndex, AKilledRecorderIsSaidFirst) {
  RunFolder run;
  for (int64_t rank = 0; rank < 2; ++rank) {
    TraceBuilder killed(rank, 2, 1000);
    killed.Step(0, 0, 10).Op("aten::mm", 0, 9).Stat("recording_killed", 1, {}, {});
    run.Add(killed);
  }
  for (const char* name : {"rank-00000.sqlite", "rank-00001.sqlite"}) {
    run.Execute(name, "INSERT INTO meta VALUES ('recording.id', 'a')");
  }
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT name, severity, count FROM data_issue WHERE origin = 'analysis'"
                          " AND name IN ('run_killed', 'ranks_unfinished')"),
            "run_killed|data_loss|2");
  const Result<std::string> report = RenderReport(derived.path(), {});
  ASSERT_TRUE(report.ok());
  const std::string first_lines = report->substr(0, report->find("Step"));
  EXPECT_NE(first_lines.find("none known lost\nthe recorder was killed before ranks 0, 1 ended"),
            std::string::npos)
      << first_lines;
  EXPECT_EQ(first_lines.find("recording_killed"), std::string::npos);
}

TEST(RunIndex, AnEarlierAttemptSaysHowItEnded) {
  RunFolder run;
  TraceBuilder first(0, 1, 1000);
  first.Step(0, 0, 10).Op("aten::mm", 0, 9).Ended(12, 137);
  TraceBuilder second(0, 1, 1000);
  second.Attempt(1).Step(0, 0, 10).Op("aten::mm", 0, 9).Ended(12);
  run.Add(first).Add(second);
  EXPECT_EQ(Derived(run).Query("SELECT note FROM input_file WHERE is_used = 0"),
            "attempt 0 (ended by signal 9); attempt 1 is analyzed");
}

}  // namespace
}  // namespace tutti::analyzer
