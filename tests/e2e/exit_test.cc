// What `tutti record` does to a command: nothing. Exit status, output, arguments,
// environment, descriptors and signals are as without it.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "tests/e2e/record_fixture.h"

namespace tutti::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(RecordTest, TheExitStatusIsTheCommands) {
  for (const int code : {0, 1, 2, 42, 125, 255}) {
    EXPECT_EQ(Record({}, {"sh", "-c", "exit " + std::to_string(code)}).exit_status, code);
  }
  for (const int signal : {SIGKILL, SIGTERM, SIGABRT, SIGSEGV}) {
    const Finished record = Record({}, {"sh", "-c", "kill -" + std::to_string(signal) + " $$"});
    EXPECT_EQ(record.exit_status, 128 + signal);
  }
}

TEST_F(RecordTest, ARecordedProgramsExitStatusIsItsOwn) {
  EXPECT_EQ(Record({}, {Emitter(), "train", "--steps", "2", "--exit", "17"}).exit_status, 17);
  const Finished killed = Record({"-f"}, {Emitter(), "train", "--steps", "2", "--signal", "6"});
  EXPECT_EQ(killed.exit_status, 128 + SIGABRT);
  auto trace = Open("rank-00000.sqlite");
  EXPECT_EQ(Number(trace, "SELECT exit_status FROM process"), 128 + SIGABRT);
}

TEST_F(RecordTest, TheFirstFailingRankDecides) {
  EXPECT_EQ(Record({"--nproc", "2"}, {"sh", "-c", "exit $((RANK * 7))"}).exit_status, 7);
  // The other rank would wait for ever; it is ended, as torchrun does.
  const Finished record =
      Record({"--nproc", "2"}, {"sh", "-c", "test $RANK = 0 && exit 9; sleep 50"});
  EXPECT_EQ(record.exit_status, 9);
  EXPECT_THAT(record.err, HasSubstr("ending the others"));
}

TEST_F(RecordTest, WhatCantBeRunIsSaidAndLeavesNothing) {
  EXPECT_EQ(Record({}, {"no-such-program"}).exit_status, 127);
  EXPECT_EQ(Record({}, {"/no/such/program"}).exit_status, 127);
  EXPECT_EQ(Record({}, {"/etc/passwd"}).exit_status, 126);
  EXPECT_EQ(Record({}, {"/tmp"}).exit_status, 126);
  EXPECT_FALSE(std::filesystem::exists(Path("run")));
}

TEST_F(RecordTest, WhatWeCantDoIs125) {
  EXPECT_EQ(Record({"--no-such-option"}, {"true"}).exit_status, 125);
  EXPECT_EQ(Record({"--trace", "no-such-source"}, {"true"}).exit_status, 125);
  EXPECT_EQ(Record({"--steps", "5:2"}, {"true"}).exit_status, 125);
  EXPECT_EQ(Record({"--ranks", "x"}, {"true"}).exit_status, 125);
  EXPECT_EQ(Record({"--buffer", "1k"}, {"true"}).exit_status, 125);
  EXPECT_EQ(Record({}, {"true"}, {"TUTTI_TRACER=/no/such/library.so"}).exit_status, 125);
  EXPECT_EQ(Record({}, {}).exit_status, 125);
  const std::string deep = Path(std::string(240, 'a')) + "/" + std::string(240, 'b');
  EXPECT_EQ(Record({"-o", deep}, {"true"}).exit_status, 125);
  EXPECT_FALSE(std::filesystem::exists(Path("run")));
}

TEST_F(RecordTest, ArgumentsArriveAsTheyAre) {
  const Finished record = Record({}, {"sh", "-c", "for a; do printf '<%s>' \"$a\"; done", "sh", "",
                                      "[1,2]", "{}", "a b", "--", "-o", "--steps", "'q'", "@x"});
  EXPECT_EQ(record.out, "<><[1,2]><{}><a b><--><-o><--steps><'q'><@x>");
}

