#include "analyzer/compare/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analyzer/compare/charts.h"
#include "analyzer/compare/render.h"
#include "analyzer/compare/testing/launches.h"

namespace tutti::analyzer::compare {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MakeArm;
using testing::MakeLaunch;
using ::testing::Not;
using testing::StepOf;

Comparison MustCompare(std::vector<Launch> base, std::vector<Launch> fresh) {
  auto comparison = Compare(std::move(base), std::move(fresh), {});
  EXPECT_TRUE(comparison.ok()) << comparison.status().message();
  return *std::move(comparison);
}

size_t CountOf(const std::string& text, const std::string& word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(Escaped, LeavesNothingThatEndsATextOrAnAttribute) {
  EXPECT_EQ(Escaped("<b a=\"1\" c='2'>&\x1b"),
            "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;\uFFFD");
}

TEST(Axis, MapsLinearlyAndHasRoundTicks) {
  const Axis axis(-0.012, 0.023, 100, 800);
  EXPECT_DOUBLE_EQ(axis.At(-0.012), 100);
  EXPECT_DOUBLE_EQ(axis.At(0.023), 800);
  EXPECT_DOUBLE_EQ(axis.At((-0.012 + 0.023) / 2), 450);
  EXPECT_EQ(axis.Ticks(6).size(), 4U);  // -0.01, 0, 0.01, 0.02
  EXPECT_THAT(Axis(0, 10, 0, 1).Ticks(5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_FALSE(std::isnan(Axis(5, 5, 0, 1).At(5)));
}

TEST(RenderHtml, HasThePartsOfAComparison) {
  const Comparison comparison =
      MustCompare(MakeArm("a", {}, 6, false), MakeArm("b", {.step_ms = 110}, 6, true));
  const NamedComparison one{"", comparison};
  const std::string page = RenderHtml({&one, 1});
  EXPECT_THAT(page, HasSubstr("<h1 class=\"worse\">REGRESSION</h1>"));
  for (const char* part : {"Effects", "Step times", "Metrics", "What changed", "Launches"}) {
    EXPECT_THAT(page, HasSubstr("<h2>" + std::string(part) + "</h2>"));
  }
  EXPECT_EQ(CountOf(page, "<svg"), 3U);
  EXPECT_EQ(CountOf(StepTimeChart(comparison), "<circle"), 12U + 2U);  // launches, the key
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

// The last part's bar ends where the new step's does.
TEST(BreakdownChart, AddsUp) {
  const Comparison comparison =
      MustCompare(MakeArm("a", {}, 6, false), MakeArm("b", {.step_ms = 110}, 6, true));
  int64_t sum = comparison.explanation->base_ns;
  for (const PartChange& part : comparison.explanation->parts) sum += part.change_ns();
  EXPECT_EQ(sum, comparison.explanation->new_ns);
  EXPECT_EQ(CountOf(BreakdownChart(comparison), "<rect"), comparison.explanation->parts.size() + 2);
}

TEST(RenderHtml, NamesAreNeverMarkup) {
  const std::string evil = "</title></svg><script>alert(1)</script><img src=x onerror=\"a\">";
  std::vector<Launch> base = MakeArm(evil, {}, 3, false);
  std::vector<Launch> fresh = MakeArm(evil, {.step_ms = 120}, 3, true);
  for (auto* arm : {&base, &fresh}) {
    for (Launch& launch : *arm) {
      launch.facts.workload = launch.facts.hosts = evil;
      if (arm == &fresh) launch.names[{evil, evil}] = {2, 5e6};
    }
  }
  const NamedComparison one{evil, MustCompare(base, fresh)};
  const std::string page = RenderHtml({&one, 1});
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
}

// One launch each, of a few steps that all take the same time: nothing divides by nothing.
TEST(RenderHtml, CanDoWithLittle) {
  const StepOf still{.noise_ms = 0};
  const NamedComparison one{
      "", MustCompare({MakeLaunch("a", still, 1, 4)}, {MakeLaunch("b", still, 2, 4)})};
  const std::string page = RenderHtml({&one, 1});
  EXPECT_THAT(page, HasSubstr("<svg"));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
  EXPECT_THAT(page, Not(HasSubstr("inf\"")));
}

}  // namespace
}  // namespace tutti::analyzer::compare
