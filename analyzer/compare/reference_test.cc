// Every statistic that verdicts rest on, against SciPy (testing/reference.py), to 1e-9.
#include "analyzer/compare/testing/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/compare/distributions.h"
#include "analyzer/compare/estimate.h"
#include "analyzer/compare/level.h"
#include "analyzer/compare/verdict.h"
#include "analyzer/metrics/steady.h"

namespace tutti::analyzer::compare {
namespace {

using nlohmann::json;
using testing::ReferenceCases;

// To 1e-9 of what is expected, or of 1 where that is less.
void ExpectClose(double ours, const json& expected) {
  const auto value = expected.get<double>();
  EXPECT_NEAR(ours, value, 1e-9 * std::max(1.0, std::abs(value)));
}

std::vector<double> Numbers(const json& values) { return values.get<std::vector<double>>(); }

void ExpectTest(const Estimate& estimate, const json& one) {
  SCOPED_TRACE(one.dump());
  ExpectClose(estimate.delta / estimate.se, one["t"]);
  ExpectClose(estimate.dof, one["dof"]);
  ExpectClose(estimate.p_up, one["p_up"]);
  ExpectClose(estimate.p_down, one["p_down"]);
  ExpectClose(estimate.low, one["low"]);
  ExpectClose(estimate.high, one["high"]);
  ExpectClose(*estimate.permutation_p_up, one["exact_up"]);
  ExpectClose(*estimate.permutation_p_down, one["exact_down"]);
}

TEST(Reference, StudentT) {
  for (const json& one : ReferenceCases("student_t")) {
    ExpectClose(StudentTUpper(one["t"], one["dof"]), one["upper"]);
    ExpectClose(StudentTQuantile(one["p"], one["dof"]), one["quantile"]);
  }
}

TEST(Reference, Power) {
  for (const json& one : ReferenceCases("power")) {
    SCOPED_TRACE(one.dump());
    ExpectClose(NoncentralityForPower(one["alpha"], one["power"], one["dof"]),
                one["noncentrality"]);
    ExpectClose(UnbiasedDeviationFactor(one["dof"]), one["c4"]);
  }
}

TEST(Reference, BoundsOfDeviationsAndShares) {
  for (const json& one : ReferenceCases("deviation_bounds")) {
    const Bounds bounds = DeviationBounds(one["sd"], one["dof"], one["confidence"]);
    ExpectClose(bounds.low, one["low"]);
    ExpectClose(bounds.high, one["high"]);
  }
  for (const json& one : ReferenceCases("clopper_pearson")) {
    const Bounds bounds = ClopperPearson(one["hits"], one["trials"], 0.95);
    ExpectClose(bounds.low, one["low"]);
    ExpectClose(bounds.high, one["high"]);
  }
}

TEST(Reference, PairedTAndSignFlips) {
  for (const json& one : ReferenceCases("paired")) {
    ExpectTest(PairedEstimate(Numbers(one["differences"])), one);
  }
}

TEST(Reference, WelchAndLabelPermutations) {
  for (const json& one : ReferenceCases("unpaired")) {
    ExpectTest(UnpairedEstimate(Numbers(one["base"]), Numbers(one["new"])), one);
  }
}

TEST(Reference, OneAgainstSeveral) {
  for (const json& one : ReferenceCases("one_against")) {
    const Estimate estimate =
        OneAgainstEstimate(Numbers(one["history"]), std::vector<double>{one["one"]});
    ExpectClose(estimate.delta / estimate.se, one["t"]);
    ExpectClose(estimate.p_up, one["p_up"]);
    ExpectClose(estimate.low, one["low"]);
    ExpectClose(estimate.high, one["high"]);
  }
}

TEST(Reference, LevelOfALaunch) {
  for (const json& one : ReferenceCases("level")) {
    const StepLevel level = StepLevelOf(one["steps"].get<std::vector<int64_t>>());
    ExpectClose(level.trimmed_ns, one["trimmed"]);
    ExpectClose(level.mean_ns, one["mean"]);
    ExpectClose(level.p99_ns, one["p99"]);
    ExpectClose(level.tail_share, one["tail"]);
  }
}

TEST(Reference, Multiplicity) {
  for (const json& one : ReferenceCases("multiplicity")) {
    const std::vector<double> p = Numbers(one["p"]);
    const std::vector<double> holm = Holm(p);
    const std::vector<double> discovery = BenjaminiHochberg(p);
    for (size_t i = 0; i < p.size(); ++i) {
      ExpectClose(holm[i], one["holm"][i]);
      ExpectClose(discovery[i], one["benjamini_hochberg"][i]);
    }
  }
}

TEST(Reference, MinimumDetectableEffect) {
  for (const json& one : ReferenceCases("detectable")) {
    const Rule rule = {.min_effect = one["min_effect"]};
    const Estimate estimate = PairedEstimate(Numbers(one["differences"]));
    ExpectClose(*MinimumDetectableEffect(estimate, one["gates"], rule), one["detectable"]);
  }
}

TEST(Reference, WarmUpAndTrend) {
  for (const json& one : ReferenceCases("mser")) {
    EXPECT_EQ(MserCut(Numbers(one["series"])), one["cut"].get<size_t>()) << one.dump();
  }
  for (const json& one : ReferenceCases("trend")) {
    ExpectClose(TrendPValue(Numbers(one["series"])), one["p"]);
  }
}

TEST(Reference, AutocorrelationTime) {
  for (const json& one : ReferenceCases("autocorrelation")) {
    ExpectClose(AutocorrelationTime(Numbers(one["series"])), one["tau"]);
  }
}

}  // namespace
}  // namespace tutti::analyzer::compare
