#include "analyzer/report/format.h"
#include "analyzer/report/text_sections.h"
#include "common/text.h"

namespace tutti::analyzer {
namespace {

constexpr size_t kMostIssues = 12;

bool IsBad(const schema::DataIssueRow& issue) {
  if (ReportData::IsToldAsFailure(issue)) return false;
  return issue.severity == "data_loss" || issue.severity == "error";
}

std::string IssueLine(const schema::DataIssueRow& issue) {
  std::string where = issue.rank ? "rank " + std::to_string(*issue.rank) : "run";
  if (issue.first_step && issue.last_step) {
    where += *issue.first_step == *issue.last_step
                 ? ", step " + std::to_string(*issue.first_step)
                 : ", steps " + std::to_string(*issue.first_step) + " to " +
                       std::to_string(*issue.last_step);
  }
  std::string line = issue.severity + " " + ToPrintableText(issue.name) + ", " + where + ": " +
                     ToPrintableText(issue.detail);
  const bool is_counted = IsBad(issue) || issue.count > 1;  // a notice may be of no event
  if (issue.origin == "trace" && is_counted)
    line += " (" + Counted(issue.count, "event", "events") + ")";
  if (!issue.advice.empty()) line += "; " + ToPrintableText(issue.advice);
  return Wrap(line, kColumns, 2, 4) + "\n";
}

}  // namespace

std::string Quality(const ReportData& data, const Painter& paint) {
  std::string lines;
  size_t shown = 0;
  size_t bad = 0;
  for (const schema::DataIssueRow& issue : data.issues) {
    if (!IsBad(issue) || ++bad > kMostIssues) continue;
    lines += IssueLine(issue);
    ++shown;
  }
  if (bad == 0) return "";
  if (shown < bad) lines += "  and " + std::to_string(bad - shown) + " more in data_issue\n";
  return "\n" + paint.Bad("Data is missing") + "\n" + lines;
}

std::string Trust(const ReportData& data, const Painter& paint) {
  std::string text = "\n" + paint.Bold("How far to trust it") + "\n";
  std::string line = WithCommas(static_cast<int64_t>(data.ranks.size())) + " of " +
                     Counted(data.MetaInteger("run.ranks_expected"), "rank", "ranks") + ", " +
                     WithCommas(data.Integer("run.events_lost").value_or(0)) + " events lost";
  const auto error_ns = data.Integer("run.clock_error_ns");
  if (data.ranks.size() > 1 && data.HasSteps()) {
    line += error_ns == 0 ? ", one clock"
            : error_ns ? ", clocks within " + Milliseconds(static_cast<double>(*error_ns)) + " ms"
                       : ", clocks not aligned";
  }
  const std::string origin = data.steps.empty() ? "none" : data.steps.front().origin;
  if (data.HasSteps()) {
    line += "; steps: " + origin + ", " + data.Text("step.basis") + " ones counted";
  }
  text += Wrap(line, kColumns, 2, 4) + "\n";
  size_t notices = 0;
  int64_t rest = 0;  // of little weight, or too many to read
  for (const schema::DataIssueRow& issue : data.issues) {
    if (IsBad(issue) || issue.name == "ranks_failed") continue;
    if (issue.severity == "notice" && notices < kMostIssues) {
      text += IssueLine(issue);
      ++notices;
    } else {
      ++rest;
    }
  }
  if (rest > 0) text += "  and " + Counted(rest, "note", "notes") + " more in data_issue\n";
  return text;
}

}  // namespace tutti::analyzer
