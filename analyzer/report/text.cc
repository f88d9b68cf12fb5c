// The report for a terminal. What a person reads first comes first: whether the data can
// be trusted, how long a step takes, where it goes, what to do about it; then details.
#include "common/text.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>

#include "analyzer/input/step_parts.h"
#include "analyzer/metrics/stack_frames.h"
#include "analyzer/report/format.h"
#include "analyzer/report/painter.h"
#include "analyzer/report/render.h"
#include "analyzer/report/text_device.h"

namespace tutti::analyzer {
namespace {

constexpr size_t kColumns = 100;
constexpr size_t kBarColumns = 36;
constexpr size_t kMostRanks = 32;
constexpr size_t kMostCollectives = 12;
constexpr size_t kMostOperators = 10;
constexpr size_t kMostHostOperators = 5;  // of GPU runs, where kernels come first
constexpr size_t kMostIssues = 12;
constexpr size_t kMostHolders = 8;

using Rows = std::vector<std::vector<std::string>>;

std::string MsOrDash(const std::optional<int64_t>& ns) {
  return ns ? Milliseconds(static_cast<double>(*ns)) : "-";
}

std::string Counted(int64_t number, const char* one, const char* many) {
  return WithCommas(number) + " " + (number == 1 ? one : many);
}

bool HasSteps(const ReportData& data) {
  return !data.steps.empty() || data.Integer("step.count").has_value();
}

std::string Headline(const ReportData& data) {
  const auto ranks = static_cast<int64_t>(data.ranks.size());
  const int64_t expected = data.MetaInteger("run.ranks_expected");
  const int64_t counted = data.Integer("step.count").value_or(0);
  const int64_t lost = data.Integer("run.events_lost").value_or(0);
  std::string workload = ToPrintableText(data.Meta("run.workload"));
  if (workload.empty()) workload = "run";
  std::string line =
      workload + ": " + WithCommas(ranks) + " of " + Counted(expected, "rank", "ranks") + ", " +
      (HasSteps(data) ? Counted(static_cast<int64_t>(data.steps.size()), "step", "steps") + " (" +
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

// Windows of steps that the totals are made of: one per step and rank.
int64_t WindowsOf(const ReportData& data) {
  int64_t windows = 0;
  for (const schema::RankSummaryRow& row : data.rank_summaries) windows += row.steps;
  return windows;
}

std::string WhereItGoes(const ReportData& data, const Painter& paint) {
  const auto total_ns = static_cast<double>(data.Integer("step.total_ns").value_or(0));
  const int64_t windows = WindowsOf(data);
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

bool StopsTheJob(const ReportFinding& finding) {
  return finding.row.kind == "hang" || finding.row.kind == "collective_mismatch";
}

// Why the job stands still or computes nonsense: nothing else matters then, so it comes
// first and with all its evidence.
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
           ": no cause that is looked for costs 5 % of a step, and more than its noise\n";
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

// Ranks in the order in which they are worth a look: as they are if all fit, else those
// that make others wait longest.
std::vector<const schema::RankSummaryRow*> RanksToShow(const ReportData& data) {
  std::vector<const schema::RankSummaryRow*> ranks;
  for (const schema::RankSummaryRow& row : data.rank_summaries) ranks.push_back(&row);
  if (ranks.size() <= kMostRanks) return ranks;
  std::map<int64_t, int64_t> cost;
  for (const schema::StragglerRow& row : data.stragglers) cost[row.rank] = row.net_cost_ns;
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](const auto* a, const auto* b) { return cost[a->rank] > cost[b->rank]; });
  ranks.resize(kMostRanks);
  return ranks;
}

std::string LastIn(const ReportData& data, int64_t rank) {
  for (const schema::StragglerRow& row : data.stragglers) {
    if (row.rank == rank && row.collectives > 0) {
      return PercentOf(static_cast<double>(row.times_last), static_cast<double>(row.collectives));
    }
  }
  return "-";
}

std::string PeakOf(const ReportData& data, int64_t rank) {
  std::optional<int64_t> peak;
  for (const schema::MemoryPeakRow& row : data.memory) {
    if (row.rank == rank) peak = std::max(peak.value_or(0), row.peak_bytes);
  }
  return peak ? Bytes(*peak) : "-";
}

// Ranks whose lateness reaches those that don't wait for them: at most three, above 2 % of a step.
std::string PassedOn(const ReportData& data) {
  std::vector<std::pair<int64_t, int64_t>> by_wait;
  for (const schema::RankRow& rank : data.ranks) {
    const int64_t wait_ns = data.PassedOnNs(rank.rank);
    if (wait_ns * 50 > data.Integer("step.median_ns").value_or(0)) {
      by_wait.emplace_back(-wait_ns, rank.rank);
    }
  }
  std::sort(by_wait.begin(), by_wait.end());
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(by_wait.size(), 3); ++i) {
    text += Wrap("because of rank " + std::to_string(by_wait[i].second) +
                     " ranks that don't wait for it wait " + MsOrDash(-by_wait[i].first) +
                     " ms per step in all, for ranks that did (wait_cause)",
                 kColumns, 2, 4) +
            "\n";
  }
  return text;
}

std::string Ranks(const ReportData& data, const Painter& paint) {
  Rows rows = {{"rank", "step ms", "p99 ms", "compute", "transfer", "wait", "input", "host",
                "other", "late", "peak mem"}};
  const std::vector<const schema::RankSummaryRow*> shown = RanksToShow(data);
  for (const schema::RankSummaryRow* rank : shown) {
    const auto parts = data.rank_parts.find(rank->rank);
    if (parts == data.rank_parts.end()) continue;
    const auto mean = [&](std::initializer_list<const char*> names) {
      double sum = 0;
      for (const char* name : names) {
        const auto part = parts->second.find(name);
        if (part != parts->second.end()) sum += static_cast<double>(part->second.total_ns);
      }
      return Milliseconds(sum / static_cast<double>(std::max<int64_t>(rank->steps, 1)));
    };
    rows.push_back({std::to_string(rank->rank), MsOrDash(rank->step_median_ns),
                    MsOrDash(rank->step_p99_ns), mean({"compute"}),
                    mean({"exposed_comm_transfer", "exposed_comm_unsplit"}),
                    mean({"exposed_comm_wait"}), mean({"input_wait"}), mean({"host_bound"}),
                    mean({"exposed_copy", "sync", "idle"}), LastIn(data, rank->rank),
                    PeakOf(data, rank->rank)});
  }
  if (rows.size() == 1) return "";
  std::string text = "\n" + paint.Bold("Ranks") +
                     "  median and p99 of the step; parts in ms, means; "
                     "late: share of collectives it is last in\n" +
                     Table(rows, 0);
  if (shown.size() < data.rank_summaries.size()) {
    text += "  and " + WithCommas(static_cast<int64_t>(data.rank_summaries.size() - shown.size())) +
            " more in rank_summary\n";
  }
  return text + PassedOn(data);
}

std::string GroupOf(const ReportData& data, int64_t communicator) {
  for (const schema::RunCommunicatorRow& row : data.communicators) {
    if (row.id != communicator) continue;
    const std::string size = row.size ? " of " + std::to_string(*row.size) : "";
    // "undefined" is what c10d calls a group that got no name.
    const bool has_name = row.description && *row.description != "undefined";
    const std::string name =
        has_name ? *row.description : row.uid.value_or("") + " " + row.global_ranks.value_or("");
    return Cut(ToPrintableText(row.backend + (name.empty() ? "" : " " + name)), 22) + size;
  }
  return "unknown";
}

std::string Collectives(const ReportData& data, const Painter& paint) {
  if (data.collectives.empty()) return "";
  Rows rows = {{"group", "op", "dtype", "bytes", "count", "skew", "wait", "transfer", "busbw"}};
  bool raw = false;
  for (const schema::CollectiveSummaryRow& row : data.collectives) {
    if (rows.size() > kMostCollectives) break;
    std::string busbw = row.p50_busbw_gb_per_s ? Rate(*row.p50_busbw_gb_per_s) : "-";
    if (row.is_bw_raw == 1) busbw += "*";
    raw = raw || row.is_bw_raw == 1;
    rows.push_back({GroupOf(data, row.communicator_id), Cut(ToPrintableText(row.op), 16),
                    Cut(ToPrintableText(row.dtype), 8), row.bytes < 0 ? "-" : Bytes(row.bytes),
                    WithCommas(row.count), MsOrDash(row.p50_skew_ns), MsOrDash(row.p50_wait_ns),
                    MsOrDash(row.p50_transfer_ns), busbw});
  }
  std::string text = "\n" + paint.Bold("Collectives") + "  medians in ms, bus bandwidth in GB/s\n" +
                     Table(rows, 3);
  if (rows.size() - 1 < data.collectives.size()) {
    text += "  and " + std::to_string(data.collectives.size() + 1 - rows.size()) +
            " more in collective_summary\n";
  }
  if (raw) text += "  * of the raw duration, waiting included: other ranks' traces are missing\n";
  return text;
}

// What holds the peak: the line of the program that allocated it.
std::string HoldersOf(const ReportData& data, const schema::MemoryPeakRow& peak) {
  Rows rows = {{"", "held at the peak", "share", "blocks", "allocated in"}};
  size_t all = 0;
  for (const schema::MemoryHolderRow& row : data.memory_holders) {
    if (row.rank != peak.rank || row.device_type != peak.device_type ||
        row.device_id != peak.device_id || ++all > kMostHolders) {
      continue;
    }
    const std::string frame = ShortFrame(FrameToShow(row.stack));
    rows.push_back({"", Bytes(row.bytes),
                    PercentOf(static_cast<double>(row.bytes), static_cast<double>(peak.peak_bytes)),
                    row.blocks > 0 ? WithCommas(row.blocks) : "-",
                    row.stack.empty() ? "no stack: before the trace begins"
                                      : Cut(ToPrintableText(frame), 56)});
  }
  if (rows.size() == 1) return "";
  std::string text = Table(rows, 5);
  if (all > kMostHolders) {
    text += "  and " + std::to_string(all - kMostHolders) + " more in memory_holder\n";
  }
  return text;
}

std::string StatesOf(const ReportData& data) {
  std::string text;
  for (const schema::MemoryStateRow& row : data.memory_states) {
    const auto reserved = static_cast<double>(row.reserved_bytes);
    std::string line =
        "rank " + std::to_string(row.rank) + ", GPU " + std::to_string(row.device_id) +
        " at the snapshot: " + Bytes(row.reserved_bytes) + " reserved in " +
        Counted(row.segments, "segment", "segments") + ", " + Bytes(row.allocated_bytes) +
        " allocated; unused " + Bytes(row.free_segment_bytes) + " in empty segments and " +
        Bytes(row.inactive_split_bytes) + " in " +
        Counted(row.inactive_split_blocks, "part", "parts") + " of segments in use (" +
        PercentOf(static_cast<double>(row.inactive_split_bytes), reserved) +
        " fragmentation), largest " + Bytes(row.largest_free_bytes);
    text += Wrap(line, kColumns, 2, 4) + "\n";
  }
  return text;
}

std::string Memory(const ReportData& data, const Painter& paint) {
  const auto peak =
      std::max_element(data.memory.begin(), data.memory.end(),
                       [](const auto& a, const auto& b) { return a.peak_bytes < b.peak_bytes; });
  if (peak == data.memory.end()) {
    const std::string states = StatesOf(data);
    return states.empty() ? "" : "\n" + paint.Bold("Memory") + "\n" + states;
  }
  std::string line = "peak " + Bytes(peak->peak_bytes) + " of " +
                     ToPrintableText(peak->device_type) + " memory on rank " +
                     std::to_string(peak->rank);
  if (peak->peak_step && HasSteps(data)) line += " in step " + std::to_string(*peak->peak_step);
  line += ", " + Bytes(peak->end_bytes) + " at the end; " + WithCommas(peak->allocations) +
          " allocations of " + Bytes(peak->allocated_bytes) + " in all";
  return "\n" + paint.Bold("Memory") + "\n" + Wrap(line, kColumns, 2, 4) + "\n" +
         HoldersOf(data, *peak) + StatesOf(data);
}

std::string Operators(const ReportData& data, const Painter& paint) {
  if (data.operators.empty()) return "";
  const int64_t windows = std::max<int64_t>(WindowsOf(data), 1);
  const auto total_ns = static_cast<double>(data.Integer("step.total_ns").value_or(0));
  Rows rows = {{"name", "kind", "count", "self ms/step", "share", "p50 ms", "p99 ms"}};
  const size_t most = data.devices.empty() ? kMostOperators : kMostHostOperators;
  for (const ReportOperator& op : data.operators) {
    if (rows.size() > most) break;
    if (op.OnDevice()) continue;
    const auto self_ns = static_cast<double>(op.in_steps_self_ns);
    rows.push_back({Cut(ToPrintableText(op.name), 42), op.kind, WithCommas(op.in_steps_count),
                    Milliseconds(self_ns / static_cast<double>(windows)),
                    PercentOf(self_ns, total_ns), MsOrDash(op.p50_ns), MsOrDash(op.p99_ns)});
  }
  if (rows.size() == 1) return "";
  return "\n" + paint.Bold(data.devices.empty() ? "Top operators" : "Top operators on the host") +
         "  count and self time in the steps that count; percentiles of the "
         "slowest rank\n" +
         Table(rows, 2);
}

std::string Trust(const ReportData& data, const Painter& paint) {
  std::string text = "\n" + paint.Bold("How far to trust it") + "\n";
  std::string line = WithCommas(static_cast<int64_t>(data.ranks.size())) + " of " +
                     Counted(data.MetaInteger("run.ranks_expected"), "rank", "ranks") + ", " +
                     WithCommas(data.Integer("run.events_lost").value_or(0)) + " events lost";
  const auto error_ns = data.Integer("run.clock_error_ns");
  if (data.ranks.size() > 1 && HasSteps(data)) {
    line += error_ns == 0 ? ", one clock"
            : error_ns ? ", clocks within " + Milliseconds(static_cast<double>(*error_ns)) + " ms"
                       : ", clocks not aligned";
  }
  const std::string origin = data.steps.empty() ? "none" : data.steps.front().origin;
  if (HasSteps(data)) {
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
