// From estimates to verdicts. A regression must be both beyond chance and large enough to
// matter; "no regression" must be shown as well; everything else is said to be open.
// Pure functions; callable from any thread.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/compare/estimate.h"

namespace tutti::analyzer::compare {

enum class Verdict {
  kRegression,
  kImprovement,
  kNoRegression,
  kNoRegressionShown,  // within launches only: less than kNoRegression
  kInconclusive,
  kEnvironmentChanged,  // the control moved: nothing can be said about the change
};
std::string_view VerdictName(Verdict verdict);   // "regression", "no_regression", …
std::string_view VerdictWords(Verdict verdict);  // "REGRESSION", "no regression", …

// Frozen before anything is measured.
struct Rule {
  double alpha = 0.01;       // one-sided level of a regression, over all gates together
  double min_effect = 0.01;  // tau, on the scale of the estimates
  double power = 0.8;        // of the minimum detectable effect
};

// Adjusted p-values in the order given, at most 1.
std::vector<double> Holm(std::span<const double> p);               // family-wise
std::vector<double> BenjaminiHochberg(std::span<const double> p);  // false discovery rate

// p-values of a rise and of a fall that are adjusted for the other gates.
struct AdjustedP {
  double up = 1;
  double down = 1;
};

// Regression: p < alpha and delta >= tau in the bad direction; the mirror is an improvement.
// No regression: delta + t_.95 * se < tau. Within a launch: regression, improvement or
// "no regression shown".
Verdict Judge(const Estimate& estimate, AdjustedP adjusted, bool higher_is_worse, const Rule& rule);

// The effect that such a comparison finds with `rule.power`, as one of `gates` gates:
// max(lambda * se / c4, tau + t_power * se) with lambda of the noncentral t at
// alpha / gates. Nothing within a launch, where noise between launches isn't known.
std::optional<double> MinimumDetectableEffect(const Estimate& estimate, size_t gates,
                                              const Rule& rule);

// How many pairs (or launches a side) bring the first part of that down to tau: then an
// effect of twice tau is found nearly always. Nothing if that takes more than 1,000, or
// within a launch.
std::optional<size_t> LaunchesForMinEffect(const Estimate& estimate, size_t gates,
                                           const Rule& rule);

}  // namespace tutti::analyzer::compare
