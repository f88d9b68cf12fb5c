#include "analyzer/compare/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "analyzer/compare/figures.h"
#include "analyzer/compare/output_file.h"
#include "analyzer/compare/testing/launches.h"
#include "schema/testing/scratch.h"

namespace tutti::analyzer::compare {
namespace {

using ::testing::HasSubstr;
using testing::MakeArm;
using ::testing::Not;
using testing::StepOf;

// A slower step: five more milliseconds of compute, a new kernel with a hostile name.
std::vector<NamedComparison> Slower(int names = 1) {
  std::vector<Launch> fresh = MakeArm("runs/b", {.step_ms = 105}, 6, true);
  for (Launch& launch : fresh) {
    for (int i = 0; i < names; ++i) {
      launch.names[{"kernel", "</table>|`evil`\x1b[2J <b>" + std::to_string(i)}] = {1, 5e6};
    }
  }
  Result<Comparison> comparison = Compare(MakeArm("runs/a", {}, 6, false), std::move(fresh), {});
  EXPECT_TRUE(comparison.ok()) << comparison.status().message();
  return {{"", std::move(*comparison)}};
}

std::vector<NamedComparison> Open() {
  const StepOf noisy = {.noise_ms = 0.5};
  std::vector<Launch> fresh = MakeArm("runs/b", noisy, 6, true);
  for (size_t i = 0; i < fresh.size(); ++i) {
    for (StepRecord& step : fresh[i].steps) {
      if (step.period_ns) *step.period_ns += (i % 2 == 0 ? 6 : -4) * testing::kMs;
    }
  }
  return {{"", *Compare(MakeArm("runs/a", {}, 6, false), std::move(fresh), {})}};
}

TEST(RenderText, AnswersInItsFirstLine) {
  const std::string text = RenderText(Slower(), false);
  if (std::getenv("TUTTI_PRINT") != nullptr) std::cout << text << RenderText(Open(), false);
  EXPECT_EQ(text.rfind("REGRESSION: step_time +4.92 % [", 0), 0u) << text;
  EXPECT_THAT(text.substr(0, text.find('\n')), HasSubstr("p <0.0001, 6 pairs"));
  EXPECT_THAT(text, HasSubstr("what changed: compute +"));
  EXPECT_THAT(text, HasSubstr("ddp_mlp, 2 ranks, cpu, torch 2.11.0"));
  EXPECT_THAT(text, HasSubstr("rule: regression if p < 0.01 and the change is at least 1 %; p by "
                              "Holm over 2 gates; paired t test,\n      launches are"));
  EXPECT_THAT(text, HasSubstr("new     kernel"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(RenderText(Slower(), true), HasSubstr("\x1b[1;31mREGRESSION\x1b[0m"));
}

TEST(RenderText, SaysWhatWouldDecideAnOpenComparison) {
  const std::vector<NamedComparison> open = Open();
  EXPECT_EQ(open[0].comparison.verdict, Verdict::kInconclusive);
  EXPECT_THAT(HeadlineOf(open[0].comparison), HasSubstr("pairs would tell"));
}

TEST(RenderJson, IsOneObjectOfThePublishedSchema) {
  const auto json = nlohmann::json::parse(RenderJson(Slower()));
  EXPECT_EQ(json["schema"], "tutti.compare/1");
  EXPECT_EQ(json["verdict"], "regression");
  EXPECT_EQ(json["design"], "paired");
  EXPECT_EQ(json["base"].size(), 6u);
  const auto& step = json["metrics"][0];
  EXPECT_EQ(step["name"], "step_time");
  EXPECT_EQ(step["gate"], true);
  EXPECT_NEAR(step["effect"]["value"].get<double>(), 0.05, 0.005);
  EXPECT_LT(step["effect"]["low"], step["effect"]["value"]);
  EXPECT_EQ(step["verdict"], "regression");
  int64_t sum_ns = 0;
  for (const auto& part : json["what_changed"]["parts"]) sum_ns += part["change_ns"].get<int64_t>();
  EXPECT_EQ(json["what_changed"]["change_ns"], sum_ns);
  EXPECT_EQ(json["names"][0]["presence"], "new");
}

TEST(RenderMarkdown, StaysBelowItsLimitAndCountsWhatIsLeftOut) {
  const std::string text = RenderMarkdown(Slower(3'000), 60'000);
  EXPECT_EQ(text.rfind("<!-- tutti-compare -->\n", 0), 0u);
  EXPECT_LT(text.size(), 60'000u);
  EXPECT_GT(text.size(), 50'000u);
  EXPECT_THAT(text, HasSubstr("more with smaller changes"));
  EXPECT_THAT(text, HasSubstr("**REGRESSION**"));
}

TEST(RenderMarkdown, LetsNoNameOutOfItsCell) {
  const std::string text = RenderMarkdown(Slower());
  if (std::getenv("TUTTI_PRINT") != nullptr) std::cout << text;
  EXPECT_THAT(text, HasSubstr("`</table>/'evil'"));  // code is shown as it is
  EXPECT_THAT(text, Not(HasSubstr("|`evil`")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(RenderJUnit, FailsSkipsAndErrs) {
  const std::string slower = RenderJUnit(Slower());
  EXPECT_THAT(slower, HasSubstr("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""));
  EXPECT_THAT(slower, HasSubstr("<failure type=\"regression\" message=\"step time +4.92 %"));
  EXPECT_THAT(slower, HasSubstr("p &lt;0.0001"));
  const std::string open = RenderJUnit(Open());
  EXPECT_THAT(open, HasSubstr("failures=\"0\" errors=\"0\" skipped=\"1\""));
  EXPECT_THAT(RenderJUnitError("runs/a: <broken>"),
              HasSubstr("<error type=\"bad_data\" message=\"runs/a: &lt;broken&gt;\"/>"));
}

TEST(RenderOpenMetrics, RoundsAndEnds) {
  const std::string text = RenderOpenMetrics(Slower());
  EXPECT_THAT(text, HasSubstr("tutti_compare_verdict{verdict=\"regression\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE tutti_compare_value gauge\n"));
  EXPECT_THAT(text,
              HasSubstr("tutti_compare_value{metric=\"exposed_comm\",side=\"base\"} 0.012\n"));
  EXPECT_TRUE(text.ends_with("# EOF\n"));
}

TEST(Figures, HaveUnitsAndFewDigits) {
  EXPECT_EQ(Duration(100.2e6), "100.2 ms");
  EXPECT_EQ(Duration(3.414e9), "3.41 s");
  EXPECT_EQ(Duration(980), "980 ns");
  EXPECT_EQ(SignedDuration(-1.5e3), "-1.50 us");
  EXPECT_EQ(Duration(999'999), "1.00 ms");
  EXPECT_EQ(SignedDuration(0), "0 ns");
  EXPECT_EQ(SignedPercent(0.081), "+8.10 %");
  EXPECT_EQ(PValue(1), "1");
  EXPECT_EQ(PValue(0.00001), "<0.0001");
  EXPECT_EQ(Value(Unit::kBytes, 512 << 20), "512.0 MiB");
}

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(OutputFile, IsReplacedAsAWholeOrAddedTo) {
  schema::testing::Scratch scratch;
  const std::string path = scratch.Path("out");
  ASSERT_TRUE(ReplaceFile(path, "first").ok());
  ASSERT_TRUE(ReplaceFile(path, "second").ok());
  EXPECT_EQ(Contents(path), "second");
  ASSERT_TRUE(AppendToFile(path, " third").ok());
  EXPECT_EQ(Contents(path), "second third");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch.Path("")), {}), 1);
  EXPECT_EQ(ReplaceFile(scratch.Path("no/folder"), "x").code(), StatusCode::kIo);
}

}  // namespace
}  // namespace tutti::analyzer::compare
