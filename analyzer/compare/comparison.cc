#include "analyzer/compare/comparison.h"

#include <algorithm>
#include <cmath>

#include "analyzer/compare/arms.h"
#include "analyzer/compare/comparability.h"
#include "analyzer/compare/figures.h"

namespace tutti::analyzer::compare {
namespace {

constexpr double kFalseDiscoveryRate = 0.05;
constexpr double kControlLevel = 0.025;  // one-sided: what the control does by chance is no change
const std::vector<std::string> kDefaultGates = {"step_time", "exposed_comm"};

Status CheckGates(const std::vector<std::string>& gates) {
  for (const std::string& gate : gates) {
    if (FindMetric(gate) != nullptr) continue;
    std::string known;
    for (const Metric& metric : Metrics()) {
      if (!known.empty()) known += ", ";
      known += metric.name;
    }
    return UsageError("there is no metric \"" + gate + "\"; there are " + known);
  }
  return OkStatus();
}

bool IsGate(const Comparison& comparison, const Metric& metric) {
  const auto& gates = comparison.options.gates;
  return std::ranges::find(gates, metric.name) != gates.end();
}

// On the scale that is tested.
double OnScale(const Metric& metric, double value, double base_step_ns) {
  if (metric.scale == Scale::kRatio) return std::log(value);
  return metric.scale == Scale::kStepShare ? value / base_step_ns : value;
}

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double InUnit(const Metric& metric, double on_scale, double base_step_ns) {
  if (metric.scale == Scale::kRatio) return std::exp(on_scale);
  return metric.scale == Scale::kStepShare ? on_scale * base_step_ns : on_scale;
}

std::optional<Estimate> WithinLaunch(const Metric& metric, const Comparison& comparison) {
  if (metric.step_values == nullptr) return {};
  auto base = metric.step_values(comparison.base.front(), comparison.warmup);
  auto fresh = metric.step_values(comparison.fresh.front(), comparison.warmup);
  if (base.size() < 2 || fresh.size() < 2) return {};
  const bool in_logs = metric.scale == Scale::kRatio;
  if (!in_logs) {
    for (double& value : base) value /= comparison.base_step_ns;
    for (double& value : fresh) value /= comparison.base_step_ns;
  }
  return WithinLaunchEstimate(base, fresh, in_logs, comparison.options.seed);
}

MetricResult CompareMetric(const Metric& metric, const Comparison& comparison) {
  MetricResult result;
  result.metric = &metric;
  result.is_gate = IsGate(comparison, metric);
  const std::vector<double> base = ScaledValues(metric, comparison.base, comparison);
  const std::vector<double> fresh = ScaledValues(metric, comparison.fresh, comparison);
  if (!base.empty()) result.base = InUnit(metric, MeanOf(base), comparison.base_step_ns);
  if (!fresh.empty()) result.now = InUnit(metric, MeanOf(fresh), comparison.base_step_ns);
  if (base.empty() || fresh.empty()) {
    result.remark = base.empty() && fresh.empty() ? "no run has it" : "not every run has it";
    return result;
  }
  result.estimate = comparison.design == Design::kWithinLaunch
                        ? WithinLaunch(metric, comparison)
                        : EstimateDifference(base, fresh, comparison.design == Design::kPaired);
  if (!result.estimate) result.remark = "one value a launch can't be tested with one launch each";
  return result;
}

void CompareMetrics(Comparison& comparison) {
  for (const bool gates : {true, false}) {
    for (const Metric& metric : Metrics()) {
      if (IsGate(comparison, metric) != gates) continue;
      MetricResult result = CompareMetric(metric, comparison);
      if (result.base.value_or(0) != 0 || result.now.value_or(0) != 0) {
        comparison.metrics.push_back(std::move(result));
      } else if (gates && comparison.options.gates != kDefaultGates) {
        // Named by the user: it must not go without a word.
        comparison.notes.push_back(std::string(metric.name) + " is not gated: no run has any");
      }
    }
  }
}

// Step times given in tenths of a millisecond can't tell 0.6 ms from 0.7 ms.
bool IsBelowResolution(const MetricResult& result, const Comparison& comparison) {
  if (result.metric->name != "step_time") return false;
  int64_t resolution_ns = INT64_MAX;  // the finest that any run shows
  for (const auto* arm : {&comparison.base, &comparison.fresh}) {
    for (const Launch& launch : *arm) resolution_ns = std::min(resolution_ns, launch.resolution_ns);
  }
  return resolution_ns > 1 &&
         std::abs(*result.now - *result.base) <= static_cast<double>(resolution_ns) * 1.001;
}

Verdict JudgeGate(MetricResult& result, const Comparison& comparison) {
  if (!result.estimate) return Verdict::kInconclusive;
  if (comparison.is_identical && result.estimate->delta == 0) {
    result.remark = "both sides hold the very same data";
  } else if (IsBelowResolution(result, comparison)) {
    result.remark = "the difference is not more than the resolution in which times are given";
    return Verdict::kNoRegressionShown;
  }
  const Rule rule = ScaledRule(*result.metric, comparison);
  const Verdict verdict =
      Judge(*result.estimate, result.adjusted, result.metric->higher_is_worse, rule);
  const bool rises = result.estimate->delta > 0;
  const auto exact =
      rises ? result.estimate->permutation_p_up : result.estimate->permutation_p_down;
  const bool can_confirm = std::min(comparison.base.size(), comparison.fresh.size()) >= 7;
  if (verdict == Verdict::kRegression && exact && can_confirm && *exact >= rule.alpha) {
    result.remark = "a permutation test, which assumes no distribution, doesn't confirm it (p " +
                    PValue(*exact) + ")";
  }
  return verdict;
}

void JudgeGates(Comparison& comparison) {
  std::vector<MetricResult*> gates;
  std::vector<double> up;
  std::vector<double> down;
  for (MetricResult& result : comparison.metrics) {
    if (!result.is_gate || !result.estimate) continue;
    gates.push_back(&result);
    up.push_back(result.estimate->p_up);
    down.push_back(result.estimate->p_down);
  }
  const std::vector<double> adjusted_up = Holm(up);
  const std::vector<double> adjusted_down = Holm(down);
  for (size_t i = 0; i < gates.size(); ++i) {
    MetricResult& gate = *gates[i];
    gate.adjusted = {adjusted_up[i], adjusted_down[i]};
    const Rule rule = ScaledRule(*gate.metric, comparison);
    gate.detectable = MinimumDetectableEffect(*gate.estimate, gates.size(), rule);
    gate.launches_for_effect = LaunchesForMinEffect(*gate.estimate, gates.size(), rule);
  }
  for (MetricResult& result : comparison.metrics) {
    if (result.is_gate) result.verdict = JudgeGate(result, comparison);
  }
}

// The listed rest: false discovery rate 5 % over all of them.
void JudgeOthers(Comparison& comparison) {
  std::vector<MetricResult*> others;
  std::vector<double> p;
  for (MetricResult& result : comparison.metrics) {
    if (result.is_gate || !result.estimate) continue;
    others.push_back(&result);
    p.push_back(std::min(1.0, 2 * std::min(result.estimate->p_up, result.estimate->p_down)));
  }
  const std::vector<double> q = BenjaminiHochberg(p);
  for (size_t i = 0; i < others.size(); ++i) {
    others[i]->adjusted = {q[i], q[i]};
    Rule rule = ScaledRule(*others[i]->metric, comparison);
    rule.alpha = kFalseDiscoveryRate;
    others[i]->verdict =
        Judge(*others[i]->estimate, others[i]->adjusted, others[i]->metric->higher_is_worse, rule);
  }
}

void CompareControl(Comparison& comparison) {
  std::vector<double> values[2];
  for (const auto* arm : {&comparison.base, &comparison.fresh}) {
    for (const Launch& launch : *arm) {
      if (!launch.control_ns) return;
      values[arm == &comparison.base ? 0 : 1].push_back(std::log(*launch.control_ns));
    }
  }
  comparison.control =
      EstimateDifference(values[0], values[1], comparison.design == Design::kPaired);
  if (!comparison.control) return;
  const Estimate& control = *comparison.control;
  const double min_effect = comparison.options.rule.min_effect;
  if (std::abs(control.delta) < min_effect) return;
  comparison.control_moved = std::min(control.p_up, control.p_down) <= kControlLevel;
  if (comparison.control_moved) return;
  comparison.notes.push_back("the control moved by " + SignedPercent(std::expm1(control.delta)) +
                             ", which is no more than its own noise: this machine is too restless "
                             "to tell whether it changed by " +
                             Percent(min_effect));
}

std::optional<double> MeanOverlap(const std::vector<Launch>& arm, size_t warmup) {
  std::vector<double> values;
  for (const Launch& launch : arm) {
    const auto overlap = OverlapOf(launch, warmup);
    if (!overlap) return {};
    values.push_back(*overlap);
  }
  return MeanOf(values);
}

Status Admit(Comparison& comparison) {
  const Comparability check = CheckComparability(comparison.base, comparison.fresh);
  comparison.notes.insert(comparison.notes.end(), check.notes.begin(), check.notes.end());
  comparison.forced = check.obstacles;
  for (const auto* arm : {&comparison.base, &comparison.fresh}) {
    const std::vector<std::string> twins = FindTwins(*arm);
    if (twins.empty()) continue;
    comparison.forced.push_back(twins[0] + " and " + twins[1] +
                                " hold the very same steps: one launch counts once");
  }
  if (comparison.forced.empty() || comparison.options.force) return OkStatus();
  std::string text;
  for (const std::string& obstacle : comparison.forced) {
    text += (text.empty() ? ": " : "; ") + obstacle;
  }
  return UsageError("these runs can't be compared unless by --force" + text);
}

}  // namespace

double MetricResult::AsShare(double on_scale) const {
  return metric->scale == Scale::kRatio ? std::expm1(on_scale) : on_scale;
}

size_t Comparison::GateCount() const {
  return static_cast<size_t>(std::ranges::count_if(
      metrics, [](const MetricResult& result) { return result.is_gate && result.estimate; }));
}

// A regression of any gate is one; all must be without for "no regression".
Verdict OverallVerdict(const Comparison& comparison) {
  if (!comparison.gates()) return Verdict::kInconclusive;
  if (comparison.control_moved) return Verdict::kEnvironmentChanged;
  std::vector<Verdict> verdicts;
  for (const MetricResult& result : comparison.metrics) {
    if (result.is_gate) verdicts.push_back(*result.verdict);
  }
  for (const Verdict verdict : {Verdict::kRegression, Verdict::kInconclusive, Verdict::kImprovement,
                                Verdict::kNoRegressionShown, Verdict::kNoRegression}) {
    if (std::ranges::find(verdicts, verdict) != verdicts.end()) return verdict;
  }
  return Verdict::kInconclusive;
}

std::vector<double> ScaledValues(const Metric& metric, const std::vector<Launch>& arm,
                                 const Comparison& comparison) {
  std::vector<double> values;
  for (const Launch& launch : arm) {
    const auto value = LaunchValue(metric, launch, comparison.warmup);
    if (!value || (metric.scale == Scale::kRatio && *value <= 0)) return {};
    values.push_back(OnScale(metric, *value, comparison.base_step_ns));
  }
  return values;
}

Rule ScaledRule(const Metric& metric, const Comparison& comparison) {
  Rule rule = comparison.options.rule;
  const auto own = comparison.options.min_effects.find(std::string(metric.name));
  if (own != comparison.options.min_effects.end()) rule.min_effect = own->second;
  if (metric.scale == Scale::kRatio) rule.min_effect = std::log1p(rule.min_effect);
  return rule;
}

Result<Comparison> Compare(std::vector<Launch> base, std::vector<Launch> fresh,
                           const CompareOptions& options) {
  Comparison comparison;
  comparison.base = std::move(base);
  comparison.fresh = std::move(fresh);
  comparison.options = options;
  if (comparison.options.gates.empty()) comparison.options.gates = kDefaultGates;
  TUTTI_RETURN_IF_ERROR(CheckGates(comparison.options.gates));
  TUTTI_RETURN_IF_ERROR(Admit(comparison));
  TUTTI_RETURN_IF_ERROR(ArrangeArms(comparison));
  CompareMetrics(comparison);
  JudgeGates(comparison);
  JudgeOthers(comparison);
  CompareControl(comparison);
  comparison.base_overlap = MeanOverlap(comparison.base, comparison.warmup);
  comparison.new_overlap = MeanOverlap(comparison.fresh, comparison.warmup);
  comparison.explanation = Explain(comparison.base, comparison.fresh, comparison.warmup);
  comparison.names = CompareNames(comparison.base, comparison.fresh,
                                  comparison.design == Design::kPaired, comparison.base_step_ns);
  comparison.verdict = OverallVerdict(comparison);
  return comparison;
}

}  // namespace tutti::analyzer::compare
