#include "analyzer/compare/calibration.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/compare/random.h"

namespace tutti::analyzer::compare {
namespace {

constexpr size_t kFewestPairs = 4;
// With fewer the sign of one pair decides, and no t test has much power (ci.md, rule 5).
constexpr size_t kFewestPerComparison = 6;
constexpr double kEffects[] = {0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2};

// A gate with the differences of its pairs, on its scale.
struct GateDifferences {
  const Metric* metric = nullptr;
  std::vector<double> differences;
  std::vector<double> values;  // of all launches
};

std::vector<GateDifferences> DifferencesOf(const Comparison& all) {
  std::vector<GateDifferences> gates;
  for (const MetricResult& result : all.metrics) {
    if (!result.is_gate || !result.estimate) continue;
    GateDifferences gate{result.metric, {}, ScaledValues(*result.metric, all.base, all)};
    const std::vector<double> fresh = ScaledValues(*result.metric, all.fresh, all);
    for (size_t i = 0; i < fresh.size(); ++i) {
      gate.differences.push_back(fresh[i] - gate.values[i]);
    }
    gate.values.insert(gate.values.end(), fresh.begin(), fresh.end());
    gates.push_back(std::move(gate));
  }
  return gates;
}

// Around `mean`, divided by `dof`.
double DeviationAround(const std::vector<double>& values, double mean, double dof) {
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / dof);
}

double DeviationOf(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  return DeviationAround(values, mean, n - 1);
}

// Nothing changed, so that the differences' true mean is 0: it need not be estimated.
double PairDeviation(const std::vector<double>& differences) {
  return DeviationAround(differences, 0, static_cast<double>(differences.size()));
}

GateNoise NoiseOf(const GateDifferences& gate) {
  GateNoise noise{gate.metric, DeviationOf(gate.values), PairDeviation(gate.differences), {}};
  noise.pair_sd_bounds =
      DeviationBounds(noise.pair_sd, static_cast<double>(gate.differences.size()), 0.95);
  return noise;
}

// Pairs that find `rule.min_effect` of a gate whose differences have that spread.
std::optional<size_t> PairsFor(double pair_sd, size_t gates, const Rule& rule) {
  // An estimate of many pairs with a spread that is known.
  constexpr size_t kMany = 100'000;
  Estimate estimate;
  estimate.base_launches = estimate.new_launches = kMany;
  estimate.dof = static_cast<double>(kMany - 1);
  estimate.se = pair_sd / std::sqrt(static_cast<double>(kMany));
  const auto pairs = LaunchesForMinEffect(estimate, gates, rule);
  return pairs ? std::optional(std::max(*pairs, kFewestPerComparison)) : pairs;
}

// The most that any gate needs; nothing if one can't be served.
std::optional<size_t> PairsForAll(const std::vector<GateDifferences>& gates, bool careful,
                                  const Comparison& all, double min_effect) {
  Comparison ruled;
  ruled.options = all.options;
  ruled.options.rule.min_effect = min_effect;
  ruled.options.min_effects.clear();
  size_t most = 0;
  for (const GateDifferences& gate : gates) {
    double sd = PairDeviation(gate.differences);
    // The upper end of a one-sided 80 % interval, as Browne (1995) plans sample sizes.
    if (careful) {
      sd = DeviationBounds(sd, static_cast<double>(gate.differences.size()), 0.6).high;
    }
    const auto pairs = PairsFor(sd, gates.size(), ScaledRule(*gate.metric, ruled));
    if (!pairs) return {};
    most = std::max(most, *pairs);
  }
  return most;
}

// The verdict on the chosen pairs, whose labels are exchanged where `flip` says so.
Verdict JudgePairs(const std::vector<GateDifferences>& gates, const std::vector<size_t>& chosen,
                   const std::vector<char>& flip, const Comparison& ruled) {
  std::vector<Estimate> estimates;
  std::vector<double> up;
  std::vector<double> down;
  for (const GateDifferences& gate : gates) {
    std::vector<double> differences;
    for (size_t i = 0; i < chosen.size(); ++i) {
      differences.push_back(gate.differences[chosen[i]] * (flip[i] != 0 ? -1 : 1));
    }
    estimates.push_back(PairedEstimate(differences, /*permute=*/false));
    up.push_back(estimates.back().p_up);
    down.push_back(estimates.back().p_down);
  }
  const std::vector<double> adjusted_up = Holm(up);
  const std::vector<double> adjusted_down = Holm(down);
  bool improved = false;
  bool open = false;
  for (size_t i = 0; i < gates.size(); ++i) {
    const Verdict verdict =
        Judge(estimates[i], {adjusted_up[i], adjusted_down[i]}, gates[i].metric->higher_is_worse,
              ScaledRule(*gates[i].metric, ruled));
    if (verdict == Verdict::kRegression) return verdict;
    improved = improved || verdict == Verdict::kImprovement;
    open = open || verdict == Verdict::kInconclusive;
  }
  if (open) return Verdict::kInconclusive;
  return improved ? Verdict::kImprovement : Verdict::kNoRegression;
}

void Count(Verdict verdict, AlarmCount& count) {
  ++count.comparisons;
  count.regressions += verdict == Verdict::kRegression ? 1 : 0;
  count.improvements += verdict == Verdict::kImprovement ? 1 : 0;
  count.cleared += verdict == Verdict::kNoRegression ? 1 : 0;
}

// Random pairs of those there are, each with a random side as base.
AlarmCount Resample(const std::vector<GateDifferences>& gates, const Comparison& all,
                    double min_effect, size_t pairs, int64_t resamples) {
  AlarmCount count{.min_effect = min_effect, .pairs = pairs};
  Comparison ruled;
  ruled.options = all.options;
  ruled.options.rule.min_effect = min_effect;
  Random random(all.options.seed);
  std::vector<size_t> order(all.base.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (int64_t i = 0; i < resamples; ++i) {
    std::vector<size_t> chosen;
    std::vector<char> flip;
    for (size_t place = 0; place < pairs; ++place) {
      std::swap(order[place], order[place + random.Below(order.size() - place)]);
      chosen.push_back(order[place]);
      flip.push_back(random.Uniform() < 0.5 ? 1 : 0);
    }
    Count(JudgePairs(gates, chosen, flip, ruled), count);
  }
  return count;
}

// As `tutti compare` would have judged each: neighbours in time, with a warm-up of their own.
Result<AlarmCount> CompareApart(const Comparison& all, size_t pairs) {
  AlarmCount count{.min_effect = all.options.rule.min_effect, .pairs = pairs};
  for (size_t begin = 0; begin + pairs <= all.base.size(); begin += pairs) {
    const auto part = [&](const std::vector<Launch>& arm) {
      const auto first = arm.begin() + static_cast<std::ptrdiff_t>(begin);
      return std::vector<Launch>(first, first + static_cast<std::ptrdiff_t>(pairs));
    };
    TUTTI_ASSIGN_OR_RETURN(const Comparison one,
                           Compare(part(all.base), part(all.fresh), all.options));
    Count(one.verdict, count);
  }
  return count;
}

std::optional<double> ControlDeviation(const Comparison& all) {
  std::vector<double> differences;
  for (size_t i = 0; i < all.base.size(); ++i) {
    if (!all.base[i].control_ns || !all.fresh[i].control_ns) return {};
    differences.push_back(std::log(*all.fresh[i].control_ns / *all.base[i].control_ns));
  }
  return PairDeviation(differences);
}

}  // namespace

Result<Calibration> Calibrate(std::vector<Launch> base, std::vector<Launch> fresh,
                              const CalibrationOptions& options) {
  if (base.size() != fresh.size() || base.size() < kFewestPairs) {
    return UsageError("a calibration needs at least " + std::to_string(kFewestPairs) +
                      " pairs of launches of one version; there are " +
                      std::to_string(std::min(base.size(), fresh.size())));
  }
  Calibration calibration;
  CompareOptions compare = options.compare;
  compare.pairing = Pairing::kPaired;
  TUTTI_ASSIGN_OR_RETURN(calibration.all, Compare(std::move(base), std::move(fresh), compare));
  const std::vector<GateDifferences> gates = DifferencesOf(calibration.all);
  if (gates.empty()) return BadDataError("no gate can be tested on these runs");
  for (const GateDifferences& gate : gates) calibration.noise.push_back(NoiseOf(gate));
  for (const double effect : kEffects) {
    EffectPlan plan{effect, PairsForAll(gates, false, calibration.all, effect),
                    PairsForAll(gates, true, calibration.all, effect)};
    const bool affordable = plan.careful_pairs && *plan.careful_pairs <= options.most_pairs;
    if (affordable && !calibration.proposal) calibration.proposal = plan;
    calibration.plans.push_back(plan);
  }
  const size_t all_pairs = calibration.all.base.size();
  const size_t pairs = std::min(options.pairs, all_pairs);
  TUTTI_ASSIGN_OR_RETURN(calibration.separate, CompareApart(calibration.all, pairs));
  calibration.resampled =
      Resample(gates, calibration.all, compare.rule.min_effect, pairs, options.resamples);
  if (calibration.proposal && *calibration.proposal->careful_pairs <= all_pairs) {
    calibration.resampled_proposal =
        Resample(gates, calibration.all, calibration.proposal->min_effect,
                 *calibration.proposal->careful_pairs, options.resamples);
  }
  calibration.control_sd = ControlDeviation(calibration.all);
  return calibration;
}

}  // namespace tutti::analyzer::compare
