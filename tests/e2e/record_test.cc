// What a recorded job leaves behind: its traces, its manifest and nothing else.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "collector/os/files.h"
#include "collector/spool/format.h"
#include "collector/spool/reader.h"
#include "tests/e2e/record_fixture.h"

namespace tutti::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kSteps = 30;

std::vector<std::string> Train(const std::vector<std::string>& options = {}) {
  std::vector<std::string> argv{TUTTI_EMITTER, "train", "--steps", std::to_string(kSteps)};
  argv.insert(argv.end(), options.begin(), options.end());
  return argv;
}

nlohmann::json OnlyManifest(const std::string& run) {
  const auto entry = std::filesystem::directory_iterator(run + "/manifest.d")->path();
  return nlohmann::json::parse(std::ifstream(entry));
}

TEST_F(RecordTest, HoldsExactlyWhatTheJobDid) {
  const Finished record = Record({}, Train());
  EXPECT_EQ(record.exit_status, 0);
  EXPECT_THAT(record.err, HasSubstr("1 rank"));
  EXPECT_THAT(record.err, HasSubstr(" 0 lost"));
  EXPECT_THAT(Files(), ElementsAre("rank-00000.sqlite"));

  auto trace = Open("rank-00000.sqlite");
  const auto count = [&](const std::string& from) {
    return Number(trace, "SELECT count(*) FROM " + from);
  };
  EXPECT_EQ(count("step WHERE end_ns IS NOT NULL"), kSteps);
  EXPECT_EQ(count("phase"), 2 * kSteps);
  EXPECT_EQ(count("data_wait WHERE queue_depth = 3"), kSteps);
  EXPECT_EQ(count("cpu_op"), (kForwardOps + kBackwardOps) * kSteps);
  EXPECT_EQ(count("cpu_op WHERE depth = 2"), kForwardOps * kSteps / 2 + kBackwardOps * kSteps / 2);
  EXPECT_EQ(count("collective_source WHERE enqueue_ns <= begin_ns AND begin_ns <= end_ns"),
            kCollectivesPerStep * kSteps);
  EXPECT_EQ(count("memory_event"), 2 * kCollectivesPerStep * kSteps);
  EXPECT_EQ(Number(trace, "SELECT allocated_bytes FROM memory_event ORDER BY id DESC LIMIT 1"), 0);
  EXPECT_EQ(Number(trace, "SELECT sum(samples) FROM batch"), kSamplesPerStep * kSteps);
  EXPECT_EQ(Number(trace, "SELECT sum(tokens) FROM batch"), kTokensPerStep * kSteps);
  EXPECT_EQ(Number(trace, "SELECT count(DISTINCT sequence) FROM collective_source"),
            kCollectivesPerStep * kSteps);
  EXPECT_EQ(count("trace_stat WHERE severity IN ('data_loss', 'error')"), 0);
  EXPECT_EQ(Text(trace, "SELECT value FROM meta WHERE key = 'file.complete'"), "1");
}

TEST_F(RecordTest, TimesNest) {
  Record({}, Train());
  auto trace = Open("rank-00000.sqlite");
  // Phases and operators lie in a step; inner operators in an outer one.
  EXPECT_EQ(Number(trace,
                   "SELECT count(*) FROM phase AS p WHERE NOT EXISTS (SELECT 1 FROM step AS s "
                   "WHERE s.begin_ns <= p.begin_ns AND p.end_ns <= s.end_ns)"),
            0);
  EXPECT_EQ(Number(trace,
                   "SELECT count(*) FROM cpu_op AS i WHERE i.depth = 3 AND NOT EXISTS (SELECT 1 "
                   "FROM cpu_op AS o WHERE o.depth = 2 AND o.tid = i.tid AND "
                   "o.begin_ns <= i.begin_ns AND i.end_ns <= o.end_ns)"),
            0);
  EXPECT_EQ(Number(trace,
                   "SELECT count(*) FROM step AS a JOIN step AS b ON b.id = a.id + 1 "
                   "WHERE b.number <> a.number + 1 OR b.begin_ns < a.end_ns"),
            0);
}

TEST_F(RecordTest, ProcessAndThreadsAreDescribed) {
  Record({}, Train({"--exit", "9"}));
  auto trace = Open("rank-00000.sqlite");
  EXPECT_EQ(Number(trace, "SELECT count(*) FROM process"), 1);
  EXPECT_EQ(Number(trace, "SELECT exit_status FROM process"), 9);
  EXPECT_EQ(Text(trace, "SELECT promoted_by FROM process"), "annotate");
  EXPECT_EQ(Text(trace, "SELECT executable FROM process"),
            std::filesystem::canonical(TUTTI_EMITTER));
  EXPECT_EQ(Text(trace, "SELECT role FROM thread WHERE tid = (SELECT pid FROM process)"), "main");
  EXPECT_EQ(Number(trace, "SELECT count(*) FROM thread WHERE role = 'gloo'"), 1);
  EXPECT_EQ(Number(trace,
                   "SELECT count(*) FROM process, step "
                   "WHERE step.begin_ns < process.begin_ns OR step.end_ns > process.end_ns"),
            0);
}

