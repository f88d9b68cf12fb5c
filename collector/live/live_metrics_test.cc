#include "collector/live/live_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "collector/os/files.h"
#include "collector/testing/spool_builder.h"

namespace tutti::collector::live {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TemporaryDirectory;

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(RenderLive, HasNoStepsBeforeThereAreAny) {
  RankSteps rank{.rank = "3", .host = "a\"b"};
  const std::string text = RenderLive({&rank}, std::nullopt, 0, 1'700'000'000'000'000'000);
  EXPECT_THAT(text, HasSubstr("tutti_live_updated_seconds 1700000000\n"));
  EXPECT_THAT(text, HasSubstr("tutti_live_running{rank=\"3\",host=\"a\\\"b\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("tutti_live_steps{rank=\"3\",host=\"a\\\"b\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("tutti_live_step_seconds")));
  EXPECT_TRUE(text.ends_with("# EOF\n"));
}

TEST(RenderLive, TellsHowLongAgoAStepHasEnded) {
  RankSteps rank{.rank = "0", .host = "h"};
  rank.steps.Add(41, 1'000'000'000, 1'500'000'000);
  const std::string text = RenderLive({&rank}, std::nullopt, 4'000'000'000, 0);
  EXPECT_THAT(text, HasSubstr("tutti_live_step_number{rank=\"0\",host=\"h\"} 41\n"));
  EXPECT_THAT(text, HasSubstr("step=\"newest\"} 0.5\n"));
  EXPECT_THAT(text, HasSubstr("tutti_live_since_step_seconds{rank=\"0\",host=\"h\"} 2.5\n"));
  rank.running = false;
  EXPECT_THAT(RenderLive({&rank}, std::nullopt, 4'000'000'000, 0),
              Not(HasSubstr("since_step_seconds{")));
}

TEST(RenderLive, TellsDumpsWhereThereAreAny) {
  EXPECT_THAT(RenderLive({}, std::nullopt, 0, 0), Not(HasSubstr("tutti_live_dumps")));
  EXPECT_THAT(
      RenderLive({}, DumpCounts{3, 2}, 0, 0),
      AllOf(HasSubstr("\ntutti_live_dumps 3\n"), HasSubstr("\ntutti_live_dumps_skipped 2\n")));
}

TEST(LiveMetrics, ReplacesItsFileAsAWhole) {
  const TemporaryDirectory folder;
  LiveMetrics metrics(folder.path() + "/live.prom", nullptr, 1'000);
  EXPECT_TRUE(metrics.IsDue(0));
  ASSERT_TRUE(metrics.Write({}, std::nullopt, 10'000).ok());
  EXPECT_THAT(Contents(folder.path() + "/live.prom"), HasSubstr("tutti_live_updated_seconds"));
  EXPECT_FALSE(os::Exists(folder.path() + "/live.prom.part"));
  EXPECT_FALSE(metrics.IsDue(10'500));
  EXPECT_TRUE(metrics.IsDue(11'000));
}

TEST(LiveMetrics, SaysWhyThereIsNoFile) {
  const TemporaryDirectory folder;
  LiveMetrics metrics(folder.path() + "/none/live.prom", nullptr, 1);
  EXPECT_FALSE(metrics.Write({}, std::nullopt, 0).ok());
}

}  // namespace
}  // namespace tutti::collector::live
