#include <algorithm>
#include <vector>

#include "analyzer/report/format.h"
#include "analyzer/report/text_sections.h"
#include "common/text.h"

namespace tutti::analyzer {
namespace {

constexpr size_t kMostCollectives = 12;
constexpr size_t kMostOperators = 10;
constexpr size_t kMostHostOperators = 5;  // of GPU runs, where kernels come first

using Rows = std::vector<std::vector<std::string>>;

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

// Of a collective, all its ranks together, on average. The median call says less: whoever is last,
// of two ranks every other call, waits for nobody.
std::string WaitOf(const schema::CollectiveSummaryRow& row) {
  if (!row.p50_wait_ns || row.count == 0) return "-";
  return Milliseconds(static_cast<double>(row.wait_ns / row.count));
}

}  // namespace

std::string Collectives(const ReportData& data, const Painter& paint) {
  if (data.collectives.empty()) return "";
  Rows rows = {{"group", "op", "dtype", "bytes", "count", "skew", "wait", "transfer", "busbw"}};
  bool raw = false;
  bool waits = false;
  for (const schema::CollectiveSummaryRow& row : data.collectives) {
    if (rows.size() > kMostCollectives) break;
    std::string busbw = row.p50_busbw_gb_per_s ? Rate(*row.p50_busbw_gb_per_s) : "-";
    if (row.is_bw_raw == 1) busbw += "*";
    raw = raw || row.is_bw_raw == 1;
    waits = waits || row.p50_wait_ns.has_value();
    rows.push_back({GroupOf(data, row.communicator_id), Cut(ToPrintableText(row.op), 16),
                    Cut(ToPrintableText(row.dtype), 8), row.bytes < 0 ? "-" : Bytes(row.bytes),
                    WithCommas(row.count), MsOrDash(row.p50_skew_ns), WaitOf(row),
                    MsOrDash(row.p50_transfer_ns), busbw});
  }
  std::string text = "\n" + paint.Bold("Collectives") + "  medians in ms, bus bandwidth in GB/s\n" +
                     Table(rows, 3);
  if (rows.size() - 1 < data.collectives.size()) {
    text += "  and " + std::to_string(data.collectives.size() + 1 - rows.size()) +
            " more in collective_summary\n";
  }
  if (waits) {
    text +=
        "  skew: from the first rank's arrival to the last one's; wait: of all ranks together, "
        "mean;\n"
        "  transfer: from the moment on at which all that are needed have arrived\n";
  }
  if (raw) text += "  * of the raw duration, waiting included: other ranks' traces are missing\n";
  return text;
}

std::string Operators(const ReportData& data, const Painter& paint) {
  if (data.operators.empty()) return "";
  const int64_t windows = std::max<int64_t>(data.Windows(), 1);
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

}  // namespace tutti::analyzer
