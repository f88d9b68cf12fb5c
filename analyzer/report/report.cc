// The report half of the façade: rendering, gates and losses, out of the derived tables.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include "analyzer/analyze.h"
#include "analyzer/findings/rule.h"
#include "analyzer/input/step_parts.h"
#include "analyzer/report/format.h"
#include "analyzer/report/render.h"

namespace tutti::analyzer {
namespace {

bool IsExposedComm(const std::string& part) { return part.starts_with("exposed_comm_"); }

// Share of a part of the step, or of the three parts of exposed communication.
double ShareOfPart(const ReportData& data, const std::string& kind) {
  const auto total_ns = static_cast<double>(data.Integer("step.total_ns").value_or(0));
  if (total_ns <= 0) return 0;
  double part_ns = 0;
  for (const schema::PartSummaryRow& part : data.parts) {
    if (part.part == kind || (kind == "exposed_comm" && IsExposedComm(part.part))) {
      part_ns += static_cast<double>(part.total_ns);
    }
  }
  return part_ns / total_ns;
}

// What a gate can be of, in the order in which the message names them.
std::vector<std::string_view> GateKinds() {
  std::vector<std::string_view> kinds = {"any"};
  const auto findings = AllFindingKindNames();
  kinds.insert(kinds.end(), findings.begin(), findings.end());
  for (const StepPart& part : kStepParts) {
    if (std::find(kinds.begin(), kinds.end(), part.name) == kinds.end()) {
      kinds.push_back(part.name);
    }
  }
  return kinds;
}

// A gate of a kind that can't be would never trip.
Status CheckKind(const std::string& kind) {
  const std::vector<std::string_view> kinds = GateKinds();
  if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) return OkStatus();
  std::string list;
  for (const std::string_view known : kinds) {
    list += (list.empty() ? "" : ", ") + std::string(known);
  }
  return UsageError(kind + ": no finding or part of a step is called so; there are " + list);
}

GateResult Check(const ReportData& data, const Gate& gate) {
  GateResult result;
  result.gate = gate;
  result.share = gate.kind == "any" ? 0 : ShareOfPart(data, gate.kind);
  bool stopped = false;
  for (const ReportFinding& finding : data.findings) {
    if (gate.kind != "any" && finding.row.kind != gate.kind) continue;
    result.share = std::max(result.share, finding.row.share.value_or(0));
    stopped = stopped || !finding.row.cost_ns;  // no cost per step: it ended the job
  }
  result.tripped = stopped || (result.share > 0 && result.share >= gate.share);
  result.what =
      gate.kind + ": " +
      (stopped ? std::string("the job stopped") : PercentOf(result.share, 1) + " of a step") +
      (result.tripped ? ", at or above the limit of " : ", below the limit of ") +
      PercentOf(gate.share, 1);
  return result;
}

}  // namespace

Result<std::string> RenderReport(const std::string& analysis_path, const ReportOptions& options) {
  TUTTI_ASSIGN_OR_RETURN(const ReportData data, ReadReportData(analysis_path));
  switch (options.format) {
    case ReportFormat::kJson:
      return RenderJson(data);
    case ReportFormat::kMarkdown:
      return RenderMarkdown(data);
    case ReportFormat::kHtml: {
      TUTTI_ASSIGN_OR_RETURN(const ReportSeries series, ReadReportSeries(analysis_path, data));
      return RenderHtml(data, series);
    }
    case ReportFormat::kText:
      break;
  }
  return RenderText(data, {.colour = options.colour});
}

Result<Gate> ParseGate(std::string_view text) {
  const std::string whole(text);
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) {
    return UsageError(whole + ": expected KIND:SHARE, e.g. input_wait:0.1 or any:5%");
  }
  Gate gate;
  gate.kind = std::string(text.substr(0, colon));
  TUTTI_RETURN_IF_ERROR(CheckKind(gate.kind));
  std::string_view number = text.substr(colon + 1);
  const bool percent = number.ends_with('%');
  if (percent) number.remove_suffix(1);
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), gate.share);
  if (error != std::errc() || end != number.data() + number.size() || !std::isfinite(gate.share)) {
    return UsageError(whole + ": the share is no number");
  }
  if (percent) gate.share /= 100;
  if (gate.share < 0 || gate.share > 1) return UsageError(whole + ": the share is not in 0 to 1");
  return gate;
}

Result<std::vector<GateResult>> CheckGates(const std::string& analysis_path,
                                           const std::vector<Gate>& gates) {
  TUTTI_ASSIGN_OR_RETURN(const ReportData data, ReadReportData(analysis_path));
  std::vector<GateResult> results;
  for (const Gate& gate : gates) results.push_back(Check(data, gate));
  return results;
}

Result<Losses> ReadLosses(const std::string& analysis_path) {
  TUTTI_ASSIGN_OR_RETURN(const ReportData data, ReadReportData(analysis_path));
  Losses losses;
  losses.ranks_missing =
      data.MetaInteger("run.ranks_expected") - static_cast<int64_t>(data.ranks.size());
  losses.events_lost = data.Integer("run.events_lost").value_or(0);
  for (const schema::InputFileRow& file : data.files) {
    losses.files_unreadable += file.state == "unreadable" ? 1 : 0;
  }
  return losses;
}

}  // namespace tutti::analyzer
