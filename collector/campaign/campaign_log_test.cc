#include "collector/campaign/campaign_log.h"

#include <gtest/gtest.h>

#include <fstream>

#include "schema/testing/scratch.h"

namespace tutti::collector::campaign {
namespace {

using schema::testing::Scratch;

CampaignLog Example() {
  CampaignLog log;
  log.plan = {.base = "git:main",
              .base_identity = "abc",
              .fresh = ".",
              .fresh_identity = "def+01",
              .build = "make",
              .command = {"./train", "--steps", "60"},
              .record_options = {"--nproc", "2"}};
  log.pairs_asked = {6, 8};
  log.launches = {
      {.pair = 1, .run = "base-1", .state = "done", .begin_ns = 5, .wall_ns = 7, .control_ns = 9},
      {.is_new = true, .pair = 1, .state = "failed", .remark = "exit status 1"},
      {.is_new = true, .pair = 1, .attempt = 2, .run = "new-1", .state = "done"}};
  return log;
}

TEST(CampaignLog, ComesBackAsItWasWritten) {
  const Scratch scratch;
  const std::string folder = scratch.Path("");
  EXPECT_FALSE(ReadCampaignLog(folder)->has_value());
  ASSERT_TRUE(WriteCampaignLog(folder, Example()).ok());
  const auto read = ReadCampaignLog(folder);
  ASSERT_TRUE(read.ok()) << read.status().message();
  const CampaignLog& log = **read;
  EXPECT_EQ(log.plan, Example().plan);
  EXPECT_EQ(log.pairs_asked, Example().pairs_asked);
  ASSERT_EQ(log.launches.size(), 3U);
  EXPECT_EQ(log.launches[0].control_ns, 9);
  EXPECT_EQ(log.launches[1].remark, "exit status 1");
}

TEST(CampaignLog, TheLastLaunchAtAPlaceCounts) {
  const CampaignLog log = Example();
  EXPECT_EQ(log.Done(true, 1)->attempt, 2);
  EXPECT_EQ(log.Done(false, 1)->run, "base-1");
  EXPECT_EQ(log.Done(false, 2), nullptr);
  CampaignLog failed = log;
  failed.launches.pop_back();
  EXPECT_EQ(failed.Done(true, 1), nullptr);
  EXPECT_EQ(failed.Last(true, 1)->state, "failed");
}

TEST(ReadCampaignLog, SaysWhatIsNoLog) {
  const Scratch scratch;
  for (const char* text : {"", "[]", "{\"schema\": \"tutti.campaign/2\"}",
                           "{\"schema\": \"tutti.campaign/1\", \"plan\": 3}"}) {
    std::ofstream(scratch.Path("campaign.json")) << text;
    EXPECT_EQ(ReadCampaignLog(scratch.Path("")).status().code(), StatusCode::kBadData) << text;
  }
}

}  // namespace
}  // namespace tutti::collector::campaign
