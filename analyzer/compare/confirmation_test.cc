#include "analyzer/compare/confirmation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyzer/compare/render.h"
#include "analyzer/compare/testing/launches.h"

namespace tutti::analyzer::compare {
namespace {

using ::testing::HasSubstr;
using testing::MakeArm;

Comparison CompareArms(double new_ms, const CompareOptions& options, int launches = 6) {
  Result<Comparison> comparison =
      Compare(MakeArm("runs/a", {}, launches, false),
              MakeArm("runs/b", {.step_ms = new_ms}, launches, true), options);
  EXPECT_TRUE(comparison.ok()) << comparison.status().message();
  return *std::move(comparison);
}

Comparison Found() {
  Comparison found = CompareArms(105, {});
  EXPECT_EQ(found.verdict, Verdict::kRegression);
  return found;
}

TEST(ConfirmationOptions, AskForTheGatesThatTrippedOnly) {
  CompareOptions options;
  options.rule.min_effect = 0.02;
  options.gates = {"step_time", "memory_peak"};
  const CompareOptions further = ConfirmationOptions(CompareArms(105, options));
  EXPECT_THAT(further.gates, ::testing::ElementsAre("step_time"));
  EXPECT_EQ(further.rule.alpha, kConfirmationAlpha);
  EXPECT_EQ(further.rule.min_effect, 0.02);
}

TEST(Confirm, KeepsWhatFurtherLaunchesShow) {
  Comparison found = Found();
  Confirm(found, CompareArms(104, ConfirmationOptions(found), 4));
  EXPECT_EQ(found.verdict, Verdict::kRegression);
  EXPECT_THAT(HeadlineOf(found), HasSubstr("6 pairs, confirmed by 4 further pairs"));
  EXPECT_THAT(ConfirmationInWords(found),
              HasSubstr("confirmed by 4 further pairs: step_time +3.9"));
  const auto json = nlohmann::json::parse(RenderJson(std::vector<NamedComparison>{{"", found}}));
  EXPECT_EQ(json["confirmation"]["confirmed"], true);
  EXPECT_EQ(json["confirmation"]["pairs"], 4);
  EXPECT_NEAR(json["confirmation"]["metrics"][0]["effect"]["value"].get<double>(), 0.04, 0.005);
}

TEST(Confirm, ARegressionThatDoesntShowAgainIsNone) {
  Comparison found = Found();
  Confirm(found, CompareArms(100, ConfirmationOptions(found)));
  EXPECT_EQ(found.verdict, Verdict::kInconclusive);
  EXPECT_THAT(HeadlineOf(found), HasSubstr("not confirmed by 6 further pairs"));
  const std::vector<NamedComparison> one = {{"", found}};
  for (const std::string& text :
       {RenderText(one, false), RenderMarkdown(one), RenderHtml(one), RenderJUnit(one)}) {
    EXPECT_THAT(text, HasSubstr("not confirmed by 6 further pairs"));
  }
  EXPECT_THAT(RenderJUnit(one), HasSubstr("failures=\"0\""));
  EXPECT_EQ(nlohmann::json::parse(RenderJson(one))["confirmation"]["confirmed"], false);
}

TEST(Confirm, AChangeOfTheMachineConfirmsNothing) {
  Comparison found = Found();
  Comparison further = CompareArms(105, ConfirmationOptions(found));
  further.control_moved = true;
  further.control = PairedEstimate(std::vector<double>{0.05, 0.051, 0.049});
  further.verdict = OverallVerdict(further);
  Confirm(found, std::move(further));
  EXPECT_EQ(found.verdict, Verdict::kInconclusive);
  EXPECT_THAT(ConfirmationInWords(found), HasSubstr("the machine changed"));
}

}  // namespace
}  // namespace tutti::analyzer::compare