TEST_F(RecordTest, ACommandThatIsNoTrainingLeavesNothing) {
  const Finished record = Record({}, {"sh", "-c", "echo out; echo err >&2"});
  EXPECT_EQ(record.out, "out\n");
  EXPECT_EQ(record.err, "err\ntutti: no training process was seen; nothing was recorded\n");
  EXPECT_FALSE(std::filesystem::exists(Path("run")));
}

TEST_F(RecordTest, AThousandProcessesSayNothingAndHoldNothing) {
  const std::string script =
      "i=0; while [ $i -lt 1000 ]; do sh -c true; i=$((i+1)); done; ls /proc/self/fd | wc -l";
  const Finished plain = Running({"sh", "-c", script}, {}, directory_).Wait();
  const Finished record = Record({}, {"sh", "-c", script});
  EXPECT_EQ(record.exit_status, 0);
  EXPECT_EQ(record.out, plain.out);
  EXPECT_EQ(record.err, "tutti: no training process was seen; nothing was recorded\n");
}

TEST_F(RecordTest, TheUsersOwnPreloadAndInjectionsAreKept) {
  const Finished record = Record(
      {}, {"sh", "-c", "echo $LD_PRELOAD; echo $NVTX_INJECTION64_PATH $NCCL_PROFILER_PLUGIN"},
      {"LD_PRELOAD=libdl.so.2", "NVTX_INJECTION64_PATH=/opt/other.so",
       "NCCL_PROFILER_PLUGIN=theirs"});
  EXPECT_EQ(record.out, std::string(TUTTI_TRACER_LIBRARY) + ":libdl.so.2\n/opt/other.so theirs\n");
  EXPECT_THAT(record.err, HasSubstr("NVTX_INJECTION64_PATH is set already"));
}

TEST_F(RecordTest, SignalsReachTheCommand) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
    const std::string ready = Path("ready." + std::to_string(signal));
    Running record = Start({}, {"sh", "-c",
                                "trap 'exit 40' " + std::to_string(signal) + "; touch " + ready +
                                    "; while :; do sleep 0.01; done"});
    ASSERT_TRUE(WaitFor([&] { return std::filesystem::exists(ready); }));
    Kill(record.pid(), signal);
    EXPECT_EQ(record.Wait().exit_status, 40) << "signal " << signal;
  }
}

TEST_F(RecordTest, TheCommandInheritsWhatWasIgnored) {
  // As under nohup; and SIGCHLD, which must not keep us from waiting for the command.
  const Finished record =
      Running({"env", "--ignore-signal=HUP,CHLD", TUTTI_PROGRAM, "record", "-o", Path("run"),
               "--buffer", "4M", "--", "grep", "SigIgn", "/proc/self/status"},
              {}, directory_)
          .Wait();
  EXPECT_EQ(record.exit_status, 0);
  // Signals 1 (HUP) and 17 (CHLD), and no other.
  EXPECT_EQ(record.out, "SigIgn:\t0000000000010001\n");
}

TEST_F(RecordTest, ABackgroundRankThatOutlivesTheCommandIsCutOff) {
  const std::string gate = Path("gate");
  const std::string ready = Path("ready");
  const Finished record =
      Record({}, {"sh", "-c",
                  Emitter() + " train --steps 5 --ready " + ready + " --wait " + gate +
                      " & while ! test -e " + ready + "; do sleep 0.01; done; exit 6"});
  EXPECT_EQ(record.exit_status, 6);
  EXPECT_THAT(record.err, HasSubstr("still runs"));
  auto trace = Open("rank-00000.sqlite");
  EXPECT_EQ(Number(trace, "SELECT count(*) FROM step"), 5);
  EXPECT_EQ(Number(trace, "SELECT count(*) FROM process WHERE end_ns IS NULL"), 1);
  // Its gate may be removed with the test's directory before it has seen it open.
  Kill(Number(trace, "SELECT pid FROM process"), SIGKILL);
}

}  // namespace
}  // namespace tutti::e2e
