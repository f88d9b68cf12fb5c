// Who is killed at a random moment, and what must be there all the same.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

#include "collector/salvage.h"
#include "tests/e2e/record_fixture.h"

namespace tutti::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kKills = 200;

class KillTest : public RecordTest {
 protected:
  // A job of two threads that writes until it is killed, or for |count| events a thread.
  std::vector<std::string> Sequence(int64_t count = 1'000'000'000) {
    return {Emitter(),    "sequence",       "--threads", "2",
            "--progress", Path("progress"), "--count",   std::to_string(count)};
  }
  const Progress* WaitForWriters() {
    EXPECT_TRUE(WaitFor([this] { return std::filesystem::exists(Path("progress")); }));
    EXPECT_TRUE(WaitFor(
        [this] { return std::filesystem::file_size(Path("progress")) >= sizeof(Progress); }));
    const Progress* progress = MapProgress(Path("progress"));
    EXPECT_TRUE(WaitFor([progress] { return progress->ready.load() == 2; }));
    return progress;
  }
  void ExpectWholeTrace(const std::string& file, const Progress& progress) {
    auto trace = Open(file);
    for (uint32_t thread = 0; thread < 2; ++thread) ExpectWholeSequence(trace, progress, thread);
    EXPECT_EQ(Number(trace,
                     "SELECT count(*) FROM trace_stat WHERE name IN "
                     "('torn_cell', 'unknown_record', 'missing_cells', 'ring_dropped')"),
              0);
  }
};

TEST_F(KillTest, KilledRanksLoseNothingThatTheyPublished) {
  const auto seed = std::random_device()();
  RecordProperty("seed", static_cast<int>(seed));
  std::printf("seed %u\n", seed);
  std::filesystem::create_directory(Path("progress"));
  const Finished record =
      Record({"--buffer", "64M"}, {Emitter(), "kill-loop", "--count", std::to_string(kKills),
                                   "--progress", Path("progress"), "--seed", std::to_string(seed)});
  ASSERT_EQ(record.exit_status, 0) << record.err;
  ASSERT_EQ(Files().size(), static_cast<size_t>(kKills));
  for (int rank = 0; rank < kKills; ++rank) {
    char file[32];
    std::snprintf(file, sizeof(file), "rank-%05d.sqlite", rank);
    const Progress* progress = MapProgress(Path("progress/" + std::to_string(rank)));
    ExpectWholeTrace(file, *progress);
    // What a thread was inside of when it died, at most.
    auto trace = Open(file);
    EXPECT_LE(Number(trace, "SELECT count(*) FROM cpu_op WHERE end_ns IS NULL"), 2);
  }
}

TEST_F(KillTest, AKilledDrainerIsReplacedAndNothingIsLost) {
  constexpr int kDrainerKills = 4;  // fewer than make the supervisor give up
  // Room for what is written while there is no drainer.
  Running record = Start({"--buffer", "128M"}, Sequence());
  const Progress* progress = WaitForWriters();
  std::mt19937 random(std::random_device{}());
  for (int kill = 0; kill < kDrainerKills; ++kill) {
    SleepMs(static_cast<int>(random() % 60));
    std::optional<pid_t> drainer;
    ASSERT_TRUE(WaitFor([&] { return (drainer = DrainerOf(record.pid())).has_value(); }));
    Kill(*drainer, SIGKILL);
  }
  SleepMs(50);
  Kill(record.pid(), SIGTERM);
  const Finished finished = record.Wait();
  EXPECT_EQ(finished.exit_status, 128 + SIGTERM);
  EXPECT_THAT(finished.err, HasSubstr("the drainer ended"));
  EXPECT_THAT(Files(), ElementsAre("rank-00000.sqlite"));
  ExpectWholeTrace("rank-00000.sqlite", *progress);
}