// What of |kind| is in the spool of the run's first process so far.
int ChunksInSpool(const std::string& run, collector::spool::ChunkKind kind) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(run + "/.spool", none)) {
    const auto directory = collector::os::OpenDirectory(entry.path());
    if (!directory.ok()) continue;
    const auto reader = collector::spool::SpoolReader::Open(directory->get(), "p0000.spool");
    if (!reader.ok()) continue;
    int found = 0;
    uint64_t at = 0;
    while (const auto chunk = reader->ChunkAt(at, reader->file_bytes())) {
      found += chunk->kind == kind ? 1 : 0;
      at = chunk->end_offset();
    }
    return found;
  }
  return 0;
}

// A sample needs the process while it runs: one that ends at once may have none of its memory.
TEST_F(RecordTest, CountersAreSampledWhileTheRankRuns) {
  const std::string gate = Path("gate");
  Running record = Start({}, Train({"--wait", gate}));
  EXPECT_TRUE(WaitFor(
      [&] { return ChunksInSpool(Path("run"), collector::spool::ChunkKind::kSystem) >= 2; }));
  std::ofstream(gate) << "go";
  EXPECT_EQ(record.Wait().exit_status, 0);
  auto trace = Open("rank-00000.sqlite");
  const std::string resident = "FROM v_counter WHERE name = 'process.resident'";
  EXPECT_GE(Number(trace, "SELECT count(*) " + resident), 2);
  EXPECT_GT(Number(trace, "SELECT max(value) " + resident), 100'000);
}

TEST_F(RecordTest, FilesArePrivateAndTheSpoolIsGone) {
  Record({}, Train());
  struct stat info;
  ASSERT_EQ(::stat(Path("run/rank-00000.sqlite").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  ASSERT_EQ(::stat(Path("run").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
  EXPECT_FALSE(std::filesystem::exists(Path("run/.spool")));
}

TEST_F(RecordTest, TheManifestTellsWhatWasRun) {
  Record({}, Train({"--exit", "3"}), {"RANK=2", "WORLD_SIZE=4", "LOCAL_RANK=2"});
  const nlohmann::json manifest = OnlyManifest(Path("run"));
  EXPECT_EQ(manifest["schema"], "tutti.manifest/1");
  EXPECT_EQ(manifest["state"], "finished");
  EXPECT_EQ(manifest["argv"][1], "train");
  EXPECT_EQ(manifest["ranks_expected"], 4);
  EXPECT_EQ(manifest["ranks_found"], 1);
  EXPECT_EQ(manifest["ranks"][0]["file"], "rank-00002.sqlite");
  EXPECT_EQ(manifest["ranks"][0]["rank_source"], "RANK");
  EXPECT_EQ(manifest["ranks"][0]["exit_status"], 3);
  EXPECT_GT(manifest["hardware"]["cpus"], 0);
  EXPECT_GT(manifest["anchor"]["monotonic_raw_ns"], 0);
}

TEST_F(RecordTest, AManifestThatCantBeReadIsSaid) {
  Record({}, Train());
  const auto manifest = std::filesystem::directory_iterator(Path("run/manifest.d"))->path();
  std::ofstream(manifest) << "{";
  const Finished report = Running({TUTTI_PROGRAM, "report", Path("run")}, {}, directory_).Wait();
  EXPECT_EQ(report.exit_status, 0);
  EXPECT_THAT(report.err, HasSubstr(manifest.filename().string() + ": not a manifest"));
}

TEST_F(RecordTest, AReportBeforeTheFirstRankSaysThatTheRecordingGoesOn) {
  Running record = Start({}, {"sh", "-c", "touch " + Path("begun") + "; sleep 60"});
  ASSERT_TRUE(WaitFor([&] { return std::filesystem::exists(Path("begun")); }));
  const Finished report = Running({TUTTI_PROGRAM, "report", Path("run")}, {}, directory_).Wait();
  Kill(record.pid(), SIGTERM);
  EXPECT_EQ(report.exit_status, 3);
  EXPECT_THAT(report.err, HasSubstr("a recording into this folder goes on"));
  record.Wait();
}

TEST_F(RecordTest, LocalRanksGetTorchrunsVariables) {
  const Finished record =
      Record({"--nproc", "2"},
             {"sh", "-c",
              "echo $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $MASTER_ADDR $OMP_NUM_THREADS "
              "$TORCHELASTIC_RESTART_COUNT; test \"$MASTER_PORT\" -gt 1023"});
  EXPECT_EQ(record.exit_status, 0);
  EXPECT_THAT(record.out, HasSubstr("0 0 2 2 127.0.0.1 1 0\n"));
  EXPECT_THAT(record.out, HasSubstr("1 1 2 2 127.0.0.1 1 0\n"));
  EXPECT_EQ(Record({}, {"sh", "-c", "echo ${RANK-unset}"}).out, "unset\n");
}

TEST_F(RecordTest, LocalRanksAreRecordedByRank) {
  const Finished record = Record({"--nproc", "3"}, Train());
  EXPECT_EQ(record.exit_status, 0);
  EXPECT_THAT(Files(), ElementsAre("rank-00000.sqlite", "rank-00001.sqlite", "rank-00002.sqlite"));
  for (int rank = 0; rank < 3; ++rank) {
    auto trace = Open("rank-0000" + std::to_string(rank) + ".sqlite");
    EXPECT_EQ(Number(trace, "SELECT rank FROM process"), rank);
    EXPECT_EQ(Number(trace, "SELECT count(*) FROM step"), kSteps);
  }
}

// One clock for all ranks of a machine: anchors are equal.
TEST_F(RecordTest, RanksShareTheirClock) {
  Record({"--nproc", "2"}, Train());
  auto first = Open("rank-00000.sqlite");
  auto second = Open("rank-00001.sqlite");
  const std::string anchor = "SELECT value FROM meta WHERE key = 'clock.anchor_monotonic_raw_ns'";
  EXPECT_EQ(Text(first, anchor), Text(second, anchor));
}

TEST_F(RecordTest, ARankIsLearntFromTheDefaultGroup) {
  Record({}, Train({"--rank-of-communicator"}), {"EMITTER_RANK=5", "EMITTER_SIZE=8"});
  EXPECT_THAT(Files(), ElementsAre("rank-00005.sqlite"));
  auto trace = Open("rank-00005.sqlite");
  EXPECT_EQ(Text(trace, "SELECT rank_source FROM process"), "communicator");
  EXPECT_EQ(Number(trace, "SELECT world_size FROM process"), 8);
}

TEST_F(RecordTest, ARankThatComesTwiceIsKeptTwice) {
  const std::string emitter = Emitter() + " train --steps 3";
  const Finished record = Record({}, {"sh", "-c", emitter + "; " + emitter},
                                 {"RANK=0", "WORLD_SIZE=1", "LOCAL_RANK=0"});
  EXPECT_THAT(record.err, HasSubstr("tutti: 1 rank in 2 attempts, "));
  EXPECT_THAT(Files(), ElementsAre("attempt-1/rank-00000.sqlite", "rank-00000.sqlite"));
  auto second = Open("attempt-1/rank-00000.sqlite");
  EXPECT_EQ(Number(second, "SELECT attempt FROM process"), 1);
  EXPECT_EQ(Number(second, "SELECT count(*) FROM trace_stat WHERE name = 'rank_repeated'"), 1);
}

TEST_F(RecordTest, ForkedHelpersWriteNothing) {
  const Finished record = Record({}, Train({"--fork"}), {"RANK=0", "WORLD_SIZE=1", "LOCAL_RANK=0"});
  EXPECT_EQ(record.exit_status, 0);
  EXPECT_THAT(Files(), ElementsAre("rank-00000.sqlite"));
  auto trace = Open("rank-00000.sqlite");
  EXPECT_EQ(Number(trace, "SELECT count(*) FROM v_cpu_op WHERE name LIKE 'child%'"), 0);
}

TEST_F(RecordTest, AHangIsVisible) {
  Running record = Start({}, Train({"--hang", "--ready", Path("hangs")}));
  ASSERT_TRUE(WaitFor([&] { return std::filesystem::exists(Path("hangs")); }));
  SleepMs(50);  // until the other thread is in its last collective, too
  Kill(record.pid(), SIGTERM);
  EXPECT_EQ(record.Wait().exit_status, 128 + SIGTERM);
  auto trace = Open("rank-00000.sqlite");
  EXPECT_EQ(Number(trace,
                   "SELECT count(*) FROM collective_source WHERE end_ns IS NULL AND "
                   "begin_ns IS NOT NULL AND enqueue_ns IS NOT NULL AND bytes = 4096"),
            1);
  EXPECT_EQ(Text(trace, "SELECT name FROM v_cpu_op WHERE end_ns IS NULL"),
            "waiting for all_reduce");
  EXPECT_EQ(Number(trace, "SELECT exit_status FROM process"), 128 + SIGTERM);
  EXPECT_EQ(Number(trace, "SELECT count(*) FROM trace_stat WHERE name = 'killed_by_signal'"), 1);
}

TEST_F(RecordTest, OnlyTheWantedStepsAreKept) {
  Record({"--steps", "10:13"}, Train());
  auto trace = Open("rank-00000.sqlite");
  EXPECT_EQ(Number(trace, "SELECT min(number) FROM step"), 10);
  EXPECT_EQ(Number(trace, "SELECT max(number) FROM step"), 12);
  EXPECT_EQ(Number(trace, "SELECT count(*) FROM cpu_op"), 3 * (kForwardOps + kBackwardOps));
}

TEST_F(RecordTest, OnlyTheWantedRanksAreRecorded) {
  const Finished record = Record({"--nproc", "3", "--ranks", "1-2"}, Train());
  EXPECT_EQ(record.exit_status, 0);
  EXPECT_THAT(record.err, ::testing::Not(HasSubstr("refused")));
  EXPECT_THAT(record.err, HasSubstr("tutti: 2 of 3 ranks, "));
  EXPECT_THAT(Files(), ElementsAre("rank-00001.sqlite", "rank-00002.sqlite"));
}

TEST_F(RecordTest, AFinishedRunIsOnlyReplacedOnRequest) {
  Record({}, Train());
  const Finished refused = Record({}, Train());
  EXPECT_EQ(refused.exit_status, 125);
  EXPECT_THAT(refused.err, HasSubstr("-f"));
  const Finished replaced = Record({"-f", "--steps", "0:1"}, Train());
  EXPECT_EQ(replaced.exit_status, 0);
  auto trace = Open("rank-00000.sqlite");
  EXPECT_EQ(Number(trace, "SELECT count(*) FROM step"), 1);
  EXPECT_THAT(Files(), ElementsAre("rank-00000.sqlite"));
}

TEST_F(RecordTest, AForeignDirectoryIsNeverTouched) {
  std::filesystem::create_directory(Path("run"));
  std::ofstream(Path("run/thesis.txt")) << "precious";
  EXPECT_EQ(Record({"-f"}, Train()).exit_status, 125);
  EXPECT_THAT(Files(), ElementsAre("thesis.txt"));
}

// As under srun: one recorder for each rank, one run.
TEST_F(RecordTest, RecordersOfOneJobJoinOneRun) {
  const std::string gate = Path("gate");
  const auto environment = [](int rank) {
    const std::string number = std::to_string(rank);
    return std::vector<std::string>{"RANK=" + number, "LOCAL_RANK=" + number, "WORLD_SIZE=2",
                                    "MASTER_ADDR=localhost", "MASTER_PORT=29500"};
  };
  Running first = Start({}, Train({"--wait", gate}), environment(0));
  ASSERT_TRUE(WaitFor([&] { return std::filesystem::exists(Path("run/manifest.d")); }));
  Running second = Start({}, Train({"--wait", gate}), environment(1));
  SleepMs(100);
  std::ofstream(gate) << "go";
  EXPECT_EQ(first.Wait().exit_status, 0);
  EXPECT_EQ(second.Wait().exit_status, 0);
  EXPECT_THAT(Files(), ElementsAre("rank-00000.sqlite", "rank-00001.sqlite"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(Path("run/manifest.d")), {}), 2);
  auto zero = Open("rank-00000.sqlite");
  auto one = Open("rank-00001.sqlite");
  const std::string anchor = "SELECT value FROM meta WHERE key = 'clock.anchor_realtime_ns'";
  EXPECT_EQ(Text(zero, anchor), Text(one, anchor));
  // The address may be used again by another job: its run is another one.
  EXPECT_EQ(Record({}, Train(), environment(0)).exit_status, 125);
}

TEST_F(RecordTest, CaptureStopsBeforeMaxSizeAndTheJobGoesOn) {
  const std::string progress = Path("progress");
  const Finished record = Record(
      {"--max-size", "16M"},
      {Emitter(), "sequence", "--count", "400000", "--pause-ns", "0", "--progress", progress});
  EXPECT_EQ(record.exit_status, 0);
  EXPECT_THAT(record.err, HasSubstr("--max-size is reached"));
  const auto bytes = std::filesystem::file_size(Path("run/rank-00000.sqlite"));
  EXPECT_LT(bytes, 16U << 20);
  auto trace = Open("rank-00000.sqlite");
  EXPECT_EQ(Number(trace, "SELECT count(*) FROM trace_stat WHERE name = 'max_size_reached'"), 1);
  EXPECT_GT(Number(trace, "SELECT count(*) FROM cpu_op"), 10'000);
}

}  // namespace
}  // namespace tutti::e2e
