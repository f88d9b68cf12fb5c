#include <algorithm>

#include "analyzer/report/format.h"
#include "analyzer/report/text_sections.h"
#include "common/text.h"

namespace tutti::analyzer {
namespace {

bool StopsTheJob(const ReportFinding& finding) {
  return finding.row.kind == "hang" || finding.row.kind == "collective_mismatch";
}

// Of steps that hardly wait for anything.
std::string WhatIsLeft(const ReportData& data) {
  constexpr double kMostOfIt = 0.8;
  double compute_ns = 0;
  double all_ns = 0;
  for (const schema::PartSummaryRow& part : data.parts) {
    all_ns += static_cast<double>(part.total_ns);
    if (part.part == "compute") compute_ns = static_cast<double>(part.total_ns);
  }
  if (all_ns <= 0 || compute_ns < kMostOfIt * all_ns) return "";
  return Wrap("computing is " + PercentOf(compute_ns, all_ns) +
                  " of the steps: only cheaper work makes them shorter (lower precision, a pruned "
                  "or quantised model, torch.compile)",
              kColumns, 2, 4) +
         "\n";
}

}  // namespace

std::string Stopped(const ReportData& data, const Painter& paint) {
  std::string text;
  for (const ReportFinding& finding : data.findings) {
    if (!StopsTheJob(finding)) continue;
    const schema::FindingRow& row = finding.row;
    text += "  " + paint.Bad(std::to_string(row.id) + ". " + row.kind) + ", confidence " +
            row.confidence + "\n";
    text += Wrap(ToPrintableText(row.title), kColumns, 5, 5) + "\n";
    for (const schema::FindingEvidenceRow& evidence : finding.evidence) {
      std::string line = "- ";
      if (evidence.rank) line += "rank " + std::to_string(*evidence.rank) + " ";
      text += Wrap(line + ToPrintableText(evidence.note), kColumns, 5, 7) + "\n";
    }
    text += Wrap("do: " + ToPrintableText(row.advice), kColumns, 5, 9) + "\n";
  }
  if (text.empty()) return "";
  return "\n" + paint.Bad("What stopped the job") + "\n" + text;
}

std::string Findings(const ReportData& data, const Painter& paint) {
  std::string text = "\n" + paint.Bold("Findings") + "\n";
  const bool has_other = !std::all_of(data.findings.begin(), data.findings.end(), StopsTheJob);
  if (!has_other) {
    // Without steps nothing was looked for.
    if (data.steps.empty()) return "";
    return text + "  none" + (data.findings.empty() ? "" : " besides") +
           ": no cause that is looked for costs 5 % of a step, and more than its noise\n" +
           WhatIsLeft(data);
  }
  for (const ReportFinding& finding : data.findings) {
    if (StopsTheJob(finding)) continue;
    const schema::FindingRow& row = finding.row;
    std::string head = std::to_string(row.id) + ". " + ToPrintableText(row.kind);
    if (row.cost_ns.value_or(0) > 0) {
      head += ": " + SavingOf(*row.cost_ns, row.share.value_or(0), row.replayed_ns);
    }
    head += ", confidence " + row.confidence;
    text += "  " + paint.Finding(head) + "\n";
    text += Wrap(ToPrintableText(row.title), kColumns, 5, 5) + "\n";
    text += Wrap("do: " + ToPrintableText(row.advice), kColumns, 5, 9) + "\n";
  }
  return text;
}

}  // namespace tutti::analyzer
