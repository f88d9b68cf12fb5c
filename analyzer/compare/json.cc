// Comparisons for programs: schema tutti.compare/1 (docs/compare.md). What is not available is
// null.
#include <cmath>
#include <nlohmann/json.hpp>

#include "analyzer/compare/confirmation.h"
#include "analyzer/compare/render.h"
#include "common/text.h"

namespace tutti::analyzer::compare {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::string_view ScaleName(Scale scale) {
  switch (scale) {
    case Scale::kRatio:
      return "ratio";
    case Scale::kStepShare:
      return "step_share";
    case Scale::kShare:
      return "share";
  }
  return "";
}

std::string_view UnitName(Unit unit) {
  switch (unit) {
    case Unit::kNs:
      return "ns";
    case Unit::kBytes:
      return "bytes";
    case Unit::kPerSecond:
      return "per_second";
    case Unit::kShare:
      return "share";
  }
  return "";
}

std::string_view PresenceName(Presence presence) {
  switch (presence) {
    case Presence::kBoth:
      return "both";
    case Presence::kNew:
      return "new";
    case Presence::kVanished:
      return "vanished";
    case Presence::kRenamed:
      return "renamed";
  }
  return "";
}

Json EffectOf(const MetricResult& result) {
  if (!result.estimate) return nullptr;
  const Estimate& estimate = *result.estimate;
  Json json;
  json["scale"] = ScaleName(result.metric->scale);
  json["value"] = result.AsShare(estimate.delta);
  json["low"] = result.AsShare(estimate.low);
  json["high"] = result.AsShare(estimate.high);
  json["standard_error"] = estimate.se;
  json["degrees_of_freedom"] = estimate.dof > 0 ? Json(estimate.dof) : Json(nullptr);
  json["p_up"] = estimate.p_up;
  json["p_down"] = estimate.p_down;
  json["p_up_adjusted"] = result.adjusted.up;
  json["p_down_adjusted"] = result.adjusted.down;
  json["permutation_p_up"] = OrNull(estimate.permutation_p_up);
  json["permutation_p_down"] = OrNull(estimate.permutation_p_down);
  return json;
}

Json MetricOf(const MetricResult& result) {
  Json json;
  json["name"] = result.metric->name;
  json["title"] = result.metric->title;
  json["gate"] = result.is_gate;
  json["unit"] = UnitName(result.metric->unit);
  json["higher_is_worse"] = result.metric->higher_is_worse;
  json["base"] = OrNull(result.base);
  json["new"] = OrNull(result.now);
  json["effect"] = EffectOf(result);
  json["minimum_detectable_effect"] =
      result.detectable ? Json(result.AsShare(*result.detectable)) : Json(nullptr);
  json["launches_for_min_effect"] = OrNull(result.launches_for_effect);
  json["verdict"] = result.verdict ? Json(VerdictName(*result.verdict)) : Json(nullptr);
  json["remark"] = result.remark;
  return json;
}

Json LaunchOf(const Launch& launch) {
  Json json;
  json["name"] = ToStorableText(launch.name);
  json["steps"] = launch.steps.size();
  json["workload"] = ToStorableText(launch.facts.workload);
  json["ranks"] = launch.facts.ranks;
  json["ranks_expected"] = launch.facts.ranks_expected;
  json["device_kind"] = ToStorableText(launch.facts.device_kind);
  json["gpus"] = ToStorableText(launch.facts.gpus);
  json["torch_version"] = ToStorableText(launch.facts.torch_version);
  json["hosts"] = ToStorableText(launch.facts.hosts);
  json["begin_ns"] = OrNull(launch.begin_ns);
  json["events_lost"] = launch.events_lost;
  json["control_ns"] = OrNull(launch.control_ns);
  return json;
}

Json ExplanationOf(const Comparison& comparison) {
  if (!comparison.explanation) return nullptr;
  const Explanation& explanation = *comparison.explanation;
  Json json;
  json["base_ns"] = explanation.base_ns;
  json["new_ns"] = explanation.new_ns;
  json["change_ns"] = explanation.change_ns();
  json["words"] = ExplainInWords(explanation);
  json["parts"] = Json::array();
  for (const PartChange& part : explanation.parts) {
    json["parts"].push_back({{"part", part.part},
                             {"base_ns", part.base_ns},
                             {"new_ns", part.new_ns},
                             {"change_ns", part.change_ns()}});
  }
  return json;
}

Json NameOf(const NamedChange& change) {
  Json json;
  json["kind"] = change.kind;
  json["name"] = ToStorableText(change.name);
  json["old_name"] =
      change.old_name.empty() ? Json(nullptr) : Json(ToStorableText(change.old_name));
  json["presence"] = PresenceName(change.presence);
  json["base_ns_per_step"] = change.base.ns_per_step;
  json["new_ns_per_step"] = change.now.ns_per_step;
  json["base_count_per_step"] = change.base.count_per_step;
  json["new_count_per_step"] = change.now.count_per_step;
  json["q"] = change.estimate ? Json(change.q) : Json(nullptr);
  json["changed"] = change.listed;
  return json;
}

Json ControlOf(const Comparison& comparison) {
  if (!comparison.control) return nullptr;
  return {{"effect", std::expm1(comparison.control->delta)}, {"moved", comparison.control_moved}};
}

Json ConfirmationOf(const Comparison& comparison) {
  if (comparison.confirmation == nullptr) return nullptr;
  const Comparison& further = *comparison.confirmation;
  Json json;
  json["confirmed"] = comparison.verdict == Verdict::kRegression;
  json["words"] = ConfirmationInWords(comparison);
  json["pairs"] = further.base.size();
  json["alpha"] = further.options.rule.alpha;
  json["control"] = ControlOf(further);
  json["metrics"] = Json::array();
  for (const MetricResult& result : further.metrics) {
    if (result.is_gate) json["metrics"].push_back(MetricOf(result));
  }
  return json;
}

Json RuleOf(const Comparison& comparison) {
  const Rule& rule = comparison.options.rule;
  return {{"alpha", rule.alpha},
          {"min_effect", rule.min_effect},
          {"gates", comparison.GateCount()},
          {"words", RuleInWords(comparison)}};
}

Json ComparisonOf(const NamedComparison& one) {
  const Comparison& comparison = one.comparison;
  Json json;
  json["schema"] = "tutti.compare/1";
  json["name"] = one.name.empty() ? Json(nullptr) : Json(ToStorableText(one.name));
  json["verdict"] = VerdictName(comparison.verdict);
  json["headline"] = HeadlineOf(comparison);
  json["design"] = DesignName(comparison.design);
  json["identical"] = comparison.is_identical;
  json["rule"] = RuleOf(comparison);
  json["warmup_steps"] = comparison.warmup;
  json["base"] = Json::array();
  for (const Launch& launch : comparison.base) json["base"].push_back(LaunchOf(launch));
  json["new"] = Json::array();
  for (const Launch& launch : comparison.fresh) json["new"].push_back(LaunchOf(launch));
  json["metrics"] = Json::array();
  for (const MetricResult& result : comparison.metrics) json["metrics"].push_back(MetricOf(result));
  json["overlap"] = {{"base", OrNull(comparison.base_overlap)},
                     {"new", OrNull(comparison.new_overlap)}};
  json["control"] = ControlOf(comparison);
  json["confirmation"] = ConfirmationOf(comparison);
  json["what_changed"] = ExplanationOf(comparison);
  json["names"] = Json::array();
  for (const NamedChange& change : comparison.names) json["names"].push_back(NameOf(change));
  json["forced"] = comparison.forced;
  json["notes"] = comparison.notes;
  return json;
}

}  // namespace

std::string RenderJson(std::span<const NamedComparison> comparisons) {
  Json json;
  if (comparisons.size() == 1) {
    json = ComparisonOf(comparisons.front());
  } else {
    json["schema"] = "tutti.comparisons/1";
    json["verdict"] = VerdictName(WorstVerdict(comparisons));
    json["comparisons"] = Json::array();
    for (const NamedComparison& one : comparisons) json["comparisons"].push_back(ComparisonOf(one));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tutti::analyzer::compare
