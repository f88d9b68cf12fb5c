// Calibrations for people and for programs.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analyzer/compare/calibration.h"
#include "analyzer/compare/figures.h"
#include "common/text.h"

namespace tutti::analyzer::compare {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

std::string PairsText(const std::optional<size_t>& pairs) {
  return pairs ? std::to_string(*pairs) : "> 1,000";
}

std::string NoiseTable(const Calibration& calibration) {
  Rows rows = {{"gate", "base", "launch sd", "pair sd", "95 % bounds"}};
  for (const GateNoise& noise : calibration.noise) {
    const auto& metrics = calibration.all.metrics;
    const auto result = std::ranges::find(metrics, noise.metric, &MetricResult::metric);
    rows.push_back({std::string(noise.metric->name),
                    result->base ? Value(noise.metric->unit, *result->base) : "-",
                    Percent(noise.launch_sd), Percent(noise.pair_sd),
                    "[" + Percent(noise.pair_sd_bounds.low) + ", " +
                        Percent(noise.pair_sd_bounds.high) + "]"});
  }
  if (calibration.control_sd) {
    rows.push_back({"control", "", "", Percent(*calibration.control_sd), ""});
  }
  return Columns(rows, 1);
}

std::string PlanTable(const Calibration& calibration) {
  Rows rows = {{"to find", "pairs", "to be safe"}};
  for (const EffectPlan& plan : calibration.plans) {
    rows.push_back(
        {Percent(plan.min_effect), PairsText(plan.pairs), PairsText(plan.careful_pairs)});
  }
  return Columns(rows, 0);
}

std::string Rate(int64_t hits, const AlarmCount& count, bool with_bounds) {
  std::string text = std::to_string(hits) + " of " + std::to_string(count.comparisons) + " (" +
                     Percent(static_cast<double>(hits) / static_cast<double>(count.comparisons));
  if (!with_bounds) return text + ")";
  const Bounds bounds = ClopperPearson(hits, count.comparisons, 0.95);
  return text + ", 95 % bounds " + Percent(bounds.low) + " to " + Percent(bounds.high) + ")";
}

std::string AlarmLines(const AlarmCount& count, const std::string& what, bool with_bounds) {
  if (count.comparisons == 0) return "";
  return "  " + what + ", " + std::to_string(count.pairs) + " pairs, min effect " +
         Percent(count.min_effect) + ":\n    false regressions " +
         Rate(count.regressions, count, with_bounds) + "\n    improvements      " +
         Rate(count.improvements, count, with_bounds) + "\n    no regression     " +
         Rate(count.cleared, count, with_bounds) + "\n";
}

Json ToJson(const std::optional<size_t>& pairs) { return pairs ? Json(*pairs) : Json(nullptr); }

Json ToJson(const EffectPlan& plan) {
  return {{"min_effect", plan.min_effect},
          {"pairs", ToJson(plan.pairs)},
          {"careful_pairs", ToJson(plan.careful_pairs)}};
}

Json ToJson(const AlarmCount& count, bool with_bounds) {
  Json json = {{"min_effect", count.min_effect},     {"pairs", count.pairs},
               {"comparisons", count.comparisons},   {"regressions", count.regressions},
               {"improvements", count.improvements}, {"no_regression", count.cleared}};
  if (with_bounds && count.comparisons > 0) {
    const Bounds bounds = ClopperPearson(count.regressions, count.comparisons, 0.95);
    json["regression_rate_bounds"] = {bounds.low, bounds.high};
  }
  return json;
}

}  // namespace

std::string RenderCalibrationText(const Calibration& calibration) {
  std::string text;
  if (calibration.proposal) {
    text = "proposal: --min-effect " + Plain(calibration.proposal->min_effect * 100) +
           "% --pairs " + std::to_string(*calibration.proposal->careful_pairs) + "\n";
  } else {
    text = "no proposal: this machine is too restless for any effect up to " +
           Percent(calibration.plans.back().min_effect) + " in that many pairs\n";
  }
  text +=
      "\nnoise, from " + std::to_string(calibration.all.base.size()) +
      " pairs of launches of one version\n" + NoiseTable(calibration) +
      "\npairs that find an effect in 80 % of comparisons, by all gates together (to be safe: by "
      "the\nupper 80 % bound of the noise)\n" +
      PlanTable(calibration) + "\nfalse alarms\n" +
      AlarmLines(calibration.separate, "comparisons that share no launch", true) +
      AlarmLines(calibration.resampled, "drawn at random from these pairs, not independent", false);
  if (calibration.resampled_proposal) {
    text += AlarmLines(*calibration.resampled_proposal, "the same, as proposed", false);
  }
  for (const std::string& note : calibration.all.notes) {
    text += "note: " + ToPrintableText(note) + "\n";
  }
  return text;
}

std::string RenderCalibrationJson(const Calibration& calibration) {
  Json json = {{"schema", "tutti.calibration/1"}, {"pairs", calibration.all.base.size()}};
  json["proposal"] = calibration.proposal ? ToJson(*calibration.proposal) : Json(nullptr);
  json["noise"] = Json::array();
  for (const GateNoise& noise : calibration.noise) {
    json["noise"].push_back(
        {{"metric", noise.metric->name},
         {"launch_sd", noise.launch_sd},
         {"pair_sd", noise.pair_sd},
         {"pair_sd_bounds", {noise.pair_sd_bounds.low, noise.pair_sd_bounds.high}}});
  }
  json["control_sd"] = calibration.control_sd ? Json(*calibration.control_sd) : Json(nullptr);
  json["plans"] = Json::array();
  for (const EffectPlan& plan : calibration.plans) json["plans"].push_back(ToJson(plan));
  json["separate"] = ToJson(calibration.separate, true);
  json["resampled"] = ToJson(calibration.resampled, false);
  json["resampled_proposal"] = calibration.resampled_proposal
                                   ? ToJson(*calibration.resampled_proposal, false)
                                   : Json(nullptr);
  json["notes"] = calibration.all.notes;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tutti::analyzer::compare
