#include "analyzer/compare/confirmation.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "analyzer/compare/figures.h"
#include "analyzer/compare/render.h"

namespace tutti::analyzer::compare {
namespace {

bool IsRegression(const MetricResult& result) {
  return result.is_gate && result.verdict == Verdict::kRegression;
}

bool Shows(const Comparison& comparison, const Metric& metric) {
  return !comparison.control_moved &&
         std::ranges::any_of(comparison.metrics, [&](const MetricResult& result) {
           return result.metric == &metric && IsRegression(result);
         });
}

}  // namespace

CompareOptions ConfirmationOptions(const Comparison& found) {
  CompareOptions options = found.options;
  options.rule.alpha = kConfirmationAlpha;
  options.gates.clear();
  for (const MetricResult& result : found.metrics) {
    if (IsRegression(result)) options.gates.emplace_back(result.metric->name);
  }
  return options;
}

void Confirm(Comparison& found, Comparison further) {
  for (MetricResult& result : found.metrics) {
    if (!IsRegression(result) || Shows(further, *result.metric)) continue;
    result.verdict = Verdict::kInconclusive;
    result.remark = "not confirmed by " + LaunchesInWords(further, "further ") +
                    (further.control_moved ? ", in which the control moved" : "");
  }
  found.verdict = OverallVerdict(found);
  found.confirmation = std::make_shared<const Comparison>(std::move(further));
}

std::string ConfirmationInWords(const Comparison& comparison) {
  if (comparison.confirmation == nullptr) return "";
  const Comparison& further = *comparison.confirmation;
  const bool confirmed = comparison.verdict == Verdict::kRegression;
  std::string text = (confirmed ? "confirmed by " : "not confirmed by ") +
                     LaunchesInWords(further, "further ") + ": ";
  if (further.control_moved) return text + HeadlineOf(further);
  bool first = true;
  for (const MetricResult& result : further.metrics) {
    if (!result.is_gate) continue;
    text += (first ? "" : "; ") + std::string(result.metric->name) + " " +
            ChangeOf(result, further) + " " + IntervalOf(result, further);
    if (result.estimate) text += ", p " + PValue(DecidingP(result));
    first = false;
  }
  return text;
}

}  // namespace tutti::analyzer::compare
