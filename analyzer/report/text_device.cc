#include "analyzer/report/text_device.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/report/format.h"
#include "analyzer/report/text_sections.h"
#include "common/text.h"

namespace tutti::analyzer {
namespace {

constexpr size_t kMostKernels = 10;
constexpr size_t kMostCategories = 6;
constexpr size_t kMostCopies = 4;
constexpr double kHostBoundShare = 0.1;
// Work that lasts less than so many launch calls: the host hands out hardly more than it takes.
constexpr double kLaunchesPerWork = 3;

using Rows = std::vector<std::vector<std::string>>;

std::string Microseconds(double ns) { return Rate(ns / 1e3) + " µs"; }

std::string Share(const ReportData& data, const char* metric) {
  return PercentOf(data.Real(metric).value_or(0), 1);
}

int64_t Windows(const ReportData& data) { return std::max<int64_t>(data.Windows(), 1); }

std::string Categories(const ReportData& data) {
  const auto windows = static_cast<double>(Windows(data));
  double all_ns = 0;
  for (const ReportCategory& row : data.categories) all_ns += static_cast<double>(row.total_ns);
  Rows rows = {{"what kernels do", "count/step", "ms/step", "share"}};
  for (const ReportCategory& row : data.categories) {
    if (rows.size() > kMostCategories) break;
    const auto total_ns = static_cast<double>(row.total_ns);
    rows.push_back({ToPrintableText(row.category), Rate(static_cast<double>(row.count) / windows),
                    Milliseconds(total_ns / windows), PercentOf(total_ns, all_ns)});
  }
  return rows.size() == 1 ? "" : Table(rows, 1);
}

// Copies by what they move, over all GPUs.
struct CopySum {
  int64_t count = 0;
  int64_t bytes = 0;
  int64_t total_ns = 0;
  int64_t exposed_ns = 0;
};

std::string Copies(const ReportData& data) {
  std::map<std::string, CopySum> sums;
  for (const schema::CopyStatsRow& row : data.copies) {
    std::string name = row.direction;
    if (!row.source.empty()) name += " " + row.source + " to " + row.destination;
    CopySum& sum = sums[name];
    sum.count += row.count;
    sum.bytes += row.bytes;
    sum.total_ns += row.total_ns;
    sum.exposed_ns += row.exposed_ns;
  }
  std::vector<std::pair<std::string, CopySum>> by_time(sums.begin(), sums.end());
  std::stable_sort(by_time.begin(), by_time.end(), [](const auto& a, const auto& b) {
    return a.second.total_ns > b.second.total_ns;
  });
  if (by_time.size() > kMostCopies) by_time.resize(kMostCopies);
  Rows rows = {{"copies, whole trace", "count", "bytes", "ms", "GB/s", "no kernel runs, ms"}};
  for (const auto& [name, sum] : by_time) {
    // Some profilers do not tell the sizes of copies between GPUs.
    const bool is_sized = sum.bytes > 0;
    rows.push_back({Cut(ToPrintableText(name), 34), WithCommas(sum.count),
                    is_sized ? Bytes(sum.bytes) : "-",
                    Milliseconds(static_cast<double>(sum.total_ns)),
                    sum.total_ns == 0 || !is_sized
                        ? "-"
                        : Rate(static_cast<double>(sum.bytes) / static_cast<double>(sum.total_ns)),
                    Milliseconds(static_cast<double>(sum.exposed_ns))});
  }
  return rows.size() == 1 ? "" : Table(rows, 1);
}

}  // namespace

std::string DeviceSummary(const ReportData& data) {
  std::string text = "busy " + Share(data, "device.busy_frac") + " of the steps: compute " +
                     Share(data, "device.compute_frac") + ", communication " +
                     Share(data, "device.comm_frac") + ", copies " +
                     Share(data, "device.copy_frac") + "; idle: not launched yet " +
                     Share(data, "device.idle_host_frac") + ", launched but not begun " +
                     Share(data, "device.idle_launched_frac");
  if (data.Real("device.idle_unknown_frac").value_or(0) > 0) {
    text += ", not known why " + Share(data, "device.idle_unknown_frac");
  }
  text += ". " + Rate(data.Real("device.kernels_per_step").value_or(0)) + " kernels per step";
  if (const auto mean_ns = data.Real("device.work_mean_ns")) {
    text += ", " + Microseconds(*mean_ns) + " a kernel, copy or fill on average";
  }
  if (const auto launch_ns = data.Real("device.launch_mean_ns")) {
    text += ", a launch call takes " + Microseconds(*launch_ns);
  }
  if (const auto tensor = data.Real("device.tensor_core_frac")) {
    text += "; tensor cores in " + PercentOf(*tensor, 1) +
            " of the time of kernels that could use them";
  }
  return text;
}

std::string HostBound(const ReportData& data) {
  double host_ns = 0;
  for (const schema::PartSummaryRow& part : data.parts) {
    if (part.part == "host_bound") host_ns = static_cast<double>(part.total_ns);
  }
  const auto total_ns = static_cast<double>(data.Integer("step.total_ns").value_or(0));
  if (total_ns <= 0 || host_ns < kHostBoundShare * total_ns) return "";
  const double launch_ns = data.Real("device.launch_mean_ns").value_or(0);
  const double work_ns = data.Real("device.work_mean_ns").value_or(0);
  const bool by_launches = launch_ns > 0 && work_ns < kLaunchesPerWork * launch_ns;
  return PercentOf(host_ns, total_ns) +
         " of the steps the GPU has nothing to do because the host has not launched it, though it "
         "neither waits for input nor for the GPU" +
         (by_launches ? ": launch-bound, the work is short against the calls that launch it" : "");
}

std::string DeviceSection(const ReportData& data, const Painter& paint) {
  if (data.devices.empty()) return "";
  std::string text = "\n" + paint.Bold(data.devices.size() == 1 ? "GPU" : "GPUs") + "\n" +
                     Wrap(DeviceSummary(data), kColumns, 2, 4) + "\n";
  if (const std::string bound = HostBound(data); !bound.empty()) {
    text += Wrap(bound, kColumns, 2, 4) + "\n";
  }
  return text + Categories(data) + Copies(data);
}

std::string KernelSection(const ReportData& data, const Painter& paint) {
  const auto windows = static_cast<double>(Windows(data));
  const auto total_ns = static_cast<double>(data.Integer("step.total_ns").value_or(0));
  Rows rows = {{"name", "what", "count", "ms/step", "share", "p50 ms", "p99 ms"}};
  for (const ReportOperator& op : data.operators) {
    if (!op.OnDevice() || rows.size() > kMostKernels) continue;
    const auto self_ns = static_cast<double>(op.in_steps_self_ns);
    rows.push_back({Cut(ToPrintableText(op.name), 44), Cut(ToPrintableText(op.category), 18),
                    WithCommas(op.in_steps_count), Milliseconds(self_ns / windows),
                    PercentOf(self_ns, total_ns), Milliseconds(static_cast<double>(op.p50_ns)),
                    Milliseconds(static_cast<double>(op.p99_ns))});
  }
  if (rows.size() == 1) return "";
  return "\n" + paint.Bold("Top kernels") +
         "  count and time in the steps that count; percentiles of the slowest rank\n" +
         Table(rows, 2);
}

}  // namespace tutti::analyzer
