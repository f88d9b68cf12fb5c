#include "collector/drain/dumps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "collector/os/files.h"
#include "collector/run/manifest.h"
#include "collector/run/run_directory.h"
#include "collector/testing/spool_builder.h"

namespace tutti::collector::drain {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kSecond = 1'000'000'000;

// A recording of a process that has one file so far, and no drainer.
class DumpsTest : public ::testing::Test {
 protected:
  DumpsTest() {
    settings_.run_path = directory_.path();
    settings_.manifest_name = "host.1.json";
    settings_.spool_path = run::SpoolPathOf(settings_.run_path, settings_.manifest_name);
    settings_.live.emplace();
    settings_.live->window.steps = 10;
    settings_.live->most_dumps = 2;
    EXPECT_TRUE(os::MakeDirectories(settings_.spool_path).ok());
    EXPECT_TRUE(run::StartManifest(settings_.run_path, settings_.manifest_name, {}).ok());
    testing::SpoolBuilder spool(settings_.spool_path, "p0000.spool.000000",
                                testing::SpoolBuilder::Process());
    spool.AddThread(0, testing::kMainTid);
    spool.Flush(1000);
  }

  static live::Alarm Slow(int64_t step) {
    return {live::Alarm::Kind::kSlowStep, 0, "0", step, 10'000'000, "step was slow"};
  }
  static std::vector<DumpedSpool> Spools() { return {{0, "p0000.spool", {"p0000.spool.000000"}}}; }
  std::string Finish(Dumps& dumps) {
    for (int waited_ms = 0; waited_ms < 20'000; ++waited_ms) {
      if (const auto line = dumps.Poll()) return *line;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return "not done";
  }
  std::string DumpPath(const std::string& name) { return settings_.run_path + "/dumps/" + name; }

  testing::TemporaryDirectory directory_;
  DrainerSettings settings_;
};

TEST_F(DumpsTest, ASlowStepIsDumpedAMomentLaterAsARunOfItsOwn) {
  Dumps dumps(settings_);
  EXPECT_FALSE(dumps.IsDue(kSecond));
  dumps.OnAlarm(Slow(57), 57, kSecond);
  EXPECT_TRUE(dumps.wanted());
  EXPECT_FALSE(dumps.IsDue(kSecond)) << "the other ranks' part of the step is still to come";
  EXPECT_TRUE(dumps.IsDue(2 * kSecond));
  EXPECT_THAT(dumps.Begin(Spools(), INT64_MIN, {{0, 58}}), HasSubstr("0001-slow-step-57"));
  EXPECT_FALSE(dumps.wanted());
  EXPECT_THAT(Finish(dumps), HasSubstr("the newest steps of 1 rank are written"));
  EXPECT_TRUE(os::Exists(DumpPath("0001-slow-step-57") + "/rank-00000.sqlite"));
  EXPECT_FALSE(os::Exists(DumpPath("0001-slow-step-57") + "/.spool"));
  EXPECT_TRUE(os::Exists(settings_.spool_path + "/p0000.spool.000000")) << "the recording goes on";
  const auto manifest =
      os::ReadSmallFile(DumpPath("0001-slow-step-57") + "/manifest.d/host.1.json");
  EXPECT_THAT(*manifest, HasSubstr("\"reason\": \"step was slow\""));
  EXPECT_THAT(*manifest, HasSubstr("\"state\": \"finished\""));
  EXPECT_EQ(dumps.counts().written, 1);
}

TEST_F(DumpsTest, OneAtATimeNotOfTheSameWindowAndNotWithoutEnd) {
  Dumps dumps(settings_);
  dumps.OnAlarm(Slow(20), 20, 0);
  dumps.OnAlarm(Slow(20), 20, 0);  // of another rank: one dump for both
  EXPECT_EQ(dumps.counts().skipped, 0);
  dumps.Begin(Spools(), INT64_MIN, {{0, 21}});
  dumps.OnAlarm(Slow(22), 22, 0);
  EXPECT_FALSE(dumps.wanted());
  EXPECT_EQ(dumps.counts().skipped, 1);
  Finish(dumps);
  dumps.OnAlarm(Slow(30), 30, 0);  // nine steps after it
  EXPECT_FALSE(dumps.wanted());
  dumps.OnAlarm(Slow(31), 31, 0);
  EXPECT_TRUE(dumps.wanted());
  dumps.Begin(Spools(), INT64_MIN, {{0, 31}});
  Finish(dumps);
  dumps.OnAlarm(Slow(90), 90, 0);  // --dumps 2
  EXPECT_FALSE(dumps.wanted());
  EXPECT_EQ(dumps.counts().written, 2);
  EXPECT_EQ(dumps.counts().skipped, 3);
}

TEST_F(DumpsTest, AHangIsDumpedWhateverWasBefore) {
  Dumps dumps(settings_);
  dumps.OnAlarm(Slow(20), 20, 0);
  dumps.Begin(Spools(), INT64_MIN, {{0, 21}});
  Finish(dumps);
  dumps.OnAlarm({live::Alarm::Kind::kHang, 0, "pid 7", 22, 1, "nothing"}, 22, 0);
  EXPECT_THAT(dumps.Begin(Spools(), INT64_MIN, {}), HasSubstr("0002-hang-rank-pid-7"));
  Finish(dumps);
}

TEST_F(DumpsTest, WhoeverAsksIsServedAndSaysWhereto) {
  Dumps dumps(settings_);
  EXPECT_TRUE(KeepsWindow(settings_.spool_path));
  const auto path = MakeDumpDirectory(settings_.run_path, "asked");
  ASSERT_TRUE(path.ok());
  EXPECT_EQ(*path, DumpPath("0001-asked"));
  ASSERT_TRUE(AskForDump(settings_.spool_path, "0001-asked", "by hand").ok());
  EXPECT_TRUE(IsAskedForDump(settings_.spool_path, "0001-asked"));
  dumps.Look(0);
  EXPECT_FALSE(IsAskedForDump(settings_.spool_path, "0001-asked"));
  EXPECT_TRUE(dumps.IsDue(0));
  dumps.Begin(Spools(), INT64_MIN, {});
  // While it is made the next one waits.
  ASSERT_TRUE(AskForDump(settings_.spool_path, "0002-asked", "again").ok());
  ASSERT_TRUE(AskForDump(settings_.spool_path, "0003-asked", "and again").ok());
  dumps.Look(0);
  EXPECT_TRUE(IsAskedForDump(settings_.spool_path, "0002-asked"));
  Finish(dumps);
  EXPECT_TRUE(os::Exists(*path + "/rank-00000.sqlite"));
  dumps.Look(0);
  EXPECT_FALSE(IsAskedForDump(settings_.spool_path, "0002-asked"));
  EXPECT_TRUE(IsAskedForDump(settings_.spool_path, "0003-asked"));
}

TEST_F(DumpsTest, ANameThatLeadsElsewhereIsIgnored) {
  Dumps dumps(settings_);
  for (const char* name : {"a b", "", ".hidden", ".."}) {
    ASSERT_TRUE(AskForDump(settings_.spool_path, name, "").ok());
    dumps.Look(0);
    EXPECT_FALSE(IsAskedForDump(settings_.spool_path, name)) << name;
    EXPECT_FALSE(dumps.wanted()) << name;
  }
}

// Half a dump is removed, and the recording's files are left as they are.
TEST_F(DumpsTest, WhatCanNotBeWrittenIsSaidAndLeavesNothing) {
  Dumps dumps(settings_);
  dumps.OnAlarm(Slow(20), 20, 0);
  EXPECT_THAT(dumps.Begin({{0, "p0000.spool", {"p0000.spool.000099"}}}, INT64_MIN, {}),
              HasSubstr("could not be written"));
  EXPECT_FALSE(dumps.running());
  EXPECT_EQ(dumps.counts().skipped, 1);
  EXPECT_TRUE(os::ListDirectory(settings_.run_path + "/dumps").empty());
  EXPECT_TRUE(os::Exists(settings_.spool_path + "/p0000.spool.000000"));
}

}  // namespace
}  // namespace tutti::collector::drain
