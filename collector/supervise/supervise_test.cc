#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

#include "collector/supervise/child.h"
#include "collector/supervise/environment.h"
#include "collector/testing/spool_builder.h"

namespace tutti::collector::supervise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Environment, TheTracerComesBeforeTheUsersPreload) {
  Environment environment{"LD_PRELOAD=libjemalloc.so:x.so", "A=b"};
  EXPECT_THAT(AddTracer(environment, "/t.so", "/s:00"), IsEmpty());
  EXPECT_STREQ(ValueOf(environment, "LD_PRELOAD"), "/t.so:libjemalloc.so:x.so");
  EXPECT_STREQ(ValueOf(environment, "TUTTI_SESSION"), "/s:00");
  EXPECT_STREQ(ValueOf(environment, "NVTX_INJECTION64_PATH"), "/t.so");
  EXPECT_STREQ(ValueOf(environment, "CUDA_INJECTION64_PATH"), "/t.so");
  EXPECT_STREQ(ValueOf(environment, "NCCL_PROFILER_PLUGIN"), "/t.so");
  EXPECT_STREQ(ValueOf(environment, "A"), "b");
}

TEST(Environment, WhatTheUserSetStays) {
  Environment environment{"CUDA_INJECTION64_PATH=/other.so", "NCCL_PROFILER_PLUGIN=none",
                          "LD_PRELOAD="};
  EXPECT_THAT(AddTracer(environment, "/t.so", "/s:00"), ElementsAre("CUDA_INJECTION64_PATH"));
  EXPECT_STREQ(ValueOf(environment, "CUDA_INJECTION64_PATH"), "/other.so");
  EXPECT_STREQ(ValueOf(environment, "NCCL_PROFILER_PLUGIN"), "none");
  EXPECT_STREQ(ValueOf(environment, "LD_PRELOAD"), "/t.so");
}

TEST(Environment, APathThatNcclWouldCutIsNotGivenToIt) {
  Environment environment;
  AddTracer(environment, "/" + std::string(300, 'x') + ".so", "/s:00");
  EXPECT_EQ(ValueOf(environment, "NCCL_PROFILER_PLUGIN"), nullptr);
}

TEST(Environment, LocalRanksReplaceWhatAPodSet) {
  Environment environment{"RANK=3", "WORLD_SIZE=4", "OMP_NUM_THREADS=6"};
  AddLocalRank(environment, {1, 2, 29501, "id"});
  EXPECT_STREQ(ValueOf(environment, "RANK"), "1");
  EXPECT_STREQ(ValueOf(environment, "WORLD_SIZE"), "2");
  EXPECT_STREQ(ValueOf(environment, "MASTER_PORT"), "29501");
  EXPECT_STREQ(ValueOf(environment, "OMP_NUM_THREADS"), "6");
  Environment single;
  AddLocalRank(single, {0, 1, 1, "id"});
  EXPECT_EQ(ValueOf(single, "OMP_NUM_THREADS"), nullptr);
}

TEST(Environment, NamesAreComparedWhole) {
  Environment environment{"RANKS=9"};
  EXPECT_EQ(ValueOf(environment, "RANK"), nullptr);
  Set(environment, "RANK", "1");
  EXPECT_THAT(environment, ElementsAre("RANKS=9", "RANK=1"));
}

TEST(Environment, AFreePortIsOne) {
  const uint16_t port = FreeLoopbackPort();
  EXPECT_GT(port, 1023);
}

class ChildTest : public ::testing::Test {
 protected:
  ChildTest() {
    ::sigprocmask(SIG_SETMASK, nullptr, &signals_.mask);
    ::sigaction(SIGCHLD, nullptr, &signals_.child_action);
    ::sigaction(SIGPIPE, nullptr, &signals_.pipe_action);
    ::sigaction(SIGXFSZ, nullptr, &signals_.size_action);
  }
  int32_t StatusOf(const std::vector<std::string>& argv, const Environment& environment) {
    const StartedChild child = StartChild(argv, environment, signals_);
    if (child.failure) return child.failure->exit_status;
    int status = 0;
    EXPECT_EQ(::waitpid(child.pid, &status, 0), child.pid);
    return ExitStatusOf(status);
  }
  std::string Script(const std::string& text, mode_t mode) {
    const std::string path = directory_.path() + "/script";
    std::filesystem::remove(path);
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }

  testing::TemporaryDirectory directory_;
  SignalState signals_{};
  const Environment environment_ = CurrentEnvironment();
};

TEST_F(ChildTest, ExitStatusesAreThoseOfAShell) {
  EXPECT_EQ(StatusOf({"sh", "-c", "exit 3"}, environment_), 3);
  EXPECT_EQ(StatusOf({"sh", "-c", "kill -9 $$"}, environment_), 137);
  EXPECT_EQ(StatusOf({"no-such-program-anywhere"}, environment_), 127);
  EXPECT_EQ(StatusOf({"/no/such/file"}, environment_), 127);
  EXPECT_EQ(StatusOf({Script("exit 0", 0600)}, environment_), 126);
  EXPECT_EQ(StatusOf({"/"}, environment_), 126);
}

TEST_F(ChildTest, AScriptWithoutInterpreterIsRunByTheShell) {
  const std::string script = Script("test \"$1\" = 'a b' && exit 5", 0700);
  EXPECT_EQ(StatusOf({script, "a b"}, environment_), 5);
}

TEST_F(ChildTest, ProgramsAreFoundInThePathOfTheChild) {
  Script("exit 6", 0700);
  Environment environment{"PATH=/nowhere:" + directory_.path()};
  EXPECT_EQ(StatusOf({"script"}, environment), 6);
  // One that can't be run is found only if there is no other.
  std::filesystem::create_directory(directory_.path() + "/second");
  std::filesystem::copy(directory_.path() + "/script", directory_.path() + "/second/script");
  ::chmod((directory_.path() + "/script").c_str(), 0600);
  EXPECT_EQ(FindProgram("script", environment), directory_.path() + "/script");
  Set(environment, "PATH", directory_.path() + ":" + directory_.path() + "/second");
  EXPECT_EQ(FindProgram("script", environment), directory_.path() + "/second/script");
  Set(environment, "PATH", "/nowhere");
  EXPECT_EQ(FindProgram("script", environment), "");
}

TEST_F(ChildTest, NoDescriptorOfOursIsLeftOpenInTheChild) {
  const int leak_check = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(
      StatusOf({"sh", "-c", "test ! -e /proc/self/fd/" + std::to_string(leak_check)}, environment_),
      0);
  ::close(leak_check);
}

}  // namespace
}  // namespace tutti::collector::supervise
