// The report for a terminal. What a person reads first comes first: whether the data can
// be trusted, how long a step takes, where it goes, what to do about it; then details.
#include "common/text.h"

#include <algorithm>

#include "analyzer/report/format.h"
#include "analyzer/report/painter.h"
#include "analyzer/report/render.h"
#include "analyzer/report/text_device.h"
#include "analyzer/report/text_sections.h"

namespace tutti::analyzer {
namespace {

std::string Headline(const ReportData& data) {
  const auto ranks = static_cast<int64_t>(data.ranks.size());
  const int64_t expected = data.MetaInteger("run.ranks_expected");
  const int64_t counted = data.Integer("step.count").value_or(0);
  const int64_t lost = data.Integer("run.events_lost").value_or(0);
  std::string workload = ToPrintableText(data.Meta("run.workload"));
  if (workload.empty()) workload = "run";
  std::string line =
      workload + ": " + WithCommas(ranks) + " of " + Counted(expected, "rank", "ranks") + ", " +
      (data.HasSteps() ? Counted(static_cast<int64_t>(data.steps.size()), "step", "steps") + " (" +
                             WithCommas(counted) + " " + data.Text("step.basis") + "), "
                       : "") +
      Counted(data.Integer("run.events").value_or(0), "event", "events") + ", " +
      (lost > 0          ? WithCommas(lost)
       : data.IsCutOff() ? "none known"
                         : "none") +
      " lost";
  return Wrap(line, kColumns, 0, 2) + "\n";
}

std::string Failures(const ReportData& data, const Painter& paint) {
  const std::string failures = ToPrintableText(data.Failures());
  if (failures.empty()) return "";
  return paint.Bad(Wrap(failures, kColumns, 0, 2)) + "\n";
}

// Nothing but dumps and snapshots: no work was traced, so there are no steps to speak of.
bool IsOnlyDumps(const ReportData& data) {
  const bool has_work = !data.operators.empty() || !data.devices.empty() || !data.loaders.empty() ||
                        !data.Meta("run.workload").empty();
  return !has_work && std::all_of(data.steps.begin(), data.steps.end(), [](const auto& step) {
    return step.origin == "whole_trace" || step.origin.starts_with("inferred");
  }) && std::any_of(data.issues.begin(), data.issues.end(), [](const auto& issue) {
    return issue.name == "no_operators";
  });
}

// What of the steps would be said of them is left out.
ReportData WithoutSteps(ReportData data) {
  std::erase_if(data.issues, [](const schema::DataIssueRow& issue) {
    return issue.name == "no_operators" || issue.name.starts_with("steps_") ||
           issue.name == "clocks_not_aligned" || issue.name == "collective_not_captured";
  });
  data.steps.clear();
  data.metrics.erase("step.count");
  return data;
}

}  // namespace

std::string RenderText(const ReportData& all, TextStyle style) {
  const Painter paint(style.colour);
  if (IsOnlyDumps(all)) {
    const ReportData data = WithoutSteps(all);
    return Headline(data) + Failures(data, paint) + Stopped(data, paint) + Quality(data, paint) +
           Collectives(data, paint) + Memory(data, paint) + Trust(data, paint);
  }
  const ReportData& data = all;
  return Headline(data) + Failures(data, paint) + Stopped(data, paint) + Quality(data, paint) +
         StepLine(data, paint) + WhereItGoes(data, paint) + Findings(data, paint) +
         DeviceSection(data, paint) + Ranks(data, paint) + Collectives(data, paint) +
         Memory(data, paint) + KernelSection(data, paint) + Operators(data, paint) +
         Trust(data, paint);
}

}  // namespace tutti::analyzer
