#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "collector/os/files.h"
#include "collector/os/proc.h"
#include "collector/run/git_revision.h"
#include "collector/run/hardware.h"
#include "collector/run/job_identity.h"
#include "collector/run/manifest.h"
#include "collector/run/name_pattern.h"
#include "collector/run/rank_file.h"
#include "collector/run/recording_lock.h"
#include "collector/run/redact.h"
#include "collector/run/run_directory.h"
#include "collector/run/staged_run.h"
#include "collector/testing/spool_builder.h"

namespace tutti::collector::run {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::TemporaryDirectory;

// The environment of these tests.
std::map<std::string, std::string>& Variables() {
  static std::map<std::string, std::string> variables;
  return variables;
}
const char* Get(const char* name) {
  const auto found = Variables().find(name);
  return found == Variables().end() ? nullptr : found->second.c_str();
}

class RunTest : public ::testing::Test {
 protected:
  RunTest() { Variables().clear(); }
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }
  TemporaryDirectory directory_;
};

std::string Expand(const char* pattern) {
  const auto name = ExpandName(pattern, 4, &Get);
  return name.ok() ? *name : "error: " + name.status().message();
}

TEST_F(RunTest, NamePatternsAreThoseOfOtherProfilers) {
  Variables() = {{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"SLURM_JOB_ID", "77"}, {"SCRATCH", "/s"}};
  EXPECT_EQ(Expand("runs/%n"), "runs/4");
  EXPECT_EQ(Expand("%q{SCRATCH}/r%r-of-%s-j%j"), "/s/r3-of-8-j77");
  EXPECT_EQ(Expand("a%%n"), "a%n");
  EXPECT_EQ(Expand("%h.%p"), os::HostName() + "." + std::to_string(::getpid()));
  for (const char* bad : {"%", "x%", "%z", "%q", "%q{", "%q{UNSET}"}) {
    EXPECT_TRUE(Expand(bad).starts_with("error: ")) << bad;
  }
  Variables().clear();
  EXPECT_TRUE(Expand("%r").starts_with("error: "));
  EXPECT_TRUE(HasNumber("a%n"));
  EXPECT_FALSE(HasNumber("a%%n"));
}

TEST_F(RunTest, NumbersGoOnFromTheLowestFree) {
  for (const char* expected : {"r1", "r2", "r3"}) {
    const auto run = OpenRunDirectory({Path("r%n"), false, {}, "boot"}, &Get);
    ASSERT_TRUE(run.ok());
    EXPECT_TRUE(run->created);
    EXPECT_EQ(run->path, Path(expected));
  }
}

TEST_F(RunTest, SecretsOfACommandLineAreNotKept) {
  EXPECT_THAT(
      RedactArguments({"env", "WANDB_API_KEY=abc", "python", "train.py", "--lr", "0.1",
                       "--hf-token", "hf_x", "--password=pw", "--url", "https://u:p@host/x",
                       "--name=run7", "AKIA4S6DF8G7H6J5K4L3M2", "/data/imagenet-2012-train-shard",
                       "--auth", "--steps", "100"}),
      ElementsAre("env", "WANDB_API_KEY=***", "python", "train.py", "--lr", "0.1", "--hf-token",
                  "***", "--password=***", "--url", "https://***@host/x", "--name=run7", "***",
                  "/data/imagenet-2012-train-shard", "--auth", "--steps", "100"));
}

