#include "analyzer/history/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tutti::analyzer::history {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Ten launches of 100 ms, ten of 110 ms, a little apart from each other; labels are hostile.
std::vector<Trend> Example() {
  std::vector<StoredLaunch> history;
  for (int i = 0; i < 20; ++i) {
    const double ms = (i < 10 ? 100 : 110) + 0.1 * (i % 3);
    history.push_back({.begin_ns = 1'700'000'000'000'000'000 + i * 86'400'000'000'000LL,
                       .name = "run",
                       .label = "<script>" + std::to_string(i),
                       .series = "job <b>",
                       .epoch = "H100",
                       .values = {{"step_time", ms * 1e6}}});
  }
  return FindTrends(history, *compare::FindMetric("step_time"));
}

TEST(RenderTrends, TellsLevelsAndWhatTheyBeginWith) {
  const std::string text = RenderTrendsText(Example());
  EXPECT_THAT(text, HasSubstr("job <b>: step_time, 20 launches"));
  EXPECT_THAT(text, HasSubstr("1-10"));
  EXPECT_THAT(text, HasSubstr("+10.00 % since <script>10 (p <0.0001), WORSE"));
  EXPECT_THAT(text, HasSubstr("▁"));
  EXPECT_THAT(text, HasSubstr("█"));
  EXPECT_THAT(text, HasSubstr("2023-11-24"));
}

TEST(RenderTrends, IsCompleteAsJson) {
  const auto json = nlohmann::json::parse(RenderTrendsJson(Example()));
  EXPECT_EQ(json.at("schema"), "tutti.history/1");
  const auto& trend = json.at("trends")[0];
  EXPECT_EQ(trend.at("launches").size(), 20U);
  EXPECT_EQ(trend.at("levels")[1].at("first"), 10);
  EXPECT_NEAR(trend.at("levels")[1].at("change").at("effect").get<double>(), 0.1, 0.0005);
  EXPECT_TRUE(trend.at("levels")[1].at("change").at("worse"));
  EXPECT_TRUE(trend.at("levels")[0].at("change").is_null());
}

TEST(RenderTrends, NamesAreNeverMarkup) {
  const std::string page = RenderTrendsHtml(Example());
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;10"));
  EXPECT_THAT(page, HasSubstr("<svg"));
}

TEST(RenderChecks, TellsEffectOrReason) {
  const std::vector<Trend> trends = Example();
  StoredLaunch launch = trends[0].launches.back();
  launch.values["step_time"] = 120e6;
  const auto& metric = *trends[0].metric;
  const std::vector<Checked> checks = {
      {launch, &metric, FitToTrend(&trends[0], launch, metric, {})},
      {launch, &metric, FitToTrend(nullptr, launch, metric, {})}};
  const std::string text = RenderChecksText(checks);
  EXPECT_THAT(text, HasSubstr("against 10 launches"));
  EXPECT_THAT(text, HasSubstr("REGRESSION"));
  EXPECT_THAT(text, HasSubstr("the history has no such series"));
  const auto json = nlohmann::json::parse(RenderChecksJson(checks));
  EXPECT_EQ(json.at("checks")[0].at("verdict"), "regression");
  EXPECT_TRUE(json.at("checks")[1].at("effect").is_null());
}

}  // namespace
}  // namespace tutti::analyzer::history
