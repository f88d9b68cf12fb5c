// Full disks and small shared memory.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <filesystem>

#include "tests/e2e/record_fixture.h"

namespace tutti::e2e {
namespace {

using ::testing::HasSubstr;

class SpaceTest : public RecordTest {
 protected:
  // Whether we may mount in a namespace of our own: root, or user namespaces are allowed.
  bool CanMount() {
    return Shell("mount -t tmpfs -o size=1m none \"$1\"", {directory_}).exit_status == 0;
  }
  // Runs a script in a mount namespace of its own; $1, $2, … are |arguments|.
  Finished Shell(const std::string& script, const std::vector<std::string>& arguments) {
    std::vector<std::string> argv{"unshare", "--mount", "--map-root-user", "sh", "-c",
                                  script,    "sh"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return Running(argv, {}, directory_).Wait();
  }
};

constexpr char kCantMount[] = "no mount namespace can be made here (unshare --mount)";

TEST_F(SpaceTest, AFullDiskCostsEventsNotTheJob) {
  if (!CanMount()) GTEST_SKIP() << kCantMount;
  std::filesystem::create_directory(Path("disk"));
  // 24 MiB of disk; the job writes about 30 MiB of events. The trace is copied out
  // before the namespace ends.
  const Finished record = Shell(
      "mount -t tmpfs -o size=24m none \"$1/disk\" && "
      "\"$2\" record -o \"$1/disk/run\" --buffer 4M -- \"$3\" sequence --count 250000 "
      "--threads 2 --pause-ns 0 --progress \"$1/progress\" --exit 5; status=$?; "
      "df -k \"$1/disk\" >&2; cp -r \"$1/disk/run\" \"$1/run\"; exit $status",
      {directory_, TUTTI_PROGRAM, Emitter()});
  EXPECT_EQ(record.exit_status, 5) << record.err;
  const Progress* progress = MapProgress(Path("progress"));
  auto trace = Open("rank-00000.sqlite");
  const int64_t kept = Number(trace, "SELECT count(*) FROM cpu_op WHERE end_ns IS NOT NULL");
  const int64_t lost =
      Number(trace,
             "SELECT coalesce(sum(count), 0) FROM trace_stat WHERE severity = 'data_loss' "
             "AND name IN ('ring_dropped', 'spool_full')");
  EXPECT_GT(kept, 20'000);
  EXPECT_GT(lost, 20'000) << record.err;
  EXPECT_EQ(kept + lost, 500'000) << record.err;
  // The tracer told the job which events it could not take.
  EXPECT_GE(static_cast<int64_t>(progress->published[0].load()), 1);
  EXPECT_EQ(Number(trace, "SELECT exit_status FROM process"), 5);
}

TEST_F(SpaceTest, AFileSizeLimitIsAFullDisk) {
  const Finished record = Running({"sh", "-c",
                                   "ulimit -f 16384;  # 8 MiB\n exec \"$2\" record -o \"$1/run\" "
                                   "--buffer 4M -- \"$3\" sequence "
                                   "--count 100000 --threads 2 --pause-ns 0 --exit 5",
                                   "sh", directory_, TUTTI_PROGRAM, Emitter()},
                                  {}, directory_)
                              .Wait();
  EXPECT_EQ(record.exit_status, 5) << record.err;
  auto trace = Open("rank-00000.sqlite");
  const int64_t kept = Number(trace, "SELECT count(*) FROM cpu_op WHERE end_ns IS NOT NULL");
  const int64_t lost =
      Number(trace, "SELECT coalesce(sum(count), 0) FROM trace_stat WHERE severity = 'data_loss'");
  EXPECT_GT(kept, 1'000);  // what the buffers hold, at least
  EXPECT_EQ(kept + lost, 200'000) << record.err;
}

TEST_F(SpaceTest, SmallSharedMemoryIsNotUsed) {
  if (!CanMount()) GTEST_SKIP() << kCantMount;
  const Finished record = Shell(
      "mount -t tmpfs -o size=64m none /dev/shm && "
      "\"$2\" record -o \"$1/run\" --buffer 128M -- \"$3\" train --steps 20",
      {directory_, TUTTI_PROGRAM, Emitter()});
  EXPECT_EQ(record.exit_status, 0) << record.err;
  auto trace = Open("rank-00000.sqlite");
  EXPECT_EQ(Number(trace, "SELECT count(*) FROM step"), 20);
}

}  // namespace
}  // namespace tutti::e2e
