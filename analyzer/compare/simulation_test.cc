// What verdicts are worth, counted over thousands of comparisons of launches of imaginary jobs
// (testing/noise_model.h). Seeded: a count is the same on every machine. Limits are those
// of docs/compare.md; a failure says with Clopper-Pearson bounds what was counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "analyzer/compare/confirmation.h"
#include "analyzer/compare/distributions.h"
#include "analyzer/compare/level.h"
#include "analyzer/compare/testing/noise_model.h"
#include "analyzer/compare/verdict.h"
#include "analyzer/metrics/steady.h"

namespace tutti::analyzer::compare {
namespace {

using testing::DrawLaunch;
using testing::NoiseModel;

constexpr int kPairs = 6;

// The estimate of one comparison of six pairs as `tutti compare` makes it.
Estimate DrawComparison(const NoiseModel& model, double shift, Random& random) {
  std::vector<std::vector<int64_t>> base;
  std::vector<std::vector<int64_t>> fresh;
  size_t warmup = 0;
  const auto draw = [&](std::vector<std::vector<int64_t>>& arm, double level) {
    arm.push_back(DrawLaunch(model, level, random));
    warmup = std::max(warmup, FindSteadyState(arm.back()).warmup_steps);
  };
  for (int pair = 0; pair < kPairs; ++pair) {
    const double drift = model.session_drift * random.Normal();
    draw(base, drift);
    draw(fresh, drift + shift);
  }
  std::vector<double> differences;
  const auto level = [&](const std::vector<int64_t>& steps) {
    return std::log(StepLevelOf(std::span(steps).subspan(warmup)).trimmed_ns);
  };
  for (size_t i = 0; i < base.size(); ++i) differences.push_back(level(fresh[i]) - level(base[i]));
  return PairedEstimate(differences);
}

struct Counts {
  int trials = 0;
  int regressions = 0;
  int confirmed = 0;  // of these: shown again by further pairs (confirmation.h)
  int improvements = 0;
  int no_regressions = 0;
  int covered = 0;  // the interval holds the true shift

  double Share(int count) const { return static_cast<double>(count) / trials; }
  std::string Bounds(int count) const {
    const compare::Bounds bounds = ClopperPearson(count, trials, 0.95);
    return std::to_string(count) + " of " + std::to_string(trials) + ", 95 % bounds " +
           std::to_string(bounds.low) + " to " + std::to_string(bounds.high);
  }
};

bool IsConfirmed(const NoiseModel& model, double shift, Random& random) {
  const Estimate further = DrawComparison(model, shift, random);
  const Rule rule = {.alpha = kConfirmationAlpha};
  return Judge(further, {further.p_up, further.p_down}, true, rule) == Verdict::kRegression;
}

Counts Simulate(const NoiseModel& model, double shift, int trials, uint64_t seed,
                const Rule& rule = {}) {
  Random random(seed);
  Random further(seed + 1);
  Counts counts;
  for (int trial = 0; trial < trials; ++trial) {
    const Estimate estimate = DrawComparison(model, shift, random);
    const Verdict verdict = Judge(estimate, {estimate.p_up, estimate.p_down}, true, rule);
    ++counts.trials;
    counts.regressions += verdict == Verdict::kRegression ? 1 : 0;
    if (verdict == Verdict::kRegression && IsConfirmed(model, shift, further)) ++counts.confirmed;
    counts.improvements += verdict == Verdict::kImprovement ? 1 : 0;
    counts.no_regressions += verdict == Verdict::kNoRegression ? 1 : 0;
    counts.covered += estimate.low <= shift && shift <= estimate.high ? 1 : 0;
  }
  return counts;
}

class NullSimulation : public ::testing::TestWithParam<NoiseModel> {};

// Nothing changed: at most 1.3 % regressions, as many improvements, and intervals that hold
// what they promise.
TEST_P(NullSimulation, RarelyRaisesAFalseAlarm) {
  const Counts counts = Simulate(GetParam(), 0, 5'000, 20'260'101);
  RecordProperty("false_regressions", counts.Bounds(counts.regressions));
  EXPECT_LE(counts.Share(counts.regressions), 0.013) << counts.Bounds(counts.regressions);
  EXPECT_LE(counts.Share(counts.confirmed), 0.001) << counts.Bounds(counts.confirmed);
  EXPECT_LE(counts.Share(counts.improvements), 0.013) << counts.Bounds(counts.improvements);
  EXPECT_NEAR(counts.Share(counts.covered), 0.95, 0.015) << counts.Bounds(counts.covered);
}

INSTANTIATE_TEST_SUITE_P(Models, NullSimulation, ::testing::ValuesIn(testing::kNoiseModels),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(PowerSimulation, FindsFivePercentNearlyAlwaysAndTwoMostly) {
  const NoiseModel base = testing::kNoiseModels[0];
  const Counts five = Simulate(base, std::log(1.05), 1'000, 5);
  EXPECT_GE(five.Share(five.regressions), 0.99) << five.Bounds(five.regressions);
  const Counts two = Simulate(base, std::log(1.02), 2'000, 2);
  EXPECT_GE(two.Share(two.regressions), 0.85) << two.Bounds(two.regressions);
  EXPECT_GE(two.Share(two.confirmed), 0.8) << two.Bounds(two.confirmed);
}

TEST(PowerSimulation, NeverClearsTwiceTheEffectThatMatters) {
  const Counts counts = Simulate(testing::kNoiseModels[0], 0.02, 2'000, 9);
  EXPECT_LE(counts.Share(counts.no_regressions), 0.01) << counts.Bounds(counts.no_regressions);
}

// The minimum detectable effect that a comparison prints is found by 80 % of comparisons with
// such an effect. Normal differences of known spread: the printed value varies with the
// spread that the comparison happened to see.
TEST(PowerSimulation, KeepsThePromiseOfTheMinimumDetectableEffect) {
  const Rule rule;
  Random random(11);
  int found = 0;
  constexpr int kTrials = 4'000;
  // The mean printed effect over comparisons is what is promised.
  const double sd = 0.012;
  const double factor = NoncentralityForPower(rule.alpha, rule.power, kPairs - 1);
  const double promised = factor * sd / std::sqrt(static_cast<double>(kPairs));
  double printed = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> differences(kPairs);
    for (double& difference : differences) difference = promised + sd * random.Normal();
    const Estimate estimate = PairedEstimate(differences);
    const Verdict verdict = Judge(estimate, {estimate.p_up, estimate.p_down}, true, rule);
    found += verdict == Verdict::kRegression ? 1 : 0;
    if (trial < 300) printed += *MinimumDetectableEffect(estimate, 1, rule) / 300;
  }
  EXPECT_NEAR(static_cast<double>(found) / kTrials, 0.8, 0.05);
  EXPECT_NEAR(printed, promised, 0.06 * promised);
}

}  // namespace
}  // namespace tutti::analyzer::compare
