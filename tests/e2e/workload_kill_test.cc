// Real training under `tutti record` and who is killed in the middle of it: two ranks of
// mnist_mlp with LibTorch, c10d's Reducer and Gloo.
#include <gmock/gmock.h>
#include <signal.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "collector/salvage.h"
#include "tests/e2e/record_fixture.h"

namespace tutti::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kKills = 5;

class WorkloadKillTest : public RecordTest {
 protected:
  WorkloadKillTest() : random_(std::random_device{}()) {}

  Running StartTraining(const std::vector<std::string>& options,
                        const std::vector<std::string>& record_options = {}) {
    std::vector<std::string> command{TUTTI_MNIST_MLP};
    command.insert(command.end(), options.begin(), options.end());
    std::vector<std::string> all{"-f", "--nproc", "2", "--buffer", "64M", "--flush", "50ms"};
    all.insert(all.end(), record_options.begin(), record_options.end());
    return Start(all, command);
  }

  // The processes that `tutti record` started, by rank.
  static std::map<int, pid_t> RanksOf(pid_t recorder) {
    std::map<int, pid_t> ranks;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string pid = entry.path().filename().string();
      if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
      std::ifstream stat(entry.path() / "stat");
      std::string id, name, state;
      pid_t parent = 0;
      stat >> id >> name >> state >> parent;
      if (parent != recorder || name != "(mnist_mlp)") continue;
      std::ifstream environment(entry.path() / "environ");
      for (std::string variable; std::getline(environment, variable, '\0');) {
        if (variable.starts_with("RANK=")) {
          ranks[std::stoi(variable.substr(5))] = static_cast<pid_t>(std::stol(pid));
        }
      }
    }
    return ranks;
  }

  // The ranks, once rank 0 has said that it trains ("step   20 …" on its output).
  std::map<int, pid_t> WaitForTraining(const Running& record) {
    EXPECT_TRUE(WaitFor([&] { return record.OutSoFar().find("step   ") != std::string::npos; }))
        << record.ErrSoFar();
    return RanksOf(record.pid());
  }

  int RandomMs(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  // What was published is here, all of it: no hole in what the buffers held, every step until the
  // last one in sequence, each with the same operators.
  void ExpectWholeTrace(schema::Database& trace) {
    EXPECT_EQ(
        Number(trace, "SELECT count(*) FROM trace_stat WHERE severity IN ('data_loss', 'error')"),
        0);
    EXPECT_GT(Number(trace, "SELECT count(*) FROM step"), 3);
    EXPECT_EQ(Number(trace, "SELECT max(number) + 1 - count(*) FROM step"), 0);
    EXPECT_EQ(Number(trace, "SELECT count(*) FROM step WHERE end_ns IS NULL"),
              Number(trace,
                     "SELECT count(*) FROM step WHERE end_ns IS NULL AND number = "
                     "(SELECT max(number) FROM step)"));
    // Steps from 2 on are alike: two linear layers, forward and backward, four parameters. Before,
    // the optimizer and the reducer make what they need.
    EXPECT_EQ(
        Text(trace,
             "WITH whole AS (SELECT number, begin_ns, end_ns FROM step WHERE end_ns IS NOT NULL "
             "AND number > 1), per_step AS (SELECT number, (SELECT count(*) FROM v_cpu_op AS op "
             "WHERE op.begin_ns >= whole.begin_ns AND op.end_ns <= whole.end_ns AND op.name IN "
             "('aten::addmm', 'AddmmBackward0', 'torch::autograd::AccumulateGrad')) AS ops "
             "FROM whole) SELECT min(ops) || ' to ' || max(ops) FROM per_step"),
        "8 to 8");
  }

  // Both ranks trained to the end and said how many collectives there were (workloads/README.md):
  // 1 broadcast of the parameters, 3 + 2 (S - 1) all-reduces, 2 broadcasts, 1 all-gather.
  void ExpectFinishedJob(int64_t steps) {
    ASSERT_THAT(Files(), ElementsAre("rank-00000.sqlite", "rank-00001.sqlite"));
    for (const char* file : {"rank-00000.sqlite", "rank-00001.sqlite"}) {
      auto trace = Open(file);
      ExpectWholeTrace(trace);
      EXPECT_EQ(Number(trace, "SELECT count(*) FROM step WHERE end_ns IS NOT NULL"), steps);
      EXPECT_EQ(Number(trace, "SELECT count(*) FROM collective_source WHERE end_ns IS NOT NULL"),
                1 + 3 + 2 * (steps - 1) + 2 + 1);
    }
  }

  std::mt19937 random_;
};

// Rank 1 is stopped, so that rank 0 hangs in a collective; then both are killed.
TEST_F(WorkloadKillTest, KilledRanksLoseNothingAndShowTheCollectiveThatTheyWereIn) {
  for (int kill = 0; kill < kKills; ++kill) {
    Running record = StartTraining({"--steps", "100000"});
    std::map<int, pid_t> ranks = WaitForTraining(record);
    ASSERT_EQ(ranks.size(), 2U);
    SleepMs(RandomMs(300));
    Kill(ranks[1], SIGSTOP);
    SleepMs(100 + RandomMs(100));  // a step takes some 5 ms: rank 0 is in its next collective
    Kill(ranks[0], SIGKILL);
    Kill(ranks[1], SIGKILL);
    EXPECT_EQ(record.Wait().exit_status, 128 + SIGKILL);
    ASSERT_THAT(Files(), ElementsAre("rank-00000.sqlite", "rank-00001.sqlite"));
    for (const char* file : {"rank-00000.sqlite", "rank-00001.sqlite"}) {
      auto trace = Open(file);
      ExpectWholeTrace(trace);
      EXPECT_EQ(Number(trace, "SELECT exit_status FROM process"), 128 + SIGKILL);
    }
    auto trace = Open("rank-00000.sqlite");
    // Of the step's two buckets, one or both.
    const int64_t open = Number(trace,
                                "SELECT count(*) FROM collective_source WHERE end_ns IS NULL AND "
                                "begin_ns IS NOT NULL AND bytes > 0 AND enqueue_ns IS NOT NULL");
    EXPECT_GE(open, 1);
    EXPECT_LE(open, 2);
  }
}

TEST_F(WorkloadKillTest, AKilledDrainerIsReplacedAndTrainingGoesOn) {
  constexpr int kSteps = 400;
  constexpr int kDrainerKills = 3;
  Running record = StartTraining({"--steps", std::to_string(kSteps)});
  WaitForTraining(record);
  int killed = 0;
  for (; killed < kDrainerKills; ++killed) {
    std::optional<pid_t> drainer;
    ASSERT_TRUE(WaitFor([&] { return (drainer = DrainerOf(record.pid())).has_value(); }));
    Kill(*drainer, SIGKILL);
    SleepMs(50 + RandomMs(100));
  }
  const Finished finished = record.Wait();
  EXPECT_EQ(finished.exit_status, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("the drainer ended"));
  ExpectFinishedJob(kSteps);
}

TEST_F(WorkloadKillTest, AKilledSupervisorLeavesTrainingAndRecordingAlone) {
  constexpr int kSteps = 300;
  Running record = StartTraining({"--steps", std::to_string(kSteps)});
  WaitForTraining(record);
  SleepMs(RandomMs(300));
  Kill(record.pid(), SIGKILL);
  record.Wait();
  ASSERT_TRUE(
      WaitFor([&] { return Files().size() == 2 && !std::filesystem::exists(Path("run/.spool")); }));
  ExpectFinishedJob(kSteps);
}

}  // namespace
}  // namespace tutti::e2e
