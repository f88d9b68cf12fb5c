#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "collector/counters/process_sampler.h"
#include "collector/os/files.h"
#include "collector/os/proc.h"
#include "collector/testing/spool_builder.h"

namespace tutti::collector::os {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;

TEST(ParseProcessStat, CommandsMayHoldAnything) {
  const auto stat = ParseProcessStat(
      "42 (a) b (c) S 7 42 42 0 -1 4194304 11 22 33 44 55 66 77 88 20 0 3 0 999 1000 250 0\n");
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->pid, 42);
  EXPECT_EQ(stat->parent_pid, 7);
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->minor_faults, 11U);
  EXPECT_EQ(stat->major_faults, 33U);
  EXPECT_EQ(stat->user_ticks, 55U);
  EXPECT_EQ(stat->system_ticks, 66U);
  EXPECT_EQ(stat->start_ticks, 999U);
  EXPECT_EQ(stat->resident_pages, 250U);
  for (const char* bad : {"", "x", "42", "42 (a", ") 42 (", "42 (a) S", "x (a) S 1 2 3"}) {
    EXPECT_FALSE(ParseProcessStat(bad).has_value()) << bad;
  }
}

TEST(Proc, KnowsOurselves) {
  const auto stat = ReadProcessStat(::getpid());
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->parent_pid, ::getppid());
  EXPECT_THAT(ListThreads(::getpid()), Contains(::gettid()));
  EXPECT_EQ(InnermostThreadId(::getpid(), ::gettid()), ::gettid());
  EXPECT_FALSE(ReadProcessStat(0x7fffffff).has_value());
  EXPECT_EQ(BootId().size(), 36U);
  EXPECT_FALSE(HostName().empty());
}

TEST(Proc, AncestorsAreRecognisedByIdAndStart) {
  const uint64_t start = ReadProcessStat(::getpid())->start_ticks;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char unused;
    (void)!::read(ends[0], &unused, 1);
    ::_exit(0);
  }
  EXPECT_TRUE(IsAncestor(::getpid(), start, child));
  EXPECT_TRUE(IsAncestor(::getppid(), ReadProcessStat(::getppid())->start_ticks, child));
  EXPECT_FALSE(IsAncestor(::getpid(), start + 1, child));
  EXPECT_FALSE(IsAncestor(child, 1, ::getpid()));
  EXPECT_FALSE(IsAncestor(::getpid(), start, ::getpid()));  // not one's own
  (void)!::write(ends[1], "x", 1);
  ::waitpid(child, nullptr, 0);
}

TEST(Proc, NumbersAreFoundByTheirWholeName) {
  constexpr char kText[] = "nonvoluntary_ctxt_switches:\t5\nvoluntary_ctxt_switches:\t7\nX: y\n";
  EXPECT_EQ(NumberAfter(kText, "voluntary_ctxt_switches"), 7U);
  EXPECT_EQ(NumberAfter(kText, "nonvoluntary_ctxt_switches"), 5U);
  EXPECT_EQ(NumberAfter(kText, "switches"), std::nullopt);
  EXPECT_EQ(NumberAfter(kText, "X"), std::nullopt);
}

class FilesTest : public ::testing::Test {
 protected:
  FilesTest() : fd_(std::move(*OpenDirectory(directory_.path()))) {}
  std::string Path(const char* name) const { return directory_.path() + "/" + name; }
  std::string Read(const char* name) const { return *ReadSmallFile(Path(name)); }
  testing::TemporaryDirectory directory_;
  FileDescriptor fd_;
};