TEST_F(KillTest, ADrainerThatDiesWhileItConvertsStartsAgain) {
  for (int round = 0; round < 5; ++round) {
    std::filesystem::remove(Path("progress"));
    Running record = Start({"-f", "--buffer", "64M"}, Sequence(30'000));
    const Progress* progress = WaitForWriters();
    ASSERT_TRUE(WaitFor([&] { return progress->published[1].load() == 30'000; }));
    SleepMs(round * 20);
    if (const auto drainer = DrainerOf(record.pid())) Kill(*drainer, SIGKILL);
    EXPECT_EQ(record.Wait().exit_status, 0);
    EXPECT_THAT(Files(), ElementsAre("rank-00000.sqlite"));
    ExpectWholeTrace("rank-00000.sqlite", *progress);
  }
}

TEST_F(KillTest, ADrainerThatDiesAgainAndAgainDoesNotStopTheJob) {
  const std::string gate = Path("gate");
  Running record = Start({}, {Emitter(), "train", "--steps", "5", "--wait", gate, "--exit", "4"});
  ASSERT_TRUE(WaitFor([&] {
    if (const auto drainer = DrainerOf(record.pid())) Kill(*drainer, SIGKILL);
    return record.ErrSoFar().find("recording stops, the job goes on") != std::string::npos;
  }));
  std::ofstream(gate) << "go";
  EXPECT_EQ(record.Wait().exit_status, 4);
}

TEST_F(KillTest, AKilledSupervisorLeavesAWholeRun) {
  Running record = Start({"--buffer", "64M"}, Sequence(20'000));
  const Progress* progress = WaitForWriters();
  Kill(record.pid(), SIGKILL);
  record.Wait();
  ASSERT_TRUE(WaitFor([&] { return progress->published[1].load() == 20'000; }));
  ASSERT_TRUE(WaitFor([&] {
    return std::filesystem::exists(Path("run/rank-00000.sqlite")) &&
           !std::filesystem::exists(Path("run/.spool"));
  }));
  ExpectWholeTrace("rank-00000.sqlite", *progress);
  EXPECT_EQ(progress->published[0].load(), 20'000U);
  auto trace = Open("rank-00000.sqlite");
  EXPECT_EQ(Number(trace, "SELECT count(*) FROM trace_stat WHERE name = 'recorder_died'"), 1);
  EXPECT_EQ(Number(trace, "SELECT count(*) FROM process WHERE exit_status IS NULL"), 1);
}

TEST_F(KillTest, WhatAKilledRecorderSpooledIsSalvaged) {
  Running record = Start({"--flush", "50ms"},
                         {Emitter(), "train", "--steps", "40", "--hang", "--ready", Path("hangs")},
                         {"RANK=3", "LOCAL_RANK=3", "WORLD_SIZE=4"});
  ASSERT_TRUE(WaitFor([&] { return std::filesystem::exists(Path("hangs")); }));
  SleepMs(500);  // ten times what events may stay in memory
  const auto drainer = DrainerOf(record.pid());
  ASSERT_TRUE(drainer.has_value());
  const auto running = collector::Salvage(Path("run"));
  ASSERT_TRUE(running.ok());
  EXPECT_TRUE(running->is_recording);
  EXPECT_EQ(running->converted, 0);
  Kill(*drainer, SIGSTOP);  // so that it does not outlive the supervisor
  Kill(record.pid(), SIGKILL);
  Kill(*drainer, SIGKILL);
  record.Wait();

  // The orphaned job still hangs; its recording is over once both are gone.
  Result<collector::SalvageReport> salvaged = collector::SalvageReport{};
  ASSERT_TRUE(WaitFor([&] {
    salvaged = collector::Salvage(Path("run"));
    return !salvaged.ok() || !salvaged->is_recording;
  }));
  ASSERT_TRUE(salvaged.ok()) << salvaged.status().message();
  EXPECT_EQ(salvaged->converted, 1);
  EXPECT_THAT(salvaged->messages, ElementsAre(HasSubstr("the recorder was killed")));
  EXPECT_THAT(Files(), ElementsAre("rank-00003.sqlite"));
  auto trace = Open("rank-00003.sqlite");
  EXPECT_EQ(Number(trace, "SELECT count(*) FROM step WHERE end_ns IS NOT NULL"), 40);
  EXPECT_EQ(Number(trace, "SELECT count(*) FROM collective_source WHERE end_ns IS NULL"), 1);
  EXPECT_EQ(Number(trace, "SELECT count(*) FROM trace_stat WHERE name = 'recording_killed'"), 1);
  EXPECT_EQ(Number(trace, "SELECT count(*) FROM process WHERE end_ns IS NULL"), 1);
  EXPECT_FALSE(std::filesystem::exists(Path("run/.spool")));

  const auto again = collector::Salvage(Path("run"));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->converted, 0);
  Kill(Number(trace, "SELECT pid FROM process"), SIGKILL);
}

TEST_F(KillTest, CtrlCWhileConvertingLeavesTheRestForLater) {
  Running record = Start({"--buffer", "64M"}, Sequence(50'000));
  const Progress* progress = WaitForWriters();
  ASSERT_TRUE(WaitFor([&] { return progress->published[1].load() == 50'000; }));
  ASSERT_TRUE(WaitFor([&] { return progress->published[0].load() == 50'000; }));
  SleepMs(30);
  Kill(record.pid(), SIGINT);
  const Finished finished = record.Wait();
  EXPECT_EQ(finished.exit_status, 0);
  const auto salvaged = collector::Salvage(Path("run"));
  ASSERT_TRUE(salvaged.ok());
  EXPECT_FALSE(salvaged->is_recording);
  ExpectWholeTrace("rank-00000.sqlite", *progress);
}

}  // namespace
}  // namespace tutti::e2e
