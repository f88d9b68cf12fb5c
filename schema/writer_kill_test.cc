// SIGKILL of a writing process at random moments: the file opens, and every row whose
// commit was reported is in it.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <string>

#include "schema/reader.h"
#include "schema/testing/scratch.h"
#include "schema/trace_file.h"
#include "schema/writer.h"

namespace tutti::schema {
namespace {

// Writes until it is killed; tells through `committed` what commits were reported.
[[noreturn]] void WriteForever(const std::string& path, std::atomic<int64_t>& committed) {
  WriterOptions options;
  options.commit_rows = 500;
  Result<std::unique_ptr<TraceWriter>> writer = TraceWriter::Create(path, options);
  if (!writer.ok()) _exit(1);
  for (int64_t id = 0;; ++id) {
    const CpuOpRow row{.id = id, .tid = 1, .name_id = id % 50, .begin_ns = id, .end_ns = id + 1};
    if (!(*writer)->Append(row).ok()) _exit(2);
    committed.store((*writer)->committed_rows());
  }
}

TEST(KilledWriter, LosesNoCommittedRow) {
  void* shared = mmap(nullptr, sizeof(std::atomic<int64_t>), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* committed = new (shared) std::atomic<int64_t>(0);
  std::mt19937 random(20261130);
  int64_t total = 0;
  for (int kill_number = 0; kill_number < 50; ++kill_number) {
    const testing::Scratch scratch;
    const std::string path = scratch.Path("rank-00000.sqlite.part");
    committed->store(0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) WriteForever(path, *committed);
    while (committed->load() == 0) usleep(500);
    usleep(static_cast<useconds_t>(random() % 40'000));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;

    Result<Database> database = OpenRankFile(path);  // checks every page
    ASSERT_TRUE(database.ok()) << database.status().message();
    int64_t next = 0;
    ASSERT_TRUE(ForEach<CpuOpRow>(*database, "ORDER BY id", [&](const CpuOpRow& op) {
                  ASSERT_EQ(op.id, next++);
                }).ok());
    EXPECT_GE(next, committed->load());
    EXPECT_LE(next, committed->load() + 500) << "at most the commit in flight";
    total += next;
  }
  EXPECT_GT(total, 50'000);
  munmap(shared, sizeof(std::atomic<int64_t>));
}

}  // namespace
}  // namespace tutti::schema
