#include "analyzer/compare/verdict.h"

#include <gtest/gtest.h>

#include <vector>

namespace tutti::analyzer::compare {
namespace {

// By hand: sorted p times 6, 5, 4, …, never falling.
TEST(Holm, AdjustsInOrderOfSize) {
  const std::vector<double> p = {0.011, 0.0002, 0.03, 0.2, 0.004, 0.9};
  const std::vector<double> expected = {0.044, 0.0012, 0.09, 0.4, 0.02, 0.9};
  const std::vector<double> adjusted = Holm(p);
  for (size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(adjusted[i], expected[i], 1e-12) << i;
  EXPECT_EQ(Holm(std::vector<double>{0.6, 0.7}), (std::vector<double>{1, 1}));
}

// scipy 1.17.1: scipy.stats.false_discovery_control(p)
TEST(BenjaminiHochberg, MatchesScipy) {
  const std::vector<double> p = {0.011, 0.0002, 0.03, 0.2, 0.004, 0.9};
  const std::vector<double> expected = {0.022, 0.0012, 0.045, 0.24, 0.012, 0.9};
  const std::vector<double> adjusted = BenjaminiHochberg(p);
  for (size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(adjusted[i], expected[i], 1e-12) << i;
}

Verdict JudgeAlone(const Estimate& estimate, bool higher_is_worse = true) {
  return Judge(estimate, {estimate.p_up, estimate.p_down}, higher_is_worse, Rule{});
}

Verdict OfPairs(std::vector<double> differences) { return JudgeAlone(PairedEstimate(differences)); }

TEST(Judge, NeedsBothChanceExcludedAndAnEffectThatMatters) {
  EXPECT_EQ(OfPairs({0.05, 0.051, 0.049, 0.05, 0.052, 0.048}), Verdict::kRegression);
  EXPECT_EQ(OfPairs({-0.05, -0.051, -0.049, -0.05, -0.052, -0.048}), Verdict::kImprovement);
  // Certain, but half a percent: smaller than what matters.
  EXPECT_EQ(OfPairs({0.005, 0.0051, 0.0049, 0.005, 0.0052, 0.0048}), Verdict::kNoRegression);
  EXPECT_EQ(OfPairs({0.001, -0.001, 0.002, -0.002, 0.001, -0.001}), Verdict::kNoRegression);
  // Two percent on average, but it could as well be nothing or five.
  EXPECT_EQ(OfPairs({0.09, -0.06, 0.08, -0.05, 0.07, -0.01}), Verdict::kInconclusive);
}

TEST(Judge, TurnsRoundWhereHigherIsBetter) {
  const Estimate falls = PairedEstimate(std::vector<double>{-0.05, -0.051, -0.049, -0.05});
  EXPECT_EQ(JudgeAlone(falls, true), Verdict::kImprovement);
  EXPECT_EQ(JudgeAlone(falls, false), Verdict::kRegression);
}

TEST(Judge, SaysLessWithinALaunch) {
  const std::vector<double> steps = {100, 101, 99, 100, 102, 98, 100, 101, 99, 100};
  const Estimate same = WithinLaunchEstimate(steps, steps, true, 1);
  EXPECT_EQ(JudgeAlone(same), Verdict::kNoRegressionShown);
}

TEST(Judge, TrustsAdjustedProbabilities) {
  const Estimate estimate = PairedEstimate(std::vector<double>{0.02, 0.03, 0.01, 0.03, 0.02});
  ASSERT_LT(estimate.p_up, 0.01);
  EXPECT_EQ(Judge(estimate, {0.02, 1}, true, Rule{}), Verdict::kInconclusive);
}

// s = 0.006 over six pairs: se = 0.006/sqrt(6); lambda 4.404940727099947, c4 0.9515328619481445.
TEST(MinimumDetectableEffect, IsTheLargerOfBothConditions) {
  Estimate estimate;
  estimate.base_launches = estimate.new_launches = 6;
  estimate.dof = 5;
  estimate.se = 0.0024494897427831783;
  const double beyond_chance = 4.404940727099947 * estimate.se / 0.9515328619481445;
  EXPECT_NEAR(*MinimumDetectableEffect(estimate, 1, Rule{.min_effect = 0.0001}), beyond_chance,
              1e-9);
  // tau + t_.8 se: scipy st.t.ppf(.8, 5) = 0.9195437802408271
  EXPECT_NEAR(*MinimumDetectableEffect(estimate, 1, Rule{.min_effect = 0.05}),
              0.05 + 0.9195437802408271 * estimate.se, 1e-9);
  EXPECT_GT(*MinimumDetectableEffect(estimate, 2, Rule{.min_effect = 0.0001}), beyond_chance);
  estimate.design = Design::kWithinLaunch;
  EXPECT_FALSE(MinimumDetectableEffect(estimate, 1, Rule{}).has_value());
}

TEST(LaunchesForMinEffect, IsTheFirstNumberThatReachesIt) {
  Estimate estimate;
  estimate.base_launches = estimate.new_launches = 6;
  estimate.dof = 5;
  estimate.se = 0.0024494897427831783;
  const std::optional<size_t> needed = LaunchesForMinEffect(estimate, 1, Rule{});
  // scipy: first K with lambda(K-1) * 0.006 / 0.9515328619481445 / sqrt(K) <= 0.01
  EXPECT_EQ(needed, 7u);
  estimate.se = 1;
  EXPECT_FALSE(LaunchesForMinEffect(estimate, 1, Rule{}).has_value());
}

}  // namespace
}  // namespace tutti::analyzer::compare
