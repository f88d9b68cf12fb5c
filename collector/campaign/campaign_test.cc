// Campaigns with a stand-in for `tutti record`: a script that makes a run's folder and runs the
// job, which notes that it ran.
#include "collector/campaign/campaign.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "collector/campaign/campaign_log.h"
#include "schema/testing/scratch.h"

namespace tutti::collector::campaign {
namespace {

namespace fs = std::filesystem;
using schema::testing::Scratch;
using Words = std::vector<std::string>;

void WriteScript(const std::string& path, const std::string& text) {
  std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
  fs::permissions(path, fs::perms::owner_all);
}

class CampaignTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteScript(scratch_.Path("recorder"),
                "run=$3\n"
                "while [ \"$1\" != -- ]; do shift; done\n"
                "shift\n"
                "mkdir -p \"$run/manifest.d\"\n"
                "exec \"$@\"");
    WriteScript(scratch_.Path("old"), "echo old >> '" + scratch_.Path("order") + "'");
    WriteScript(scratch_.Path("new"), "echo new >> '" + scratch_.Path("order") + "'");
    options_.folder = scratch_.Path("campaign");
    options_.base = scratch_.Path("old");
    options_.fresh = scratch_.Path("new");
    options_.program = scratch_.Path("recorder");
    options_.pairs = 2;
    options_.warm_up = 0;
    options_.control = false;
  }

  Words Order() {
    std::ifstream file(scratch_.Path("order"));
    return {std::istream_iterator<std::string>(file), {}};
  }
  CampaignLog Log() { return **ReadCampaignLog(options_.folder); }

  Scratch scratch_;
  CampaignOptions options_;
};

TEST_F(CampaignTest, RunsInTurns) {
  options_.pairs = 3;
  const auto campaign = RunCampaign(options_);
  ASSERT_TRUE(campaign.ok()) << campaign.status().message();
  EXPECT_EQ(Order(), Words({"old", "new", "new", "old", "old", "new"}));
  EXPECT_EQ(campaign->base.size(), 3U);
  EXPECT_EQ(campaign->fresh[1], options_.folder + "/new-2");
  EXPECT_TRUE(fs::exists(campaign->fresh[2] + "/manifest.d"));
  EXPECT_TRUE(campaign->notes.empty());
}

TEST_F(CampaignTest, WarmsUpEachSideAndTimesTheControl) {
  options_.warm_up = 1;
  options_.control = true;
  options_.pairs = 1;
  const auto campaign = RunCampaign(options_);
  ASSERT_TRUE(campaign.ok()) << campaign.status().message();
  EXPECT_EQ(Order(), Words({"old", "new", "old", "new"}));
  EXPECT_TRUE(fs::exists(campaign->base[0] + "/control.json"));
  EXPECT_GT(*Log().launches[0].control_ns, 0);
  EXPECT_FALSE(fs::exists(options_.folder + "/warm-up"));
}

TEST_F(CampaignTest, IsNotRecordedTwice) {
  ASSERT_TRUE(RunCampaign(options_).ok());
  const auto again = RunCampaign(options_);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(Order().size(), 4U);
  options_.force = true;
  ASSERT_TRUE(RunCampaign(options_).ok());
  EXPECT_EQ(Order().size(), 8U);
}

TEST_F(CampaignTest, MorePairsAreAddedAndSaid) {
  ASSERT_TRUE(RunCampaign(options_).ok());
  options_.pairs = 3;
  const auto campaign = RunCampaign(options_);
  ASSERT_TRUE(campaign.ok()) << campaign.status().message();
  EXPECT_EQ(Order().size(), 6U);
  ASSERT_EQ(campaign->notes.size(), 1U);
  EXPECT_TRUE(campaign->notes[0].starts_with("pairs were added to a campaign of 2"));
}

