#include "schema/background_writer.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <iterator>
#include <string>

#include "schema/database.h"
#include "schema/testing/fault_vfs.h"
#include "schema/testing/scratch.h"

namespace tutti::schema {
namespace {

using testing::Scratch;

constexpr int64_t kRows = 60'000;  // several batches and a part of one

CpuOpRow OpNumber(int64_t id) {
  return {.id = id, .tid = 1, .name_id = 7, .begin_ns = 100 * id, .end_ns = 100 * id + 50};
}

// Commits by number of rows only, so that files can be compared.
WriterOptions Patient() {
  WriterOptions options;
  options.commit_interval = std::chrono::hours(1);
  return options;
}

std::unique_ptr<BackgroundWriter> Make(const std::string& path, const WriterOptions& options) {
  return std::make_unique<BackgroundWriter>(*TraceWriter::Create(path, options));
}

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <typename Writer>
void WriteOps(Writer& writer) {
  ASSERT_TRUE(writer.Append(StringRow{.id = 7, .text = "aten::addmm"}).ok());
  for (int64_t id = 0; id < kRows; ++id) ASSERT_TRUE(writer.Append(OpNumber(id)).ok());
  ASSERT_TRUE(writer.Finalize().ok());
}

TEST(BackgroundWriter, WritesTheSameFileAsAWriterInTheForeground) {
  const Scratch scratch;
  WriteOps(**TraceWriter::Create(scratch.Path("front"), Patient()));
  WriteOps(*Make(scratch.Path("back"), Patient()));
  EXPECT_EQ(Contents(scratch.Path("front")), Contents(scratch.Path("back")));
}

TEST(BackgroundWriter, ShowsAllRowsOnceTheyAreCommitted) {
  const Scratch scratch;
  const auto writer = Make(scratch.Path("a"), Patient());
  for (int64_t rows = 0; rows < 3; ++rows) {
    for (int64_t id = 0; id < 20'000; ++id) {
      ASSERT_TRUE(writer->Append(OpNumber(rows * 20'000 + id)).ok());
    }
    ASSERT_TRUE(writer->Commit().ok());
    Database database = *Database::OpenReadOnly(scratch.Path("a"));
    EXPECT_EQ(*database.QueryOne<int64_t>("SELECT count(*) FROM cpu_op"), (rows + 1) * 20'000);
  }
}

TEST(BackgroundWriter, TellsThatTheDiskIsFullAndCountsWhatIsLost) {
  const Scratch scratch;
  WriterOptions options;
  options.vfs = testing::kFaultVfs;
  options.commit_interval = std::chrono::milliseconds(0);
  options.waiting_rows = 1'000;
  testing::SetFaultPlan({});
  const auto writer = Make(scratch.Path("a"), options);
  testing::SetFaultPlan({.fail_call = 100, .keep_failing = true, .error = SQLITE_FULL});
  bool was_told = false;
  for (int64_t id = 0; id < kRows; ++id) {
    was_told = !writer->Append(OpNumber(id)).ok() || was_told;
  }
  EXPECT_FALSE(writer->Commit().ok());
  testing::SetFaultPlan({});
  EXPECT_TRUE(was_told);
  ASSERT_TRUE(writer->Finalize().ok());
  EXPECT_GT(writer->lost_rows(), 0);
  Database database = *Database::OpenReadOnly(scratch.Path("a"));
  EXPECT_EQ(*database.QueryOne<int64_t>("SELECT count(*) FROM cpu_op") + writer->lost_rows(),
            kRows);
}

TEST(BackgroundWriter, CanBeGivenUpAtAnyTime) {
  const Scratch scratch;
  for (const int64_t rows : {0, 1, 10'000, 50'000}) {
    const auto writer = Make(scratch.Path(std::to_string(rows)), Patient());
    for (int64_t id = 0; id < rows; ++id) (void)writer->Append(OpNumber(id)).ok();
  }
}

}  // namespace
}  // namespace tutti::schema