TEST_F(RunTest, JobsAreTheirLaunchersIds) {
  EXPECT_EQ(ReadJobIdentity(&Get).id, "");
  Variables() = {{"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}};
  EXPECT_EQ(ReadJobIdentity(&Get).id, "master:a:1");
  EXPECT_FALSE(ReadJobIdentity(&Get).is_unique);
  Variables()["TORCHELASTIC_RUN_ID"] = "none";
  EXPECT_EQ(ReadJobIdentity(&Get).id, "master:a:1");
  Variables()["SLURM_JOB_ID"] = "5";
  Variables()["SLURM_STEP_ID"] = "0";
  EXPECT_EQ(ReadJobIdentity(&Get).id, "slurm:5.0");
  EXPECT_TRUE(ReadJobIdentity(&Get).is_unique);
}

TEST_F(RunTest, RankFileNamesAreTakenOnce) {
  fs::create_directory(Path(".spool"));
  const auto first = ClaimRankFile(directory_.path(), "n.1/p0000", 7, 0);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->name, "rank-00007.sqlite");
  EXPECT_EQ(ClaimRankFile(directory_.path(), "n.1/p0000", 7, 0)->name, first->name);  // ours
  const auto second = ClaimRankFile(directory_.path(), "n.2/p0000", 7, 0);
  EXPECT_EQ(second->name, "attempt-1/rank-00007.sqlite");
  EXPECT_EQ(second->attempt, 1);
  EXPECT_EQ(ClaimFreeRank(directory_.path(), "n.3/p0000")->rank, 0);

  const auto part = CleanPartPath(directory_.path(), first->name);
  ASSERT_TRUE(part.ok());
  std::ofstream(*part) << "rows";
  ASSERT_TRUE(PublishRankFile(directory_.path(), first->name).ok());
  EXPECT_TRUE(fs::exists(Path("rank-00007.sqlite")));
  EXPECT_FALSE(fs::exists(*part));
  ASSERT_TRUE(PublishRankFile(directory_.path(), first->name).ok());  // again: nothing to do
  // Its name stays taken, also for the same owner's next process.
  EXPECT_EQ(ClaimRankFile(directory_.path(), "n.1/p0000", 7, 0)->name,
            "attempt-2/rank-00007.sqlite");
}

TEST_F(RunTest, RankFileNamesComeApartAgain) {
  EXPECT_EQ(ParseRankFileName("rank-00012.sqlite")->rank, 12);
  EXPECT_EQ(ParseRankFileName("attempt-3/rank-123456.sqlite")->attempt, 3);
  EXPECT_EQ(ParseRankFileName("attempt-3/rank-123456.sqlite")->rank, 123456);
  for (const char* name :
       {"", "rank-1.sqlite", "rank-00001.sqlite.part", "attempt-0/rank-00001.sqlite",
        "../rank-00001.sqlite", "rank--0001.sqlite"}) {
    EXPECT_FALSE(ParseRankFileName(name).has_value()) << name;
  }
}

TEST_F(RunTest, PublishingNeverReplacesAFile) {
  fs::create_directory(Path(".spool"));
  const auto claimed = ClaimRankFile(directory_.path(), "n.1/p0000", 0, 0);
  std::ofstream(*CleanPartPath(directory_.path(), claimed->name)) << "new";
  std::ofstream(Path(claimed->name)) << "old";
  EXPECT_FALSE(PublishRankFile(directory_.path(), claimed->name).ok());
  std::string text;
  std::ifstream(Path(claimed->name)) >> text;
  EXPECT_EQ(text, "old");
}

class RunDirectoryTest : public RunTest {
 protected:
  RunRequest Request(const std::string& job = "", bool unique = false) {
    return {Path("run"), false, {job, unique}, os::BootId()};
  }
  // A recording into the run, going on as long as the returned lock is held.
  os::FileDescriptor Recording(const std::string& job, const std::string& manifest) {
    const auto run = OpenRunDirectory(Request(job, false), &Get);
    EXPECT_TRUE(run.ok()) << run.status().message();
    const std::string spool = SpoolPathOf(run->path, manifest);
    EXPECT_TRUE(os::MakeDirectories(spool).ok());
    auto lock = LockRecording(spool);
    EXPECT_TRUE(lock.ok());
    ManifestStart start;
    start.job_id = job;
    start.anchor = {1000, 2000};
    EXPECT_TRUE(StartManifest(run->path, manifest, start).ok());
    return std::move(*lock);
  }
};

TEST_F(RunDirectoryTest, RecordersOfALiveJobJoinAndShareTheAnchor) {
  const os::FileDescriptor first = Recording("master:a:1", "n.1.json");
  const auto joined = OpenRunDirectory(Request("master:a:1"), &Get);
  ASSERT_TRUE(joined.ok()) << joined.status().message();
  EXPECT_FALSE(joined->created);
  ASSERT_TRUE(joined->anchor.has_value());
  EXPECT_EQ(joined->anchor->monotonic_raw_ns, 2000);
}

// Its files could not be opened when the job has ended.
TEST_F(RunDirectoryTest, APathThatSqliteCantOpenIsRefusedAndNotMade) {
  const std::string deep = Path(std::string(200, 'a')) + "/" + std::string(200, 'b');
  RunRequest request = Request();
  request.pattern = deep + "/" + std::string(100, 'c');
  const auto refused = OpenRunDirectory(request, &Get);
  EXPECT_EQ(refused.status().code(), StatusCode::kUsage);
  EXPECT_FALSE(fs::exists(Path(std::string(200, 'a'))));
  // A short name that leads there.
  fs::create_directories(deep);
  fs::create_directory_symlink(deep, Path("link"));
  request.pattern = Path("link") + "/" + std::string(60, 'd');
  EXPECT_EQ(OpenRunDirectory(request, &Get).status().code(), StatusCode::kUsage);
  EXPECT_TRUE(fs::is_empty(deep));
}

TEST_F(RunDirectoryTest, AnotherJobIsRefusedEvenWithForceWhileOneIsLive) {
  const os::FileDescriptor first = Recording("master:a:1", "n.1.json");
  RunRequest other = Request("master:b:1");
  EXPECT_FALSE(OpenRunDirectory(other, &Get).ok());
  other.force = true;
  EXPECT_FALSE(OpenRunDirectory(other, &Get).ok());
}

TEST_F(RunDirectoryTest, AFinishedJobIsJoinedOnlyByItsUniqueId) {
  Recording("slurm:1.0", "n.1.json").Reset();
  EXPECT_FALSE(OpenRunDirectory(Request("slurm:1.0", false), &Get).ok());
  EXPECT_TRUE(OpenRunDirectory(Request("slurm:1.0", true), &Get).ok());
  EXPECT_FALSE(OpenRunDirectory(Request("slurm:2.0", true), &Get).ok());
}

TEST_F(RunDirectoryTest, ForceReplacesAFinishedRunAndNothingElse) {
  Recording("", "n.1.json").Reset();
  std::ofstream(Path("run/rank-00000.sqlite")) << "x";
  fs::create_directory(Path("run/attempt-1"));
  RunRequest request = Request();
  request.force = true;
  auto opened = OpenRunDirectory(request, &Get);
  ASSERT_TRUE(opened.ok());
  EXPECT_TRUE(opened->replaces);
  opened->opening.Reset();
  EXPECT_TRUE(fs::exists(Path("run/rank-00000.sqlite")));
  RemoveFinishedRun(opened->path);
  EXPECT_FALSE(fs::exists(Path("run/rank-00000.sqlite")));
  EXPECT_FALSE(fs::exists(Path("run/attempt-1")));

  Recording("", "n.1.json").Reset();
  std::ofstream(Path("run/notes.txt")) << "x";
  EXPECT_FALSE(OpenRunDirectory(request, &Get).ok());
  EXPECT_TRUE(fs::exists(Path("run/notes.txt")));
}

class StagedRunTest : public RunDirectoryTest {
 protected:
  // An old run, and a new one that is still to be published.
  StagedRun Stage() {
    Recording("", "n.1.json").Reset();
    std::ofstream(Path("run/rank-00000.sqlite")) << "old";
    std::ofstream(Path("run/rank-00001.sqlite")) << "old";
    auto staged = StagedRun::Begin(Path("run"));
    EXPECT_TRUE(staged.ok());
    std::ofstream(staged->path() + "/rank-00000.sqlite") << "new";
    EXPECT_TRUE(os::MakeDirectories(staged->path() + "/manifest.d").ok());
    return std::move(*staged);
  }
  std::vector<std::string> Names() const { return os::ListDirectory(Path("run")); }
};

TEST_F(StagedRunTest, ReplacesTheOldRunAsAWhole) {
  StagedRun staged = Stage();
  ASSERT_TRUE(staged.Publish().ok());
  EXPECT_THAT(Names(), ElementsAre(".lock", "manifest.d", "rank-00000.sqlite"));
  EXPECT_EQ(*os::ReadSmallFile(Path("run/rank-00000.sqlite")), "new");
}

TEST_F(StagedRunTest, IsFinishedForAKilledMakerOnceItWasWhole) {
  for (const char* phase : {"import.whole", "import.moving"}) {
    os::RemoveTree(Path("run"));
    { Stage(); }
    os::RemoveTree(Path("run/.spool"));
    ASSERT_TRUE(os::MakeDirectories(Path("run/.spool/" + std::string(phase) + "/run")).ok());
    std::ofstream(Path("run/.spool/" + std::string(phase) + "/run/rank-00002.sqlite")) << "new";
    ASSERT_TRUE(RecoverStagedRun(Path("run")).ok());
    EXPECT_TRUE(fs::exists(Path("run/rank-00002.sqlite"))) << phase;
    // While it is being moved the old run is gone already.
    EXPECT_EQ(fs::exists(Path("run/rank-00001.sqlite")), phase == std::string("import.moving"));
    EXPECT_FALSE(fs::exists(Path("run/.spool")));
  }
}

TEST_F(StagedRunTest, IsRemovedUnlessItIsPublished) {
  { const StagedRun staged = Stage(); }
  EXPECT_FALSE(fs::exists(Path("run/.spool/import")));
  EXPECT_EQ(*os::ReadSmallFile(Path("run/rank-00000.sqlite")), "old");
}

TEST_F(StagedRunTest, IsLeftAloneWhileItIsBeingMade) {
  const StagedRun staged = Stage();
  ASSERT_TRUE(RecoverStagedRun(Path("run")).ok());
  EXPECT_TRUE(fs::exists(staged.path() + "/rank-00000.sqlite"));
  EXPECT_TRUE(IsStaging(Path("run")));
}

TEST_F(RunDirectoryTest, ASymbolicLinkIsNotFollowed) {
  fs::create_directory(Path("elsewhere"));
  fs::create_symlink(Path("elsewhere"), Path("run"));
  EXPECT_FALSE(OpenRunDirectory(Request(), &Get).ok());
}

TEST_F(RunDirectoryTest, AnEmptyRunIsRemovedAgain) {
  Recording("", "n.1.json").Reset();
  os::RemoveTree(Path("run/.spool"));
  RemoveEmptyRun(Path("run"), "n.1.json");
  EXPECT_FALSE(fs::exists(Path("run")));
}

TEST_F(RunTest, ManifestsGrowAndStayWellFormed) {
  ManifestStart start;
  start.recording_id = "id";
  start.argv = {"python", "--token", "x"};
  start.directory = directory_.path();
  start.sources = {"torch"};
  ASSERT_TRUE(StartManifest(directory_.path(), "n.1.json", start).ok());
  EXPECT_FALSE(ReadManifest(directory_.path(), "n.1.json")->finished);
  ManifestRank rank;
  rank.file = "rank-00001.sqlite";
  rank.rank = 1;
  rank.world_size = 4;
  rank.truth = {R"({"kind":"slow_loader","amount":3})", "not json", std::string(1000, '[')};
  ASSERT_TRUE(AddRankToManifest(directory_.path(), "n.1.json", rank).ok());
  ASSERT_TRUE(CloseManifest(directory_.path(), "n.1.json", false).ok());
  EXPECT_TRUE(ReadManifest(directory_.path(), "n.1.json")->finished);
  EXPECT_THAT(ListManifests(directory_.path()), ElementsAre("n.1.json"));

  std::ifstream file(Path("manifest.d/n.1.json"));
  const auto json = nlohmann::json::parse(file);
  EXPECT_EQ(json["argv"][2], "***");
  EXPECT_EQ(json["ranks_expected"], 4);
  EXPECT_EQ(json["truth"][0]["fact"]["amount"], 3);
  EXPECT_EQ(json["truth"][1]["fact"], "not json");
  struct stat info;
  ASSERT_EQ(::stat(Path("manifest.d/n.1.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(RunTest, ManifestsOfOthersThatAreNoneAreSaidToBe) {
  fs::create_directory(Path("manifest.d"));
  std::ofstream(Path("manifest.d/n.1.json")) << "[]";
  EXPECT_FALSE(ReadManifest(directory_.path(), "n.1.json").ok());
  EXPECT_FALSE(ReadManifest(directory_.path(), "n.2.json").ok());
}

class GitRevisionTest : public RunTest {
 protected:
  void Write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(Path(path)).parent_path());
    std::ofstream(Path(path)) << text;
  }
  const std::string commit_ = std::string(40, 'a');
};

TEST_F(GitRevisionTest, LooseAndPackedRefsAreFoundFromASubdirectory) {
  Write(".git/HEAD", "ref: refs/heads/main\n");
  Write(".git/refs/heads/main", commit_ + "\n");
  fs::create_directories(Path("src/deep"));
  EXPECT_EQ(GitRevisionJson(Path("src/deep"))["commit"], commit_);
  EXPECT_EQ(GitRevisionJson(Path("src/deep"))["branch"], "main");
  fs::remove(Path(".git/refs/heads/main"));
  Write(".git/packed-refs", "# pack-refs\n" + std::string(40, 'b') + " refs/heads/other\n" +
                                commit_ + " refs/heads/main\n");
  EXPECT_EQ(GitRevisionJson(Path("src"))["commit"], commit_);
}

TEST_F(GitRevisionTest, DetachedHeadsAndWorktreesAreUnderstood) {
  Write("main/.git/HEAD", commit_ + "\n");
  EXPECT_EQ(GitRevisionJson(Path("main"))["branch"], nullptr);
  Write("main/.git/refs/heads/topic", commit_ + "\n");
  Write("main/.git/worktrees/t/HEAD", "ref: refs/heads/topic\n");
  Write("main/.git/worktrees/t/commondir", "../..\n");
  Write("tree/.git", "gitdir: ../main/.git/worktrees/t\n");
  EXPECT_EQ(GitRevisionJson(Path("tree"))["commit"], commit_);
}

TEST_F(GitRevisionTest, WhatIsNoCommitIsNotKept) {
  Write(".git/HEAD", "ref: ../../../etc/passwd\n");
  EXPECT_TRUE(GitRevisionJson(directory_.path()).is_null());
  EXPECT_TRUE(GitRevisionJson("/").is_null());
}

TEST(Hardware, IsFilledIn) {
  const auto json = HardwareJson();
  EXPECT_GT(json["cpus"], 0);
  EXPECT_GT(json["memory_bytes"], 0);
  EXPECT_FALSE(json["kernel"].get<std::string>().empty());
}

}  // namespace
}  // namespace tutti::collector::run
