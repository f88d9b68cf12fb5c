#include <algorithm>
#include <vector>

#include "analyzer/input/step_parts.h"
#include "analyzer/report/format.h"
#include "analyzer/report/text_sections.h"
#include "common/text.h"

namespace tutti::analyzer {
namespace {

constexpr size_t kBarColumns = 36;

using Rows = std::vector<std::vector<std::string>>;

// "; 123 TFLOP/s a rank in matrix products, 39.4 % of the peak".
std::string ComputeRate(const ReportData& data) {
  const auto rate = data.Real("compute.flop_per_s");
  if (!rate) return "";
  std::string text = ";\n      " + Rate(*rate / 1e12) + " TFLOP/s a rank in matrix products";
  if (*rate < 1e11) text = ";\n      " + Rate(*rate / 1e9) + " GFLOP/s a rank in matrix products";
  if (const auto mfu = data.Real("compute.mfu_frac")) {
    text += ", " + PercentOf(*mfu, 1) + " of the GPU's peak";
  }
  return text;
}

std::string Bar(double share) {
  const auto full = static_cast<size_t>(share * kBarColumns + 0.5);
  std::string bar;
  for (size_t i = 0; i < full; ++i) bar += "█";
  return bar;
}

std::string LabelOf(const std::string& part) {
  for (const StepPart& known : kStepParts) {
    if (known.name == part) return std::string(known.label);
  }
  return ToPrintableText(part);
}

// Appends `bars[i]` to the i-th line of a table, all at one column. Bars are drawn here
// and not as cells because colours have no width.
std::string WithBars(const std::string& table, const std::vector<std::string>& bars) {
  std::vector<std::string> lines;
  size_t widest = 0;
  for (size_t begin = 0; begin < table.size();) {
    const size_t end = table.find('\n', begin);
    lines.push_back(table.substr(begin, end - begin));
    widest = std::max(widest, DisplayWidth(lines.back()));
    begin = end + 1;
  }
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    text += lines[i];
    if (!bars[i].empty()) {
      text += std::string(widest - DisplayWidth(lines[i]) + 2, ' ') + bars[i];
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string StepLine(const ReportData& data, const Painter& paint) {
  std::string line = "\n" + paint.Bold("Step");
  const std::optional<int64_t> median_ns = data.Integer("step.median_ns");
  if (!median_ns) return line + "  no step was seen\n";
  line += "  " + paint.Bold(MsOrDash(median_ns) + " ms") + " median, " +
          MsOrDash(data.Integer("step.p99_ns")) + " ms p99";
  // Rates are of the mean, so that samples a step times steps a second are samples a second.
  if (const auto rate = data.Real("throughput.steps_per_s")) {
    line += "; " + Rate(*rate) + " steps/s";
  }
  if (const auto rate = data.Real("throughput.samples_per_s")) {
    line += ", " + Rate(*rate) + " samples/s";
  }
  if (const auto rate = data.Real("throughput.tokens_per_s")) {
    line += ", " + Rate(*rate) + " tokens/s";
  }
  line += ComputeRate(data);
  const int64_t between_ns = data.Integer("step.between_median_ns").value_or(0);
  line += "\n";
  if (between_ns * 50 > *median_ns) {  // more than 2 % of a step
    line += "      " + MsOrDash(between_ns) + " ms median between steps, not part of them\n";
  }
  return line;
}

std::string WhereItGoes(const ReportData& data, const Painter& paint) {
  const auto total_ns = static_cast<double>(data.Integer("step.total_ns").value_or(0));
  const int64_t windows = data.Windows();
  if (total_ns <= 0 || windows == 0) return "";
  Rows rows = {{"", "mean ms", "share", "median ms"}};
  std::vector<std::string> bars = {""};
  for (size_t i = 0; i < data.parts.size(); ++i) {
    const schema::PartSummaryRow& part = data.parts[i];
    if (part.total_ns == 0) continue;
    const auto part_ns = static_cast<double>(part.total_ns);
    rows.push_back({LabelOf(part.part), Milliseconds(part_ns / static_cast<double>(windows)),
                    PercentOf(part_ns, total_ns), MsOrDash(part.median_ns)});
    bars.push_back(paint.Bar(i, Bar(part_ns / total_ns)));
  }
  rows.push_back({"sum", Milliseconds(total_ns / static_cast<double>(windows)), "100.0 %"});
  bars.emplace_back();
  std::string text = "\n" + paint.Bold("Where a step's time goes") + "  mean of " +
                     Counted(data.Integer("step.count").value_or(0), "step", "steps") + " on " +
                     Counted(static_cast<int64_t>(data.ranks.size()), "rank", "ranks") + "\n" +
                     WithBars(Table(rows, 1), bars);
  if (const auto overlap = data.Real("overlap.frac")) {
    const auto comm_ns = static_cast<double>(data.Integer("overlap.comm_ns").value_or(0));
    text += "  communication runs " + Milliseconds(comm_ns / static_cast<double>(windows)) +
            " ms per step, " + PercentOf(*overlap, 1) + " of it hidden behind compute\n";
  }
  return text;
}

}  // namespace tutti::analyzer
