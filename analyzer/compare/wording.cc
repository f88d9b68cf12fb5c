// Phrases of comparisons that texts and Markdown share.
#include <algorithm>
#include <cmath>

#include "analyzer/compare/figures.h"
#include "analyzer/compare/render.h"

namespace tutti::analyzer::compare {
namespace {

// An effect on the metric's scale as text, in ns where the metric is a share of the step.
std::string EffectOf(const MetricResult& result, const Comparison& comparison, double on_scale) {
  if (result.metric->scale == Scale::kStepShare) {
    return SignedDuration(on_scale * comparison.base_step_ns);
  }
  return SignedPercent(result.AsShare(on_scale));
}

bool StandsOut(Verdict verdict) {
  return verdict == Verdict::kRegression || verdict == Verdict::kImprovement;
}

// The gate that the overall verdict is of.
const MetricResult* DecidingGate(const Comparison& comparison) {
  for (const MetricResult& result : comparison.metrics) {
    if (result.is_gate && result.verdict == comparison.verdict && result.estimate) return &result;
  }
  return comparison.metrics.empty() ? nullptr : &comparison.metrics.front();
}

}  // namespace

std::string ChangeOf(const MetricResult& result, const Comparison& comparison) {
  if (result.estimate) return EffectOf(result, comparison, result.estimate->delta);
  if (!result.base || !result.now) return "-";
  if (result.metric->scale == Scale::kStepShare) return SignedDuration(*result.now - *result.base);
  return SignedPercent(result.metric->scale == Scale::kShare ? *result.now - *result.base
                                                             : *result.now / *result.base - 1);
}

std::string IntervalOf(const MetricResult& result, const Comparison& comparison) {
  if (!result.estimate) return "-";
  std::string low = EffectOf(result, comparison, result.estimate->low);
  std::string high = EffectOf(result, comparison, result.estimate->high);
  if (!low.ends_with(" %") || !high.ends_with(" %")) return "[" + low + ", " + high + "]";
  low.resize(low.size() - 2);
  high.resize(high.size() - 2);
  return "[" + low + ", " + high + "] %";
}

std::string DetectableOf(const MetricResult& result, const Comparison& comparison) {
  if (!result.detectable) return "-";
  if (result.metric->scale == Scale::kStepShare) {
    return Duration(*result.detectable * comparison.base_step_ns);
  }
  return Percent(result.AsShare(*result.detectable));
}

std::string ControlInWords(const Comparison& comparison) {
  if (comparison.control_moved) return "MOVED";
  const bool is_small = std::abs(comparison.control->delta) < comparison.options.rule.min_effect;
  return is_small ? "stable" : "open";
}

std::string WhatChanged(const Comparison& comparison) {
  if (!comparison.explanation) return "";
  const bool shown = std::ranges::any_of(comparison.metrics, [](const MetricResult& result) {
    return result.verdict && StandsOut(*result.verdict) && result.metric->name == "step_time";
  });
  const std::string words = ExplainInWords(*comparison.explanation);
  if (words.empty()) return "what changed: nothing";
  return shown ? "what changed: " + words
               : "what differs, by chance or too little to matter: " + words;
}

double DecidingP(const MetricResult& result) {
  return result.estimate->delta >= 0 ? result.adjusted.up : result.adjusted.down;
}

std::string VerdictOf(const MetricResult& result) {
  if (!result.verdict) return "not tested";
  if (result.is_gate) return std::string(VerdictWords(*result.verdict));
  switch (*result.verdict) {
    case Verdict::kRegression:
      return "worse";
    case Verdict::kImprovement:
      return "better";
    case Verdict::kNoRegression:
      return "not worse";
    default:
      return "open";
  }
}

std::string LaunchesInWords(const Comparison& comparison, const std::string& kind) {
  switch (comparison.design) {
    case Design::kPaired:
      return std::to_string(comparison.base.size()) + " " + kind + "pairs";
    case Design::kWithinLaunch:
      return "one launch each, within-launch only";
    default:
      return std::to_string(comparison.base.size()) + " against " +
             std::to_string(comparison.fresh.size()) + " " + kind + "launches";
  }
}

std::string RuleInWords(const Comparison& comparison) {
  const Rule& rule = comparison.options.rule;
  std::string text = "regression if p < " + Plain(rule.alpha) + " and the change is at least " +
                     Plain(rule.min_effect * 100) + " %";
  for (const auto& [metric, effect] : comparison.options.min_effects) {
    text += " (" + metric + ": " + Plain(effect * 100) + " %)";
  }
  if (comparison.GateCount() > 1) {
    text += "; p by Holm over " + std::to_string(comparison.GateCount()) + " gates";
  }
  switch (comparison.design) {
    case Design::kPaired:
      return text + "; paired t test, launches are the replicates";
    case Design::kUnpaired:
      return text + "; Welch's t test, launches are the replicates";
    case Design::kOneAgainst:
      return text + "; t test of one launch against the others";
    case Design::kWithinLaunch:
      return text + "; block bootstrap over steps";
  }
  return text;
}

std::string HeadlineOf(const Comparison& comparison) {
  if (comparison.verdict == Verdict::kEnvironmentChanged) {
    return "the control (fixed work beside each launch) moved by " +
           SignedPercent(std::expm1(comparison.control->delta)) +
           ": the machine changed, nothing can be said about the code";
  }
  const MetricResult* gate = DecidingGate(comparison);
  if (gate == nullptr) return "nothing could be compared";
  std::string text = std::string(gate->metric->name) + " " + ChangeOf(*gate, comparison);
  if (gate->estimate) {
    text += " " + IntervalOf(*gate, comparison) + ", p " + PValue(DecidingP(*gate));
  }
  text += ", " + LaunchesInWords(comparison);
  if (comparison.confirmation != nullptr && comparison.verdict == Verdict::kRegression) {
    text += ", confirmed by " + LaunchesInWords(*comparison.confirmation, "further ");
  }
  if (comparison.is_identical) return text + ": identical, both sides hold the very same steps";
  if (!comparison.gates()) return text + " (--within-launch gates on it)";
  if (!gate->remark.empty() && !StandsOut(comparison.verdict)) text += ": " + gate->remark;
  if (comparison.verdict == Verdict::kInconclusive && gate->detectable) {
    text += "; " +
            (gate->launches_for_effect ? "about " + std::to_string(*gate->launches_for_effect)
                                       : std::string("more than 1,000")) +
            (comparison.design == Design::kPaired ? " pairs" : " launches a side") + " would tell";
  }
  return text;
}

Verdict WorstVerdict(std::span<const NamedComparison> comparisons) {
  for (const Verdict verdict :
       {Verdict::kRegression, Verdict::kEnvironmentChanged, Verdict::kInconclusive,
        Verdict::kNoRegressionShown, Verdict::kNoRegression, Verdict::kImprovement}) {
    const auto has = [&](const NamedComparison& one) { return one.comparison.verdict == verdict; };
    if (std::ranges::any_of(comparisons, has)) return verdict;
  }
  return Verdict::kInconclusive;
}

}  // namespace tutti::analyzer::compare