TEST_F(FilesTest, ExclusiveMeansThatNothingHasTheName) {
  EXPECT_TRUE(CreateExclusive(fd_.get(), "a").ok());
  EXPECT_FALSE(CreateExclusive(fd_.get(), "a").ok());
  fs::create_symlink("/nowhere", Path("link"));
  EXPECT_FALSE(CreateExclusive(fd_.get(), "link").ok());
  struct stat info;
  ASSERT_EQ(::stat(Path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(FilesTest, AtomicWritesReplaceAndLeaveNothingBeside) {
  ASSERT_TRUE(WriteFileAtomically(fd_.get(), "a", "one").ok());
  ASSERT_TRUE(WriteFileAtomically(fd_.get(), "a", "two").ok());
  EXPECT_EQ(Read("a"), "two");
  EXPECT_THAT(ListDirectory(directory_.path()), ElementsAre("a"));
}

TEST_F(FilesTest, RenamingNeverReplaces) {
  ASSERT_TRUE(WriteFileAtomically(fd_.get(), "a", "one").ok());
  ASSERT_TRUE(WriteFileAtomically(fd_.get(), "b", "two").ok());
  EXPECT_FALSE(RenameNoReplace(fd_.get(), "a", "b").ok());
  EXPECT_EQ(Read("b"), "two");
  EXPECT_TRUE(RenameNoReplace(fd_.get(), "a", "c").ok());
  EXPECT_EQ(Read("c"), "one");
}

TEST_F(FilesTest, ATreeIsRemovedWithoutFollowingLinks) {
  fs::create_directories(Path("outside"));
  std::ofstream(Path("outside/kept")) << "x";
  fs::create_directories(Path("tree/deep/er"));
  fs::create_directory_symlink(Path("outside"), Path("tree/deep/link"));
  std::ofstream(Path("tree/file")) << "x";
  RemoveTree(Path("tree"));
  EXPECT_FALSE(fs::exists(Path("tree")));
  EXPECT_TRUE(fs::exists(Path("outside/kept")));
}

TEST_F(FilesTest, ReadingStopsAtTheLimit) {
  std::ofstream(Path("a")) << std::string(10'000, 'x');
  EXPECT_EQ(ReadSmallFile(Path("a"), 5'000)->size(), 5'000U);
  EXPECT_EQ(ReadSmallFile(Path("a"))->size(), 10'000U);
  EXPECT_FALSE(ReadSmallFile(Path("none")).ok());
}

TEST_F(FilesTest, DirectoriesAreOpenedOnlyIfTheyAreNoLinks) {
  fs::create_directory_symlink("/tmp", Path("link"));
  EXPECT_FALSE(OpenDirectory(Path("link")).ok());
  EXPECT_TRUE(MakeDirectories(Path("x/y/z")).ok());
  EXPECT_TRUE(MakeDirectories(Path("x/y/z")).ok());
  EXPECT_TRUE(OpenDirectory(Path("x/y/z")).ok());
}

TEST(RandomHex, IsLongAndDiffers) {
  EXPECT_EQ(RandomHex(16).size(), 32U);
  EXPECT_NE(RandomHex(16), RandomHex(16));
}

}  // namespace
}  // namespace tutti::collector::os

namespace tutti::collector::counters {
namespace {

TEST(ParseNetDev, LoopbackIsApart) {
  const NetworkBytes bytes = ParseNetDev(
      "Inter-|   Receive                            |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
      "    lo: 1000 5 0 0 0 0 0 0 1000 5 0 0 0 0 0 0\n"
      "  eth0:2000 5 0 0 0 0 0 0 300 5 0 0 0 0 0 0\n"
      " wlan0: 40 5 0 0 0 0 0 0 7 5 0 0 0 0 0 0\n");
  EXPECT_EQ(bytes.loopback, 1000);
  EXPECT_EQ(bytes.receive, 2040);
  EXPECT_EQ(bytes.transmit, 307);
}

TEST(ProcessSampler, SeesOurOwnWork) {
  ProcessSampler sampler(::getpid(), ::sysconf(_SC_CLK_TCK));
  const auto first = sampler.Read();
  ASSERT_TRUE(first.has_value());
  EXPECT_GT(first->resident_bytes, 0);
  EXPECT_GE(first->threads, 1);
  std::vector<char> touched(64 << 20, 1);
  const auto second = sampler.Read();
  EXPECT_GE(second->resident_bytes, first->resident_bytes + (50 << 20));
  EXPECT_GE(second->cpu_user_ns + second->cpu_system_ns, first->cpu_user_ns + first->cpu_system_ns);
  EXPECT_GE(second->minor_faults, first->minor_faults);
  EXPECT_GT(touched[12345], 0);
  EXPECT_FALSE(ProcessSampler(0x7fffffff, 100).Read().has_value());
}

// Threads that end take their counts with them; the sum must not fall.
TEST(ProcessSampler, SwitchesNeverDecrease) {
  ProcessSampler sampler(::getpid(), ::sysconf(_SC_CLK_TCK));
  std::thread thread([] {
    for (int i = 0; i < 50; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  const auto during = sampler.Read();
  thread.join();
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // it reads once a second
  const auto after = sampler.Read();
  ASSERT_TRUE(during && after);
  EXPECT_GT(during->voluntary_switches, 0);
  EXPECT_GE(after->voluntary_switches, during->voluntary_switches);
}

}  // namespace
}  // namespace tutti::collector::counters
