#include "analyzer/compare/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analyzer/compare/testing/launches.h"
#include "analyzer/compare/testing/noise_model.h"

namespace tutti::analyzer::compare {
namespace {

using ::testing::HasSubstr;

struct Arms {
  std::vector<Launch> base;
  std::vector<Launch> fresh;
};

// Launches of one version whose step times follow the model.
Arms DrawArms(const testing::NoiseModel& model, int pairs, uint64_t seed) {
  Random random(seed);
  Arms arms;
  int64_t begin_ns = 0;
  const auto launch = [&](const std::string& name, double drift) {
    Launch drawn;
    drawn.name = name;
    for (const int64_t period_ns : testing::DrawLaunch(model, drift, random)) {
      StepRecord step;
      step.step = static_cast<int64_t>(drawn.steps.size());
      step.length_ns = period_ns;
      if (step.step > 0) step.period_ns = period_ns;
      drawn.steps.push_back(step);
    }
    drawn.begin_ns = begin_ns += 1'000'000'000;
    drawn.control_ns = 1e7 * std::exp(0.004 * random.Normal());
    return drawn;
  };
  for (int pair = 0; pair < pairs; ++pair) {
    const double drift = model.session_drift * random.Normal();
    arms.base.push_back(launch("a" + std::to_string(pair), drift));
    arms.fresh.push_back(launch("b" + std::to_string(pair), drift));
  }
  return arms;
}

Calibration MustCalibrate(const testing::NoiseModel& model, int pairs, uint64_t seed,
                          const CalibrationOptions& options = {}) {
  Arms arms = DrawArms(model, pairs, seed);
  auto calibration = Calibrate(std::move(arms.base), std::move(arms.fresh), options);
  EXPECT_TRUE(calibration.ok()) << calibration.status().message();
  return *std::move(calibration);
}

// Launches that differ by 0.6 %, and by 0.3 % more because of their steps (2 %, correlated, 190 of
// them), have pairs that differ by 0.67 % times the root of 2.
TEST(Calibrate, MeasuresTheSpreadOfLaunches) {
  double launch = 0;
  double pair = 0;
  constexpr int kSeeds = 5;
  CalibrationOptions options;
  options.resamples = 10;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Calibration calibration = MustCalibrate(testing::kNoiseModels[0], 24, seed, options);
    ASSERT_EQ(calibration.noise.size(), 1U);  // no communication in these launches
    const GateNoise& noise = calibration.noise[0];
    EXPECT_EQ(noise.metric->name, "step_time");
    EXPECT_LT(noise.pair_sd_bounds.low, noise.pair_sd);
    EXPECT_GT(noise.pair_sd_bounds.high, noise.pair_sd);
    launch += noise.launch_sd / kSeeds;
    pair += noise.pair_sd / kSeeds;
    EXPECT_NEAR(*calibration.control_sd, 0.004 * std::sqrt(2), 0.003);
  }
  EXPECT_NEAR(launch, 0.0067, 0.0008);
  EXPECT_NEAR(pair, 0.0067 * std::sqrt(2), 0.0014);
}

// What drifts from pair to pair is in the launches' spread and not in that of the differences.
TEST(Calibrate, PairsDontDrift) {
  testing::NoiseModel model = testing::kNoiseModels[1];
  model.session_drift = 0.03;
  const GateNoise noise = MustCalibrate(model, 40, 4).noise[0];
  EXPECT_GT(noise.launch_sd, 0.02);
  EXPECT_LT(noise.pair_sd, 0.006);
}

// scipy: the first n at which the noncentrality for power 0.8 (brentq over st.nct.sf, alpha 0.01)
// times sd / sqrt(n) falls to log(1 + tau): 11 for 0.85 % and tau 1 %, 44 for 2 %; 5 for
// 0.85 % and tau 2 %, which is raised to the fewest that a comparison should have.
TEST(Calibrate, PlansAsManyPairsAsScipy) {
  for (const auto& [sd, effect, pairs] :
       {std::tuple{0.0085, 0.01, 11U}, {0.02, 0.01, 44U}, {0.0085, 0.02, 6U}}) {
    Arms arms;
    // Differences of exactly that size, in turns up and down.
    for (int pair = 0; pair < 8; ++pair) {
      const double delta = sd * (pair % 2 == 0 ? 1 : -1);
      for (auto* arm : {&arms.base, &arms.fresh}) {
        Launch launch;
        launch.name = std::to_string(pair);
        const double ns = 1e15 * (1 + pair) * std::exp(arm == &arms.fresh ? delta : 0);
        for (int i = 0; i < 20; ++i) {
          StepRecord step;
          step.step = i;
          step.length_ns = static_cast<int64_t>(ns);
          step.period_ns = step.length_ns;
          launch.steps.push_back(step);
        }
        arm->push_back(launch);
      }
    }
    const auto calibration = Calibrate(arms.base, arms.fresh, {});
    ASSERT_TRUE(calibration.ok()) << calibration.status().message();
    EXPECT_NEAR(calibration->noise[0].pair_sd, sd, 1e-9);
    const auto plan = std::ranges::find(calibration->plans, effect, &EffectPlan::min_effect);
    EXPECT_EQ(plan->pairs, pairs) << sd << " " << effect;
    EXPECT_GE(*plan->careful_pairs, *plan->pairs);
  }
}

TEST(Calibrate, ProposesTheSmallestEffectThatIsAffordable) {
  const Calibration quiet = MustCalibrate(testing::kNoiseModels[1], 24, 5);
  ASSERT_TRUE(quiet.proposal.has_value());
  EXPECT_LE(quiet.proposal->min_effect, 0.01);
  EXPECT_LE(*quiet.proposal->careful_pairs, 12U);
  const Calibration busy = MustCalibrate(testing::kNoiseModels[4], 24, 5);
  ASSERT_TRUE(busy.proposal.has_value());
  EXPECT_GE(busy.proposal->min_effect, 0.03);
  testing::NoiseModel wild = testing::kNoiseModels[4];
  wild.launch_sd = 0.5;
  const Calibration none = MustCalibrate(wild, 12, 5);
  EXPECT_FALSE(none.proposal.has_value());
  EXPECT_THAT(RenderCalibrationText(none), HasSubstr("too restless"));
}

// Over many calibrations: the share of false alarms of comparisons that share no launch is what
// the rule promises, and regressions are as many as improvements.
TEST(Calibrate, CountsFalseAlarms) {
  int64_t comparisons = 0;
  int64_t regressions = 0;
  int64_t improvements = 0;
  CalibrationOptions options;
  options.resamples = 2'000;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Calibration calibration = MustCalibrate(testing::kNoiseModels[0], 24, seed, options);
    EXPECT_EQ(calibration.separate.comparisons, 4);
    comparisons += calibration.separate.comparisons;
    regressions += calibration.separate.regressions;
    improvements += calibration.separate.improvements;
    EXPECT_EQ(calibration.resampled.comparisons, 2'000);
    EXPECT_LE(calibration.resampled.regressions, 60);
    EXPECT_NEAR(static_cast<double>(calibration.resampled.regressions),
                static_cast<double>(calibration.resampled.improvements), 40);
  }
  EXPECT_EQ(comparisons, 80);
  EXPECT_LE(regressions, 4);
  EXPECT_LE(improvements, 4);
}

TEST(Calibrate, WantsPairs) {
  Arms arms = DrawArms(testing::kNoiseModels[1], 3, 1);
  EXPECT_EQ(Calibrate(arms.base, arms.fresh, {}).status().code(), StatusCode::kUsage);
}

TEST(RenderCalibration, SaysTheProposalFirstAndAsNumbers) {
  const Calibration calibration = MustCalibrate(testing::kNoiseModels[1], 24, 5);
  const std::string text = RenderCalibrationText(calibration);
  EXPECT_TRUE(text.starts_with("proposal: --min-effect ")) << text;
  EXPECT_THAT(text, HasSubstr("comparisons that share no launch, 6 pairs, min effect 1.00 %"));
  const auto json = nlohmann::json::parse(RenderCalibrationJson(calibration));
  EXPECT_EQ(json.at("schema"), "tutti.calibration/1");
  EXPECT_EQ(json.at("separate").at("comparisons"), 4);
  EXPECT_EQ(json.at("proposal").at("pairs"), *calibration.proposal->pairs);
  EXPECT_EQ(json.at("noise")[0].at("metric"), "step_time");
}

}  // namespace
}  // namespace tutti::analyzer::compare