TEST_F(CampaignTest, AFailureEndsItAndIsNotTriedAgainSilently) {
  // The new program's first launch fails, its second one doesn't.
  WriteScript(scratch_.Path("new"), "test -e '" + scratch_.Path("tried") + "' && exit 0\n" +
                                        "touch '" + scratch_.Path("tried") + "'; exit 3");
  const auto failed = RunCampaign(options_);
  EXPECT_EQ(failed.status().code(), StatusCode::kBadData);
  EXPECT_NE(failed.status().message().find("new-1 failed: exit status 3"), std::string::npos)
      << failed.status().message();
  const auto refused = RunCampaign(options_);
  EXPECT_EQ(refused.status().code(), StatusCode::kBadData);
  EXPECT_NE(refused.status().message().find("--retry-failed"), std::string::npos);
  options_.retry_failed = true;
  const auto retried = RunCampaign(options_);
  ASSERT_TRUE(retried.ok()) << retried.status().message();
  ASSERT_EQ(retried->notes.size(), 1U);
  EXPECT_TRUE(retried->notes[0].starts_with("launches that failed and were tried again: 1"));
  EXPECT_EQ(Log().Done(true, 1)->attempt, 2);
  // The base launch beside the failed one is made again too: pairs are neighbours in time.
  EXPECT_EQ(Log().Done(false, 1)->attempt, 2);
  EXPECT_TRUE(fs::exists(options_.folder + "/set-aside/base-1.1"));
}

TEST_F(CampaignTest, ALaunchThatTakesTooLongHasFailed) {
  WriteScript(scratch_.Path("new"), "sleep 60");
  options_.timeout_ns = 300'000'000;
  const auto campaign = RunCampaign(options_);
  EXPECT_NE(campaign.status().message().find("no end after"), std::string::npos)
      << campaign.status().message();
}

TEST_F(CampaignTest, AJobThatIsNotSeenHasFailed) {
  WriteScript(scratch_.Path("recorder"), "exit 0");
  const auto campaign = RunCampaign(options_);
  EXPECT_EQ(campaign.status().code(), StatusCode::kBadData);
  EXPECT_NE(campaign.status().message().find("nothing was recorded"), std::string::npos);
}

TEST_F(CampaignTest, AFolderOfOthersIsLeftAlone) {
  fs::create_directories(options_.folder);
  std::ofstream(options_.folder + "/thesis.tex") << "years of work";
  EXPECT_EQ(RunCampaign(options_).status().code(), StatusCode::kUsage);
  options_.force = true;
  EXPECT_EQ(RunCampaign(options_).status().code(), StatusCode::kUsage);
  EXPECT_TRUE(fs::exists(options_.folder + "/thesis.tex"));
}

TEST_F(CampaignTest, AnotherPlanOrAProgramBuiltAnewIsAnotherCampaign) {
  ASSERT_TRUE(RunCampaign(options_).ok());
  options_.command = {"--steps", "60"};
  EXPECT_EQ(RunCampaign(options_).status().code(), StatusCode::kUsage);
  options_.command = {};
  WriteScript(scratch_.Path("new"), "exit 0");
  EXPECT_EQ(RunCampaign(options_).status().code(), StatusCode::kUsage);
}

TEST_F(CampaignTest, BuildsFoldersBeforeTheFirstLaunch) {
  fs::create_directories(scratch_.Path("tree"));
  options_.base = options_.fresh = scratch_.Path("tree");
  options_.build = "printf '#!/bin/sh\\nexit 0\\n' > train && chmod +x train";
  options_.command = {"./train"};
  ASSERT_TRUE(RunCampaign(options_).ok());
  EXPECT_TRUE(fs::exists(scratch_.Path("tree/train")));
  options_.force = true;
  options_.build = "echo no compiler; exit 4";
  const auto failed = RunCampaign(options_);
  EXPECT_EQ(failed.status().code(), StatusCode::kBadData);
  EXPECT_NE(failed.status().message().find("building base failed: exit status 4"),
            std::string::npos);
}

}  // namespace
}  // namespace tutti::collector::campaign
