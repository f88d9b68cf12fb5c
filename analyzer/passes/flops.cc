// Floating-point operations of each step, as far as operators tell their shapes, and what share
// of the GPU's peak that is (MFU).
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/input/limits.h"
#include "analyzer/input/step_index.h"
#include "analyzer/input/steps_that_count.h"
#include "analyzer/metrics/gpu_peaks.h"
#include "analyzer/metrics/op_flop.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

struct Job {
  std::vector<schema::StepFlopRow> rows;
  bool has_convolutions = false;
  std::set<double> peaks;  // FLOP/s; 0: of a rank it is not known
};

struct Operator {
  bool has_flop = false;
  bool is_convolution = false;
};

Status AddRank(RunContext& context, const schema::RankRow& rank, RankTrace& trace, Job& job) {
  TUTTI_ASSIGN_OR_RETURN(const auto windows,
                         context.Read<schema::StepWindowRow>("WHERE rank = ?1", rank.rank));
  TUTTI_ASSIGN_OR_RETURN(const auto ops, trace.ShapedOps());
  const StepIndex steps(windows);
  std::map<int64_t, Operator> operators;                                // by name
  std::map<std::pair<int64_t, int64_t>, std::optional<int64_t>> flops;  // by name and shapes
  std::map<int64_t, schema::StepFlopRow> rows;
  for (const ShapedOp& op : ops) {
    const auto [known, is_new] = operators.try_emplace(op.name_id);
    if (is_new) {
      known->second = {HasFlop(trace.Text(op.name_id)), IsConvolution(trace.Text(op.name_id))};
    }
    job.has_convolutions = job.has_convolutions || known->second.is_convolution;
    if (!known->second.has_flop) continue;
    const auto [flop, is_first] = flops.try_emplace({op.name_id, op.shapes_id});
    if (is_first) flop->second = FlopOf(trace.Text(op.name_id), trace.Text(op.shapes_id));
    const std::optional<int64_t> step = steps.ByHost(op.begin_ns);
    if (!flop->second || !step) continue;
    schema::StepFlopRow& row = rows[*step];
    row.rank = rank.rank;
    row.step = *step;
    ++row.operators;
    row.flop = SaturatingAdd(row.flop, *flop->second);
  }
  for (const auto& [step, row] : rows) job.rows.push_back(row);
  TUTTI_ASSIGN_OR_RETURN(const auto devices, trace.Devices());
  double peak = 0;
  for (const schema::DeviceRow& device : devices) {
    if (const auto known = PeakOf(device.name)) peak += known->tensor_tflop_per_s * 1e12;
  }
  job.peaks.insert(peak);
  return OkStatus();
}

// Rates per rank over the steps that count. Convolutions don't tell their output, so that a job
// with them has no rate: it would leave them out.
Status WriteRates(RunContext& context, const Job& job) {
  if (job.has_convolutions || job.rows.empty()) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const StepsThatCount counted, ReadStepsThatCount(context));
  const std::map<int64_t, size_t> places = counted.Places();
  double flop = 0;
  double seconds = 0;
  for (const schema::StepFlopRow& row : job.rows) {
    const auto place = places.find(row.step);
    if (place == places.end()) continue;
    const schema::RunStepRow& step = counted.steps[place->second];
    flop += static_cast<double>(row.flop);
    seconds += static_cast<double>(step.step_period_ns.value_or(step.end_ns - step.begin_ns)) / 1e9;
  }
  if (seconds <= 0) return OkStatus();
  std::vector<schema::RunMetricRow> rows = {{"compute.flop_per_s", flop / seconds}};
  if (job.peaks.size() == 1 && *job.peaks.begin() > 0) {
    rows.push_back({"compute.peak_flop_per_s", *job.peaks.begin()});
    rows.push_back({"compute.mfu_frac", flop / seconds / *job.peaks.begin()});
  }
  return context.Write(rows);
}

Status Run(RunContext& context) {
  Job job;
  TUTTI_RETURN_IF_ERROR(context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) {
    return AddRank(context, rank, trace, job);
  }));
  TUTTI_RETURN_IF_ERROR(context.Write(job.rows));
  return WriteRates(context, job);
}

}  // namespace

extern const Pass kFlopsPass;
const Pass kFlopsPass{"flops", Run};

}  // namespace tutti::analyzer
