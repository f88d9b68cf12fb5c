// Comparisons as OpenMetrics text, for node-exporter's textfile collector and GitLab's
// metrics report.
#include "common/openmetrics.h"

#include "analyzer/compare/render.h"

namespace tutti::analyzer::compare {
namespace {

// In base units, as OpenMetrics wants them.
double InBaseUnit(const Metric& metric, double value) {
  return metric.unit == Unit::kNs ? value / 1e9 : value;
}

std::string LabelsOf(const NamedComparison& one, const MetricResult& result) {
  std::string labels = "metric=\"" + std::string(result.metric->name) + "\"";
  if (!one.name.empty()) labels += ",pair=\"" + openmetrics::LabelText(one.name) + "\"";
  return labels;
}

}  // namespace

std::string RenderOpenMetrics(std::span<const NamedComparison> comparisons) {
  openmetrics::Family verdict("tutti_compare_verdict", "1 for the verdict that was reached.");
  openmetrics::Family value("tutti_compare_value",
                            "Mean over launches, in seconds, bytes, per second or as a share.");
  openmetrics::Family change(
      "tutti_compare_change",
      "Change from base to new, a share of the base value or of the base step time.");
  openmetrics::Family detectable("tutti_compare_detectable_change",
                                 "Smallest change that would be found.");
  for (const NamedComparison& one : comparisons) {
    const std::string pair =
        one.name.empty() ? "" : ",pair=\"" + openmetrics::LabelText(one.name) + "\"";
    verdict.Add("verdict=\"" + std::string(VerdictName(one.comparison.verdict)) + "\"" + pair, 1);
    for (const MetricResult& result : one.comparison.metrics) {
      const std::string labels = LabelsOf(one, result);
      const Metric& metric = *result.metric;
      if (result.base) value.Add(labels + ",side=\"base\"", InBaseUnit(metric, *result.base));
      if (result.now) value.Add(labels + ",side=\"new\"", InBaseUnit(metric, *result.now));
      if (result.estimate) {
        change.Add(labels + ",bound=\"estimate\"", result.AsShare(result.estimate->delta));
        change.Add(labels + ",bound=\"low\"", result.AsShare(result.estimate->low));
        change.Add(labels + ",bound=\"high\"", result.AsShare(result.estimate->high));
      }
      if (result.detectable) detectable.Add(labels, result.AsShare(*result.detectable));
    }
  }
  return verdict.Text() + value.Text() + change.Text() + detectable.Text() + "# EOF\n";
}

}  // namespace tutti::analyzer::compare
