// The writer on a disk that fails or is full: the file always opens, what was committed
// is always there, and what is missing is counted exactly.
#include <gtest/gtest.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "schema/reader.h"
#include "schema/testing/fault_vfs.h"
#include "schema/testing/scratch.h"
#include "schema/trace_file.h"
#include "schema/writer.h"

namespace tutti::schema {
namespace {

using testing::FaultPlan;
using testing::FaultsInjected;
using testing::Scratch;
using testing::SetFaultPlan;

constexpr int kNotAllowed = 77;

WriterOptions FaultyOptions() {
  WriterOptions options;
  options.vfs = testing::kFaultVfs;
  options.commit_interval = std::chrono::milliseconds(0);  // every 256 rows; retried at once
  options.ballast_bytes = 256 << 10;
  return options;
}

CpuOpRow OpNumber(int64_t id) {
  return {.id = id, .tid = 1, .begin_ns = 10 * id, .end_ns = 10 * id + 5};
}

struct Outcome {
  bool created = false;
  bool finalized = false;
  int64_t acknowledged = 0;  // rows of cpu_op that a commit reported as written
  int64_t appended = 0;
  int64_t lost = 0;
};

// Five commits of 300 operators and a string each, then the end.
Outcome WriteTrace(const std::string& path) {
  Outcome outcome;
  Result<std::unique_ptr<TraceWriter>> writer = TraceWriter::Create(path, FaultyOptions());
  outcome.created = writer.ok();
  if (!writer.ok()) return outcome;
  for (int64_t commit = 0; commit < 5; ++commit) {
    (void)(*writer)->Append(StringRow{.id = commit, .text = "operator " + std::to_string(commit)});
    for (int64_t i = 0; i < 300; ++i) (void)(*writer)->Append(OpNumber(outcome.appended++));
    if ((*writer)->Commit().ok()) outcome.acknowledged = outcome.appended;
  }
  outcome.finalized = (*writer)->Finalize().ok();
  outcome.lost = (*writer)->lost_rows();
  return outcome;
}

void ExpectAllAcknowledgedRows(const std::string& path, const Outcome& outcome) {
  Result<Database> database = OpenRankFile(path);
  ASSERT_TRUE(database.ok()) << database.status().message();
  int64_t next = 0;
  ASSERT_TRUE(ForEach<CpuOpRow>(*database, "ORDER BY id", [&](const CpuOpRow& op) {
                EXPECT_EQ(op.id, next++);
              }).ok());
  EXPECT_GE(next, outcome.acknowledged);
  if (outcome.finalized) {
    EXPECT_EQ(next + outcome.lost, outcome.appended);
    EXPECT_FALSE(std::filesystem::exists(path + "-wal"));
  }
}

struct Failure {
  int error;
  bool keep_failing;
};

class EachCallFailing : public ::testing::TestWithParam<Failure> {};

TEST_P(EachCallFailing, LosesNothingThatWasCommitted) {
  int64_t call = 1;
  int64_t created = 0;
  int64_t finalized = 0;
  for (;; ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    const Scratch scratch;
    const std::string path = scratch.Path("t.sqlite");
    SetFaultPlan(
        {.fail_call = call, .keep_failing = GetParam().keep_failing, .error = GetParam().error});
    const Outcome outcome = WriteTrace(path);
    const bool failed = FaultsInjected() > 0;
    SetFaultPlan({});
    if (!failed) break;  // the whole trace takes fewer calls
    created += outcome.created ? 1 : 0;
    finalized += outcome.finalized ? 1 : 0;
    if (outcome.created) ExpectAllAcknowledgedRows(path, outcome);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(created, 20) << "faults must have reached every part of the work";
  // One failure is got over wherever it happens; a disk that stays broken is not.
  EXPECT_EQ(finalized, GetParam().keep_failing ? 0 : created);
}

INSTANTIATE_TEST_SUITE_P(Faults, EachCallFailing,
                         ::testing::Values(Failure{SQLITE_FULL, false}, Failure{SQLITE_FULL, true},
                                           Failure{SQLITE_IOERR_WRITE, false},
                                           Failure{SQLITE_IOERR_WRITE, true}));

// Rows present and rows counted as lost are together those that were appended, and the
// file says from when to when.
void ExpectExactLoss(const std::string& path, int64_t appended, int64_t lost) {
  Result<Database> database = OpenRankFile(path);
  ASSERT_TRUE(database.ok()) << database.status().message();
  const int64_t present = *database->QueryOne<int64_t>("SELECT count(*) FROM cpu_op");
  EXPECT_EQ(present + lost, appended);
  const std::vector<TraceStatRow> stats =
      *ReadAll<TraceStatRow>(*database, "WHERE name = 'disk_full'");
  ASSERT_EQ(stats.size(), 1u);
  EXPECT_EQ(stats[0].severity, "data_loss");
  EXPECT_EQ(stats[0].count, lost);
  int64_t first_missing = 0;
  int64_t last_missing = 0;
  std::vector<bool> there(static_cast<size_t>(appended), false);
  ASSERT_TRUE(ForEach<CpuOpRow>(*database, "", [&](const CpuOpRow& op) {
                there[static_cast<size_t>(op.id)] = true;
              }).ok());
  for (int64_t id = appended; id-- > 0;) {
    if (!there[static_cast<size_t>(id)]) first_missing = id;
  }
  for (int64_t id = 0; id < appended; ++id) {
    if (!there[static_cast<size_t>(id)]) last_missing = id;
  }
  EXPECT_EQ(stats[0].begin_ns, 10 * first_missing);
  EXPECT_EQ(stats[0].end_ns, 10 * last_missing + 5);
}

WriterOptions SmallBatches() {
  WriterOptions options = FaultyOptions();
  options.commit_interval = std::chrono::milliseconds(2);
  options.commit_rows = 2'000;
  options.waiting_rows = 6'000;
  return options;
}

TEST(FullDisk, TheFileIsFinishedAndSaysWhatIsMissing) {
  const Scratch scratch;
  const std::string path = scratch.Path("t.sqlite");
  SetFaultPlan({.folder = scratch.Path(""), .quota_bytes = 6 << 20});
  std::unique_ptr<TraceWriter> writer = *TraceWriter::Create(path, SmallBatches());
  bool told = false;
  for (int64_t id = 0; id < 200'000; ++id) told |= !writer->Append(OpNumber(id)).ok();
  EXPECT_TRUE(told);
  const Status finished = writer->Finalize();
  EXPECT_TRUE(finished.ok()) << finished.message();
  EXPECT_GT(writer->lost_rows(), 0);
  EXPECT_LT(writer->lost_rows(), 190'000) << "it must have written while there was room";
  SetFaultPlan({});
  ExpectExactLoss(path, 200'000, writer->lost_rows());
}

TEST(FullDisk, WritingGoesOnWhenThereIsRoomAgain) {
  const Scratch scratch;
  const std::string path = scratch.Path("t.sqlite");
  SetFaultPlan({.folder = scratch.Path(""), .quota_bytes = 6 << 20});
  std::unique_ptr<TraceWriter> writer = *TraceWriter::Create(path, SmallBatches());
  for (int64_t id = 0; id < 200'000; ++id) (void)writer->Append(OpNumber(id));
  const int64_t lost = writer->lost_rows();
  SetFaultPlan({});
  std::this_thread::sleep_for(SmallBatches().commit_interval);  // then it tries again
  for (int64_t id = 200'000; id < 250'000; ++id) {
    ASSERT_TRUE(writer->Append(OpNumber(id)).ok()) << id;
  }
  ASSERT_TRUE(writer->Finalize().ok());
  EXPECT_EQ(writer->lost_rows(), lost);
  ExpectExactLoss(path, 250'000, lost);
}

TEST(FullDisk, ALossIsInTheFileAtOnce) {
  const Scratch scratch;
  const std::string path = scratch.Path("t.sqlite");
  SetFaultPlan({.folder = scratch.Path(""), .quota_bytes = 6 << 20});
  std::unique_ptr<TraceWriter> writer = *TraceWriter::Create(path, SmallBatches());
  for (int64_t id = 0; writer->lost_rows() == 0; ++id) (void)writer->Append(OpNumber(id));
  Database database = *OpenRankFile(path);  // what a kill here would leave
  EXPECT_EQ(ReadAll<TraceStatRow>(database, "WHERE name = 'disk_full'")->size(), 1u);
  SetFaultPlan({});
}

// A mount namespace of this process's own: as root, or in a user namespace where that is
// allowed to everybody.
bool EnterMountNamespace() {
  const std::string user = "0 " + std::to_string(getuid()) + " 1";
  const std::string group = "0 " + std::to_string(getgid()) + " 1";
  if (unshare(CLONE_NEWNS) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << user;
    std::ofstream("/proc/self/gid_map") << group;
  }
  return mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

// The same on a real file system of 8 MiB, in a namespace of its own. With a short interval the
// writer tries again so often that the last page is taken when it is to finish.
void WriteOnSmallTmpfs(const std::string& folder, std::chrono::milliseconds commit_interval) {
  if (!EnterMountNamespace()) _exit(kNotAllowed);
  if (mount("tutti", folder.c_str(), "tmpfs", 0, "size=8m") != 0) _exit(kNotAllowed);
  const std::string path = folder + "/t.sqlite";
  WriterOptions options;
  options.commit_rows = 5'000;
  options.waiting_rows = 10'000;
  options.commit_interval = commit_interval;
  Result<std::unique_ptr<TraceWriter>> writer = TraceWriter::Create(path, options);
  if (!writer.ok()) _exit(1);
  for (int64_t id = 0; id < 300'000; ++id) (void)(*writer)->Append(OpNumber(id));
  const Status finished = (*writer)->Finalize();
  if (!finished.ok()) {
    std::fprintf(stderr, "%s\n", finished.message().c_str());
    _exit(2);
  }
  const int64_t lost = (*writer)->lost_rows();
  if (lost == 0 || lost > 290'000) _exit(3);
  ExpectExactLoss(path, 300'000, lost);
  _exit(::testing::Test::HasFailure() ? 4 : 0);
}

class FullDiskAfter : public ::testing::TestWithParam<std::chrono::milliseconds> {};

TEST_P(FullDiskAfter, ARealOneCostsOnlyWhatTheFileSays) {
  const Scratch scratch;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) WriteOnSmallTmpfs(scratch.Path(""), GetParam());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  if (WEXITSTATUS(status) == kNotAllowed) GTEST_SKIP() << "a file system can't be mounted here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

INSTANTIATE_TEST_SUITE_P(Intervals, FullDiskAfter,
                         ::testing::Values(std::chrono::milliseconds(250),
                                           std::chrono::milliseconds(20),
                                           std::chrono::milliseconds(5)),
                         [](const auto& interval) {
                           return std::to_string(interval.param.count()) + "ms";
                         });

}  // namespace
}  // namespace tutti::schema
