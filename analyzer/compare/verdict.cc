#include "analyzer/compare/verdict.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/compare/distributions.h"

namespace tutti::analyzer::compare {
namespace {

constexpr size_t kMostLaunches = 1'000;

std::vector<size_t> AscendingOrder(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return p[a] < p[b]; });
  return order;
}

}  // namespace

std::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRegression:
      return "regression";
    case Verdict::kImprovement:
      return "improvement";
    case Verdict::kNoRegression:
      return "no_regression";
    case Verdict::kNoRegressionShown:
      return "no_regression_shown";
    case Verdict::kInconclusive:
      return "inconclusive";
    case Verdict::kEnvironmentChanged:
      return "environment_changed";
  }
  return "";
}

std::string_view VerdictWords(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRegression:
      return "REGRESSION";
    case Verdict::kImprovement:
      return "improvement";
    case Verdict::kNoRegression:
      return "no regression";
    case Verdict::kNoRegressionShown:
      return "no regression shown";
    case Verdict::kInconclusive:
      return "inconclusive";
    case Verdict::kEnvironmentChanged:
      return "environment changed";
  }
  return "";
}

std::vector<double> Holm(std::span<const double> p) {
  std::vector<double> adjusted(p.size());
  double highest = 0;
  size_t left = p.size();
  for (const size_t index : AscendingOrder(p)) {
    highest = std::max(highest, std::min(1.0, p[index] * static_cast<double>(left--)));
    adjusted[index] = highest;
  }
  return adjusted;
}

std::vector<double> BenjaminiHochberg(std::span<const double> p) {
  std::vector<double> adjusted(p.size());
  std::vector<size_t> order = AscendingOrder(p);
  double lowest = 1;
  for (size_t place = order.size(); place > 0; --place) {
    const double scaled =
        p[order[place - 1]] * static_cast<double>(p.size()) / static_cast<double>(place);
    lowest = std::min(lowest, scaled);
    adjusted[order[place - 1]] = lowest;
  }
  return adjusted;
}

Verdict Judge(const Estimate& estimate, AdjustedP adjusted, bool higher_is_worse,
              const Rule& rule) {
  const double worse = higher_is_worse ? estimate.delta : -estimate.delta;
  const double p_worse = higher_is_worse ? adjusted.up : adjusted.down;
  const double p_better = higher_is_worse ? adjusted.down : adjusted.up;
  if (p_worse < rule.alpha && worse >= rule.min_effect) return Verdict::kRegression;
  if (p_better < rule.alpha && worse <= -rule.min_effect) return Verdict::kImprovement;
  if (estimate.design == Design::kWithinLaunch) return Verdict::kNoRegressionShown;
  const double margin = estimate.se > 0 ? StudentTQuantile(0.95, estimate.dof) * estimate.se : 0;
  return worse + margin < rule.min_effect ? Verdict::kNoRegression : Verdict::kInconclusive;
}

std::optional<double> MinimumDetectableEffect(const Estimate& estimate, size_t gates,
                                              const Rule& rule) {
  if (estimate.design == Design::kWithinLaunch) return {};
  if (estimate.se <= 0) return rule.min_effect;
  const double alpha = rule.alpha / static_cast<double>(std::max<size_t>(gates, 1));
  const double lambda = NoncentralityForPower(alpha, rule.power, estimate.dof);
  const double beyond_chance = lambda * estimate.se / UnbiasedDeviationFactor(estimate.dof);
  const double beyond_tau =
      rule.min_effect + StudentTQuantile(rule.power, estimate.dof) * estimate.se;
  return std::max(beyond_chance, beyond_tau);
}

std::optional<size_t> LaunchesForMinEffect(const Estimate& estimate, size_t gates,
                                           const Rule& rule) {
  if (estimate.design == Design::kWithinLaunch) return {};
  if (estimate.se <= 0) return 2;
  // Standard error times sqrt(launches a side) doesn't depend on their number.
  const auto a = static_cast<double>(estimate.base_launches);
  const auto b = static_cast<double>(estimate.new_launches);
  const bool paired = estimate.design == Design::kPaired;
  const double per_launch =
      estimate.se / UnbiasedDeviationFactor(estimate.dof) * std::sqrt(2 / (1 / a + 1 / b));
  const double alpha = rule.alpha / static_cast<double>(std::max<size_t>(gates, 1));
  const auto reaches = [&](size_t launches) {
    const auto n = static_cast<double>(launches);
    const double dof = paired ? n - 1 : 2 * (n - 1);
    return NoncentralityForPower(alpha, rule.power, dof) * per_launch / std::sqrt(n) <=
           rule.min_effect;
  };
  if (!reaches(kMostLaunches)) return {};
  size_t too_few = 1;
  size_t enough = kMostLaunches;
  while (enough - too_few > 1) {
    const size_t middle = (too_few + enough) / 2;
    (reaches(middle) ? enough : too_few) = middle;
  }
  return enough;
}

}  // namespace tutti::analyzer::compare
