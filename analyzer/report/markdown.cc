// The report for a comment on a pull request. GitHub cuts off at 65,536 bytes: rows are
// few, and what matters most comes first.
#include <algorithm>

#include "analyzer/input/step_parts.h"
#include "analyzer/report/format.h"
#include "analyzer/report/render.h"
#include "analyzer/report/text_device.h"
#include "common/text.h"

namespace tutti::analyzer {
namespace {

constexpr size_t kMostRows = 20;
constexpr size_t kMostText = 400;  // of one finding's title or advice
constexpr size_t kMostBytes = 60'000;

// Names come from traces: they must not become links, mentions, HTML or table cells.
std::string Safe(const std::string& text, size_t most = 60) {
  std::string safe;
  for (const char c : Cut(ToPrintableText(text), most)) {
    switch (c) {
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '&':
        safe += "&amp;";
        break;
      case '@':
        safe += "&#64;";
        break;
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '|':
      case '#':
      case '!':
        safe += '\\';
        safe += c;
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string Ms(const std::optional<int64_t>& ns) {
  return ns ? Milliseconds(static_cast<double>(*ns)) : "–";
}

std::string Headline(const ReportData& data) {
  std::string text = "## Tutti: " + Safe(data.Meta("run.workload")) + "\n\n";
  text += "**" + Ms(data.Integer("step.median_ns")) + " ms** per step (p99 " +
          Ms(data.Integer("step.p99_ns")) + " ms), " + std::to_string(data.ranks.size()) + " of " +
          Safe(data.Meta("run.ranks_expected")) + " ranks, " + std::to_string(data.steps.size()) +
          " steps, " + WithCommas(data.Integer("run.events_lost").value_or(0)) + " events lost\n\n";
  if (const std::string failures = data.Failures(); !failures.empty()) {
    text += "> **" + Safe(failures, kMostText) + "**\n";
  }
  for (const schema::DataIssueRow& issue : data.issues) {
    if (issue.severity != "data_loss" && issue.severity != "error") continue;
    if (ReportData::IsToldAsFailure(issue)) continue;
    text += "> **" + issue.severity + "** " + Safe(issue.name) + ": " +
            Safe(issue.detail, kMostText) + "\n";
  }
  return text;
}

std::string Findings(const ReportData& data) {
  std::string text = "\n### Findings\n\n";
  if (data.findings.empty())
    return text +
           "None: no cause that is looked for costs 5 % of a step, and more than its noise.\n";
  for (size_t i = 0; i < std::min(data.findings.size(), kMostRows); ++i) {
    const schema::FindingRow& row = data.findings[i].row;
    text += std::to_string(row.id) + ". **" + Safe(row.kind) + "**";
    if (row.cost_ns.value_or(0) > 0) {
      text += ", " + SavingOf(*row.cost_ns, row.share.value_or(0), row.replayed_ns);
    }
    text += ": " + Safe(row.title, kMostText) + "<br>" + Safe(row.advice, kMostText) + "\n";
  }
  return text;
}

std::string Parts(const ReportData& data) {
  const auto total_ns = static_cast<double>(data.Integer("step.total_ns").value_or(0));
  if (total_ns <= 0) return "";
  std::string text =
      "\n### Where a step's time goes\n\n| part | share | median ms |\n|---|--:|--:|\n";
  for (const schema::PartSummaryRow& part : data.parts) {
    if (part.total_ns == 0) continue;
    std::string label = part.part;
    for (const StepPart& known : kStepParts) {
      if (known.name == part.part) label = std::string(known.label);
    }
    text += "| " + Safe(label) + " | " + PercentOf(static_cast<double>(part.total_ns), total_ns) +
            " | " + Ms(part.median_ns) + " |\n";
  }
  if (const auto overlap = data.Real("overlap.frac")) {
    text += "\n" + PercentOf(*overlap, 1) + " of communication is hidden behind compute.\n";
  }
  return text;
}

std::string Devices(const ReportData& data) {
  if (data.devices.empty()) return "";
  constexpr size_t kMostKernels = 5;
  std::string text = "\n### GPU\n\nThe GPUs are " + DeviceSummary(data) + ".\n";
  if (const std::string bound = HostBound(data); !bound.empty()) {
    text += "\n**" + Safe(bound, kMostText) + ".**\n";
  }
  const auto total_ns = static_cast<double>(data.Integer("step.total_ns").value_or(0));
  std::string rows;
  size_t shown = 0;
  for (const ReportOperator& op : data.operators) {
    if (!op.OnDevice() || shown == kMostKernels) continue;
    ++shown;
    rows += "| " + Safe(op.name) + " | " + Safe(op.category) + " | " +
            WithCommas(op.in_steps_count) + " | " +
            PercentOf(static_cast<double>(op.in_steps_self_ns), total_ns) + " | " +
            Milliseconds(static_cast<double>(op.p50_ns)) + " |\n";
  }
  if (rows.empty()) return text;
  return text + "\n| kernel | what | count | share | median ms |\n|---|---|--:|--:|--:|\n" + rows;
}

std::string Ranks(const ReportData& data) {
  if (data.rank_summaries.empty()) return "";
  std::string text =
      "\n### Ranks\n\n| rank | step ms | p99 ms | last to arrive |\n|--:|--:|--:|--:|\n";
  const size_t shown = std::min(data.rank_summaries.size(), kMostRows);
  for (size_t i = 0; i < shown; ++i) {
    const schema::RankSummaryRow& rank = data.rank_summaries[i];
    std::string late = "–";
    for (const schema::StragglerRow& row : data.stragglers) {
      if (row.rank == rank.rank && row.collectives > 0) {
        late = PercentOf(static_cast<double>(row.times_last), static_cast<double>(row.collectives));
      }
    }
    text += "| " + std::to_string(rank.rank) + " | " + Ms(rank.step_median_ns) + " | " +
            Ms(rank.step_p99_ns) + " | " + late + " |\n";
  }
  if (shown < data.rank_summaries.size()) {
    text += "\n" + std::to_string(data.rank_summaries.size() - shown) + " more ranks.\n";
  }
  return text;
}

}  // namespace

std::string RenderMarkdown(const ReportData& data) {
  std::string text = Headline(data) + Findings(data) + Parts(data) + Devices(data) + Ranks(data);
  if (text.size() > kMostBytes) {
    text.resize(text.rfind('\n', kMostBytes) + 1);
    text += "\n(cut)\n";
  }
  return text;
}

}  // namespace tutti::analyzer
