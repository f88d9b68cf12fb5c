#include "analyzer/compare/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "analyzer/compare/permutation.h"
#include "analyzer/compare/random.h"

namespace tutti::analyzer::compare {
namespace {

const std::vector<double> kDifferences = {0.012, 0.018, -0.004, 0.021, 0.009, 0.015, 0.007, 0.011};
const std::vector<double> kBase = {4.60, 4.62, 4.61, 4.59, 4.63};
const std::vector<double> kNew = {4.66, 4.62, 4.68, 4.64, 4.67, 4.70};

// scipy 1.17.1: st.ttest_1samp(d, 0, alternative='greater'), .confidence_interval() of the
// two-sided test; st.permutation_test((d,), np.sum, permutation_type='samples')
TEST(PairedEstimate, MatchesScipy) {
  const Estimate estimate = PairedEstimate(kDifferences);
  EXPECT_EQ(estimate.design, Design::kPaired);
  EXPECT_NEAR(estimate.delta, 0.011125, 1e-12);
  EXPECT_NEAR(estimate.se, 0.002708699608932037, 1e-12);
  EXPECT_NEAR(estimate.p_up, 0.0022660942421488797, 1e-9);
  EXPECT_NEAR(estimate.p_down, 1 - 0.0022660942421488797, 1e-9);
  EXPECT_NEAR(estimate.low, 0.004719943214439414, 1e-9);
  EXPECT_NEAR(estimate.high, 0.017530056785560584, 1e-9);
  EXPECT_NEAR(*estimate.permutation_p_up, 0.0078125, 1e-12);
  EXPECT_NEAR(*estimate.permutation_p_down, 0.99609375, 1e-12);
}

// scipy: st.ttest_ind(b, a, equal_var=False, alternative='greater');
// st.permutation_test((b, a), difference of means, n_resamples=inf, alternative='greater')
TEST(UnpairedEstimate, MatchesScipy) {
  const Estimate estimate = UnpairedEstimate(kBase, kNew);
  EXPECT_NEAR(estimate.delta / estimate.se, 3.7872527750455256, 1e-9);
  EXPECT_NEAR(estimate.dof, 7.998930862437652, 1e-9);
  EXPECT_NEAR(estimate.p_up, 0.0026669951182889157, 1e-9);
  EXPECT_NEAR(estimate.low, 0.0202068391787655, 1e-9);
  EXPECT_NEAR(estimate.high, 0.08312649415456977, 1e-9);
  EXPECT_NEAR(*estimate.permutation_p_up, 0.006493506493506494, 1e-12);
}

// numpy: (4.66 - mean(h)) / (std(h, ddof=1) * sqrt(1 + 1/5)); st.t.sf(t, 4)
TEST(OneAgainstEstimate, IsAPredictionInterval) {
  const Estimate estimate = OneAgainstEstimate(kBase, std::vector<double>{4.66});
  EXPECT_NEAR(estimate.delta / estimate.se, 2.8867513459481544, 1e-9);
  EXPECT_NEAR(estimate.p_up, 0.022354293639839734, 1e-9);
  const Estimate mirrored = OneAgainstEstimate(std::vector<double>{4.66}, kBase);
  EXPECT_NEAR(mirrored.delta, -estimate.delta, 1e-12);
  EXPECT_NEAR(mirrored.p_down, estimate.p_up, 1e-12);
}

TEST(EstimateDifference, ChoosesByTheNumberOfLaunches) {
  const std::vector<double> one = {4.6};
  EXPECT_EQ(EstimateDifference(kBase, kBase, true)->design, Design::kPaired);
  EXPECT_EQ(EstimateDifference(kBase, kBase, false)->design, Design::kUnpaired);
  EXPECT_EQ(EstimateDifference(kBase, kNew, true)->design, Design::kUnpaired);
  EXPECT_EQ(EstimateDifference(one, kNew, true)->design, Design::kOneAgainst);
  EXPECT_FALSE(EstimateDifference(one, one, true).has_value());
  EXPECT_FALSE(EstimateDifference({}, kNew, true).has_value());
}

TEST(PairedEstimate, IsCertainOfWhatNeverVaries) {
  const Estimate up = PairedEstimate(std::vector<double>{0.5, 0.5, 0.5});
  EXPECT_EQ(up.p_up, 0);
  EXPECT_EQ(up.p_down, 1);
  EXPECT_EQ(up.low, 0.5);
  const Estimate same = PairedEstimate(std::vector<double>{0, 0, 0});
  EXPECT_EQ(same.p_up, 1);
  EXPECT_EQ(same.p_down, 1);
}

TEST(Permutation, SamplesWhereThereAreTooManyArrangements) {
  Random random(3);
  std::vector<double> many(40);
  for (double& value : many) value = 0.3 + random.Normal();
  // A sample mean of 0.3 sigma over 40: about two standard errors.
  const PermutationP flips = SignFlips(many);
  EXPECT_GT(flips.up, 0);
  EXPECT_NEAR(flips.up + flips.down, 1, 0.01);
  EXPECT_NEAR(flips.up, PairedEstimate(many).p_up, 0.01);
  const std::vector<double> base(many.begin(), many.begin() + 20);
  std::vector<double> fresh(many.begin() + 20, many.end());
  for (double& value : fresh) value += 0.5;
  EXPECT_NEAR(LabelPermutations(base, fresh).up, UnpairedEstimate(base, fresh).p_up, 0.01);
}

TEST(Permutation, CountsTiesOnBothSides) {
  const std::vector<double> balanced = {1, -1};  // sums 0, 2, -2, 0
  EXPECT_EQ(SignFlips(balanced).up, 0.75);
  EXPECT_EQ(SignFlips(balanced).down, 0.75);
}

TEST(AutocorrelationTime, OfAnAutoregressiveSeriesIsKnown) {
  Random random(5);
  std::vector<double> series;
  double value = 0;
  for (int i = 0; i < 20'000; ++i) {
    value = 0.6 * value + random.Normal();
    series.push_back(value);
  }
  EXPECT_NEAR(AutocorrelationTime(series), 1.6 / 0.4, 0.4);  // (1 + rho) / (1 - rho)
  EXPECT_EQ(AutocorrelationTime(std::vector<double>(50, 7.0)), 1);
}

std::vector<double> NormalSteps(double mean, double sd, int count, uint64_t seed) {
  Random random(seed);
  std::vector<double> steps;
  for (int i = 0; i < count; ++i) steps.push_back(mean + sd * random.Normal());
  return steps;
}

// Of independent normal steps the standard error is known: that of a 20 % trimmed mean is
// sqrt(1/0.88) times sd/sqrt(n) (efficiency of the trimmed mean: about 0.88 to 0.9).
TEST(WithinLaunchEstimate, HasTheErrorOfIndependentSteps) {
  const auto base = NormalSteps(100, 2, 400, 1);
  const auto fresh = NormalSteps(108, 2, 400, 2);
  const Estimate estimate = WithinLaunchEstimate(base, fresh, true, 7);
  EXPECT_EQ(estimate.design, Design::kWithinLaunch);
  EXPECT_NEAR(estimate.delta, std::log(1.08), 0.005);
  const double expected = std::sqrt(0.02 * 0.02 / 400 * (1 + 1 / (1.08 * 1.08)) / 0.88);
  EXPECT_NEAR(estimate.se, expected, 0.25 * expected);
  EXPECT_LT(estimate.low, estimate.delta);
  EXPECT_GT(estimate.high, estimate.delta);
  EXPECT_LT(estimate.p_up, 0.001);
  EXPECT_GT(estimate.p_down, 0.99);
}

TEST(WithinLaunchEstimate, IsTheSameForTheSameSeed) {
  const auto base = NormalSteps(100, 5, 60, 1);
  const auto fresh = NormalSteps(100, 5, 60, 2);
  const Estimate first = WithinLaunchEstimate(base, fresh, true, 7);
  const Estimate second = WithinLaunchEstimate(base, fresh, true, 7);
  EXPECT_EQ(first.low, second.low);
  EXPECT_EQ(first.p_up, second.p_up);
  EXPECT_GT(first.p_up, 0.01);
}

}  // namespace
}  // namespace tutti::analyzer::compare
