#include "schema/writer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "schema/database.h"
#include "schema/reader.h"
#include "schema/testing/scratch.h"
#include "schema/trace_file.h"

namespace tutti::schema {
namespace {

using testing::Scratch;
namespace fs = std::filesystem;

CpuOpRow OpNumber(int64_t id) {
  return {.id = id, .tid = 1, .name_id = 7, .begin_ns = 100 * id, .end_ns = 100 * id + 50};
}

// What another process would see: committed rows only.
int64_t VisibleOps(const std::string& path) {
  Result<Database> database = Database::OpenReadOnly(path);
  EXPECT_TRUE(database.ok()) << database.status().message();
  return *database->QueryOne<int64_t>("SELECT count(*) FROM cpu_op");
}

std::unique_ptr<TraceWriter> MakeWriter(const std::string& path, WriterOptions options = {}) {
  Result<std::unique_ptr<TraceWriter>> writer = TraceWriter::Create(path, options);
  EXPECT_TRUE(writer.ok()) << writer.status().message();
  return writer.ok() ? std::move(writer).value() : nullptr;
}

WriterOptions Patient() {
  WriterOptions options;
  options.commit_interval = std::chrono::hours(1);
  return options;
}

TEST(TraceWriter, LeavesOnePlainFileThatSaysWhatItIs) {
  const Scratch scratch;
  const std::string path = scratch.Path("rank-00000.sqlite.part");
  const auto writer = MakeWriter(path);
  ASSERT_TRUE(writer->Append(StringRow{.id = 7, .text = "aten::addmm"}).ok());
  ASSERT_TRUE(writer->Append(OpNumber(1)).ok());
  const Status finished = writer->Finalize();
  ASSERT_TRUE(finished.ok()) << finished.message();

  EXPECT_EQ(std::distance(fs::directory_iterator(scratch.Path("")), {}), 1) << "no log, no ballast";
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  Database database = *Database::OpenReadOnly(path);
  EXPECT_EQ(*database.QueryOne<int64_t>("PRAGMA application_id"), 0x54757469);
  EXPECT_EQ(*database.QueryOne<int64_t>("PRAGMA user_version"), 2);
  EXPECT_EQ(*database.QueryOne<std::string>("PRAGMA journal_mode"), "delete");
  EXPECT_EQ(*database.QueryOne<int64_t>("PRAGMA page_size"), 16384);
  EXPECT_EQ(info.st_size, 16384 * *database.QueryOne<int64_t>("PRAGMA page_count"));
  EXPECT_EQ(*database.QueryOne<std::string>("SELECT value FROM meta WHERE key = 'file.complete'"),
            "1");
  EXPECT_EQ(ReadAll<CpuOpRow>(database)->front().end_ns, 150);
}

TEST(TraceWriter, GivesBackWhatItReserved) {
  const Scratch scratch;
  const std::string path = scratch.Path("t.sqlite");
  ASSERT_TRUE(MakeWriter(path, Patient())->Finalize().ok());
  const auto writer = *TraceWriter::Reopen(path, Patient());
  ASSERT_TRUE(writer->Append(OpNumber(1)).ok());
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_EQ(fs::file_size(path) % (1 << 20), 0u) << "reserved in chunks";
  ASSERT_TRUE(writer->Finalize().ok());
  Database database = *Database::OpenReadOnly(path);
  EXPECT_EQ(fs::file_size(path), 16384 * *database.QueryOne<int64_t>("PRAGMA page_count"));
}

TEST(TraceWriter, CommitsAtTheRowLimitWithoutBeingAsked) {
  const Scratch scratch;
  const std::string path = scratch.Path("t.sqlite");
  const auto writer = MakeWriter(path, Patient());
  for (int64_t id = 0; id < 49'999; ++id) ASSERT_TRUE(writer->Append(OpNumber(id)).ok());
  EXPECT_EQ(VisibleOps(path), 0);
  ASSERT_TRUE(writer->Append(OpNumber(49'999)).ok());
  EXPECT_EQ(VisibleOps(path), 50'000);
  EXPECT_EQ(writer->committed_rows(), 50'000);
}

TEST(TraceWriter, TellsEventsFromWhatDescribesThem) {
  const Scratch scratch;
  Result<std::unique_ptr<TraceWriter>> writer = TraceWriter::Create(scratch.Path("t.sqlite"));
  ASSERT_TRUE(writer.ok());
  for (int64_t i = 0; i < 3; ++i) ASSERT_TRUE((*writer)->Append(OpNumber(i)).ok());
  ASSERT_TRUE((*writer)->Append(OpNumber(2)).ok());  // its id is taken
  ASSERT_TRUE((*writer)->Append(MetaRow{"tutti.version", "x"}).ok());
  ASSERT_TRUE((*writer)->Finalize().ok());
  EXPECT_EQ((*writer)->committed_events(), 3);
  EXPECT_EQ((*writer)->rejected_rows(), 1);
}

TEST(TraceWriter, CommitsWhatWaitedForTheInterval) {
  const Scratch scratch;
  const std::string path = scratch.Path("t.sqlite");
  WriterOptions options;
  options.commit_interval = std::chrono::milliseconds(20);
  const auto writer = MakeWriter(path, options);
  ASSERT_TRUE(writer->Append(OpNumber(1)).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  ASSERT_TRUE(writer->MaybeCommit().ok());
  EXPECT_EQ(VisibleOps(path), 1);
}

TEST(TraceWriter, CommitsWhenManyBytesWait) {
  const Scratch scratch;
  const std::string path = scratch.Path("t.sqlite");
  WriterOptions options = Patient();
  options.commit_bytes = 1 << 20;
  const auto writer = MakeWriter(path, options);
  ASSERT_TRUE(writer->Append(OpNumber(1)).ok());
  ASSERT_TRUE(writer->Append(StringRow{.id = 1, .text = std::string(1 << 20, 'x')}).ok());
  EXPECT_EQ(VisibleOps(path), 1);
}

TEST(TraceWriter, RefusesToOverwrite) {
  const Scratch scratch;
  const std::string path = scratch.Path("t.sqlite");
  ASSERT_NE(MakeWriter(path), nullptr);
  const Status again = TraceWriter::Create(path).status();
  EXPECT_EQ(again.code(), StatusCode::kIo);
  EXPECT_NE(again.message().find(path), std::string::npos) << again.message();
}

TEST(TraceWriter, ALaterRowAboutTheSameThreadReplacesTheEarlier) {
  const Scratch scratch;
  const auto writer = MakeWriter(scratch.Path("t.sqlite"));
  ASSERT_TRUE(writer->Append(ThreadRow{.tid = 5, .kernel_tid = 5}).ok());
  ASSERT_TRUE(writer->Commit().ok());
  ASSERT_TRUE(writer->Append(ThreadRow{.tid = 5, .kernel_tid = 5, .name = "autograd"}).ok());
  ASSERT_TRUE(writer->Finalize().ok());
  Database database = *Database::OpenReadOnly(scratch.Path("t.sqlite"));
  const std::vector<ThreadRow> threads = *ReadAll<ThreadRow>(database);
  ASSERT_EQ(threads.size(), 1u);
  EXPECT_EQ(threads[0].name, "autograd");
}

TEST(TraceWriter, CountsRowsThatBreakAConstraintAndKeepsTheOthers) {
  const Scratch scratch;
  const auto writer = MakeWriter(scratch.Path("t.sqlite"));
  ASSERT_TRUE(writer->Append(OpNumber(1)).ok());
  ASSERT_TRUE(writer->Append(OpNumber(1)).ok());
  ASSERT_TRUE(writer->Append(OpNumber(2)).ok());
  ASSERT_TRUE(writer->Finalize().ok());
  EXPECT_EQ(writer->rejected_rows(), 1);
  Database database = *Database::OpenReadOnly(scratch.Path("t.sqlite"));
  EXPECT_EQ(ReadAll<CpuOpRow>(database)->size(), 2u);
  const std::vector<TraceStatRow> stats = *ReadAll<TraceStatRow>(database);
  ASSERT_EQ(stats.size(), 1u);
  EXPECT_EQ(stats[0].name, "row_rejected");
  EXPECT_EQ(stats[0].count, 1);
  EXPECT_NE(stats[0].detail.find("cpu_op"), std::string::npos);
}

TEST(TraceWriter, StoresTextThatIsNotUtf8WithReplacements) {
  const Scratch scratch;
  const auto writer = MakeWriter(scratch.Path("t.sqlite"));
  ASSERT_TRUE(writer->Append(StringRow{.id = 1, .text = "bad\xFF"}).ok());
  ASSERT_TRUE(writer->Finalize().ok());
  Database database = *Database::OpenReadOnly(scratch.Path("t.sqlite"));
  EXPECT_EQ(ReadAll<StringRow>(database)->front().text, "bad\uFFFD");
}

// A killed writer's file and log, copied to where nobody made shared memory for them.
TEST(TraceWriter, AnUnfinishedFileCanBeReadWithoutItsSharedMemory) {
  const Scratch scratch;
  const std::string path = scratch.Path("t.sqlite.part");
  const auto writer = MakeWriter(path);
  ASSERT_TRUE(writer->Append(OpNumber(1)).ok());
  ASSERT_TRUE(writer->Commit().ok());
  ASSERT_GT(fs::file_size(path + "-wal"), 0u);
  const Scratch copy;
  const std::string copied = copy.Path("t.sqlite.part");
  fs::copy(path, copied);
  fs::copy(path + "-wal", copied + "-wal");
  EXPECT_EQ(VisibleOps(copied), 1);
  EXPECT_GT(fs::file_size(copied + "-wal"), 0u) << "reading it must change nothing";
  // What a full disk leaves (no byte of shared memory could be written).
  fs::remove(copied + "-shm");
  std::ofstream(copied + "-shm").close();
  EXPECT_EQ(VisibleOps(copied), 1);
}

TEST(TraceWriter, GoesOnWithAFileThatWasLeftUnfinished) {
  const Scratch scratch;
  const std::string path = scratch.Path("rank-00000.sqlite.part");
  {
    const auto writer = *TraceWriter::Create(path);
    ASSERT_TRUE(writer->Append(StringRow{.id = 1, .text = "first"}).ok());
    ASSERT_TRUE(writer->Commit().ok());
  }
  {
    const auto writer = *TraceWriter::Reopen(path);
    ASSERT_TRUE(writer->Append(StringRow{.id = 2, .text = "second"}).ok());
    ASSERT_TRUE(writer->Finalize().ok());
  }
  Database database = *OpenRankFile(path);
  EXPECT_EQ(*database.QueryOne<std::string>("SELECT group_concat(text) FROM string"),
            "first,second");
}

TEST(TraceWriter, FinishesWhileSomebodyReads) {
  const Scratch scratch;
  const std::string path = scratch.Path("t.sqlite.part");
  const auto writer = MakeWriter(path);
  ASSERT_TRUE(writer->Append(OpNumber(1)).ok());
  ASSERT_TRUE(writer->Commit().ok());
  Database reader = *Database::OpenReadOnly(path);
  EXPECT_EQ(*reader.QueryOne<int64_t>("SELECT count(*) FROM cpu_op"), 1);
  ASSERT_TRUE(writer->Append(OpNumber(2)).ok());
  const Status finished = writer->Finalize();
  ASSERT_TRUE(finished.ok()) << finished.message();
  fs::rename(path, scratch.Path("t.sqlite"));
  EXPECT_EQ(*reader.QueryOne<int64_t>("SELECT count(*) FROM cpu_op"), 2);
  EXPECT_EQ(VisibleOps(scratch.Path("t.sqlite")), 2);
}

TEST(TraceWriter, AnAbandonedWriterLeavesWhatItCommitted) {
  const Scratch scratch;
  const std::string path = scratch.Path("t.sqlite.part");
  {
    const auto writer = MakeWriter(path);
    ASSERT_TRUE(writer->Append(OpNumber(1)).ok());
    ASSERT_TRUE(writer->Commit().ok());
    ASSERT_TRUE(writer->Append(OpNumber(2)).ok());
  }
  EXPECT_EQ(VisibleOps(path), 1);
  EXPECT_FALSE(fs::exists(path + ".ballast"));
  Database database = *Database::OpenReadOnly(path);
  EXPECT_EQ(*database.QueryOne<int64_t>("SELECT count(*) FROM meta WHERE key = 'file.complete'"),
            0);
}

}  // namespace
}  // namespace tutti::schema
