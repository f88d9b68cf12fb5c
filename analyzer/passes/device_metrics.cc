// Figures of the GPUs over the steps that count: shares of the steps' time, kernels, what
// launching costs.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/input/steps_that_count.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

struct Sums {
  int64_t windows = 0;  // of a step on a GPU
  int64_t step_ns = 0;
  int64_t kernels = 0;
  int64_t busy_ns = 0;
  int64_t compute_ns = 0;
  int64_t comm_ns = 0;
  int64_t copy_ns = 0;
  int64_t idle_host_ns = 0;
  int64_t idle_launched_ns = 0;
  int64_t idle_unknown_ns = 0;
};

Result<Sums> SumSteps(RunContext& context) {
  TUTTI_ASSIGN_OR_RETURN(const StepsThatCount counted, ReadStepsThatCount(context));
  const std::map<int64_t, size_t> places = counted.Places();
  TUTTI_ASSIGN_OR_RETURN(const auto rows, context.Read<schema::StepDeviceRow>(""));
  Sums sums;
  for (const schema::StepDeviceRow& row : rows) {
    if (!places.contains(row.step)) continue;
    ++sums.windows;
    sums.step_ns += row.step_ns;
    sums.kernels += row.kernels;
    sums.busy_ns += row.busy_ns;
    sums.compute_ns += row.compute_ns;
    sums.comm_ns += row.comm_ns;
    sums.copy_ns += row.copy_ns;
    sums.idle_host_ns += row.idle_host_ns;
    sums.idle_launched_ns += row.idle_launched_ns;
    sums.idle_unknown_ns += row.idle_unknown_ns;
  }
  return sums;
}

schema::RunMetricRow Real(const char* name, double part, double whole) {
  schema::RunMetricRow row{name, {}};
  if (whole > 0) row.value = schema::Value(part / whole);
  return row;
}

void AddShares(const Sums& sums, std::vector<schema::RunMetricRow>& rows) {
  const auto add = [&](const char* name, int64_t part_ns) {
    rows.push_back(Real(name, static_cast<double>(part_ns), static_cast<double>(sums.step_ns)));
  };
  add("device.busy_frac", sums.busy_ns);
  add("device.compute_frac", sums.compute_ns);
  add("device.comm_frac", sums.comm_ns);
  add("device.copy_frac", sums.copy_ns);
  add("device.idle_host_frac", sums.idle_host_ns);
  add("device.idle_launched_frac", sums.idle_launched_ns);
  add("device.idle_unknown_frac", sums.idle_unknown_ns);
  rows.push_back(Real("device.kernels_per_step", static_cast<double>(sums.kernels),
                      static_cast<double>(sums.windows)));
}

// Medians of the rank where they are highest; sums over all ranks.
Status AddLaunches(RunContext& context, std::vector<schema::RunMetricRow>& rows) {
  TUTTI_ASSIGN_OR_RETURN(const auto launches, context.Read<schema::LaunchStatsRow>(""));
  int64_t calls = 0;
  int64_t work = 0;
  int64_t host_ns = 0;
  for (const schema::LaunchStatsRow& row : launches) {
    calls += row.calls;
    work += row.work;
    host_ns += row.host_ns;
  }
  TUTTI_ASSIGN_OR_RETURN(const auto devices, context.Read<schema::DeviceSummaryRow>(""));
  int64_t work_ns = 0;
  int64_t pieces = 0;
  int64_t able_ns = 0;
  int64_t tensor_ns = 0;
  for (const schema::DeviceSummaryRow& row : devices) {
    work_ns += row.work_ns;
    pieces += row.kernels + row.copies;
    able_ns += row.tensor_able_ns;
    tensor_ns += row.tensor_core_ns;
  }
  const auto real = [](int64_t value) { return static_cast<double>(value); };
  rows.push_back(Real("device.launch_mean_ns", real(host_ns), real(calls)));
  rows.push_back(Real("device.work_per_launch", real(work), real(calls)));
  rows.push_back(Real("device.work_mean_ns", real(work_ns), real(pieces)));
  rows.push_back(Real("device.tensor_core_frac", real(tensor_ns), real(able_ns)));
  return OkStatus();
}

Status Run(RunContext& context) {
  TUTTI_ASSIGN_OR_RETURN(const int64_t devices, context.derived().QueryOne<int64_t>(
                                                    "SELECT count(*) FROM device_summary"));
  if (devices == 0) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const Sums sums, SumSteps(context));
  std::vector<schema::RunMetricRow> rows;
  AddShares(sums, rows);
  TUTTI_RETURN_IF_ERROR(AddLaunches(context, rows));
  return context.Write(rows);
}

}  // namespace

extern const Pass kDeviceMetricsPass;
const Pass kDeviceMetricsPass{"device_metrics", Run};

}  // namespace tutti::analyzer
