// Catalogue 7, 8 and 40: what computes waits for the host.
//
// Bound per step: the host-bound part of the breakdown, the median over ranks, less what a
// finding about synchronisations takes of it.
#include <algorithm>
#include <array>
#include <map>

#include "analyzer/findings/rule.h"

namespace tutti::analyzer {
namespace {

constexpr int64_t kTinyKernelNs = 10'000;
constexpr int64_t kManyKernels = 50;
constexpr double kMinCpuShare = 0.25;

constexpr std::array kKinds = {
    FindingKind{
        "launch_bound",
        "The GPU waits because the host has not launched its next work yet "
        "(catalogue 7 and 40).",
        "mean over steps of the median over ranks of host_bound_ns, less what sync_points takes "
        "of it",
        "as above; on GPUs",
        "CUDA graphs or torch.compile(mode=\"reduce-overhead\"), a larger batch, fewer "
        "Python calls in the step"},
    FindingKind{
        "tiny_kernels", "The same because kernels are shorter than their launches (catalogue 8).",
        "the same", "as above; at least 50 kernels a step, of less than 10 µs on average",
        "foreach or fused optimizers (AdamW(fused=True)), torch.compile, fused layers, CUDA "
        "graphs, a larger batch"},
    FindingKind{"host_bound",
                "Ranks that compute on the CPU spend time outside operators, waits and "
                "communication: Python, logging, other load (catalogue 13 and 14).",
                "the same", "a quarter of a step: some time between operators is in every program",
                "profile the host code of the step; CPU binding, OMP_NUM_THREADS, no logging in "
                "every step"},
};

int64_t HostNs(const schema::StepBreakdownRow& parts) { return parts.host_bound_ns; }

struct Kernels {
  int64_t per_step = 0;
  int64_t mean_ns = 0;
};

Result<Kernels> ReadKernels(RunContext& context, const FindingFacts& facts) {
  const auto sum = [&](const std::string& column) {
    return context.derived().QueryOne<int64_t>("SELECT coalesce(sum(" + column +
                                               "), 0) FROM step_category JOIN run_step USING (step)"
                                               " WHERE category NOT IN ('copy', 'fill') AND " +
                                               facts.counted.condition);
  };
  TUTTI_ASSIGN_OR_RETURN(const int64_t count, sum("count"));
  TUTTI_ASSIGN_OR_RETURN(const int64_t total_ns, sum("total_ns"));
  const auto windows =
      static_cast<int64_t>(facts.counted.steps.size() * std::max<size_t>(facts.ranks.size(), 1));
  return Kernels{count / std::max<int64_t>(windows, 1), total_ns / std::max<int64_t>(count, 1)};
}

// Beyond this nobody takes the memory that a batch needs to grow with it.
constexpr int64_t kMostTimes = 16;

// A larger batch gives each launch more to do, where memory allows it.
Result<std::string> BatchAdvice(RunContext& context) {
  TUTTI_ASSIGN_OR_RETURN(const auto trends,
                         context.Read<schema::MemoryTrendRow>(
                             "WHERE capacity_bytes > 0 ORDER BY rank, device_id LIMIT 1"));
  if (trends.empty()) return std::string();
  TUTTI_ASSIGN_OR_RETURN(const auto peaks,
                         context.Read<schema::MemoryPeakRow>(
                             "WHERE rank = ?1 AND device_id = ?2 AND device_type <> 'cpu'",
                             trends[0].rank, trends[0].device_id));
  const int64_t capacity = *trends[0].capacity_bytes;
  if (peaks.empty() || peaks[0].peak_bytes <= 0 || peaks[0].peak_bytes * 2 > capacity) {
    return std::string();
  }
  const int64_t times = capacity * 9 / 10 / peaks[0].peak_bytes;
  return "; a batch " + std::to_string(std::min(times, kMostTimes)) + " times as large " +
         (times > kMostTimes ? "and more " : "") + "would fit into memory (peak " +
         std::to_string(peaks[0].peak_bytes >> 20) + " of " + std::to_string(capacity >> 20) +
         " MiB)";
}

// In steps that pause, what is usual: the rest is told as pauses.
Status TakePauses(RunContext& context, const FindingFacts& facts, std::vector<double>& per_step) {
  TUTTI_ASSIGN_OR_RETURN(const auto outliers, context.Read<schema::StepOutlierRow>(
                                                  "WHERE part = 'host_bound' ORDER BY step"));
  std::vector<int64_t> values(per_step.begin(), per_step.end());
  const auto usual_ns = static_cast<double>(MedianOf(std::move(values)).value_or(0));
  const std::map<int64_t, size_t> places = facts.counted.Places();
  for (const schema::StepOutlierRow& row : outliers) {
    double& ns = per_step[places.at(row.step)];
    ns = std::min(ns, usual_ns);
  }
  return OkStatus();
}

// What follows a synchronisation: the rest of its cost is no host-bound time.
double TakenBySyncs(const FindingFacts& facts, const std::vector<FindingDraft>& drafts) {
  double taken_ns = 0;
  for (const FindingDraft& draft : drafts) {
    if (draft.row.cause != "sync") continue;
    const CostOfSteps itself =
        CostOver(facts, MedianPerStep(facts, [](const auto& parts) { return parts.sync_ns; }));
    taken_ns += static_cast<double>(*draft.row.cost_ns - itself.cost_ns);
  }
  return std::max(taken_ns, 0.0);
}

Status FindHostBound(RunContext& context, const FindingFacts& facts,
                     std::vector<FindingDraft>& drafts) {
  std::vector<double> per_step = MedianPerStep(facts, HostNs);
  const double taken_ns = TakenBySyncs(facts, drafts);
  for (double& ns : per_step) ns = std::max(ns - taken_ns, 0.0);
  if (IsClaimed(drafts, "pause")) TUTTI_RETURN_IF_ERROR(TakePauses(context, facts, per_step));
  const CostOfSteps cost = CostOver(facts, per_step);
  if (!IsWorthwhile(facts, cost)) return OkStatus();
  const bool on_gpus = facts.OnGpus();
  if (!on_gpus &&
      static_cast<double>(cost.cost_ns) < kMinCpuShare * static_cast<double>(facts.step_mean_ns)) {
    return OkStatus();
  }
  TUTTI_ASSIGN_OR_RETURN(const Kernels kernels, ReadKernels(context, facts));
  const bool tiny = kernels.per_step >= kManyKernels && kernels.mean_ns < kTinyKernelNs;
  const FindingKind& kind = !on_gpus ? kKinds[2] : tiny ? kKinds[1] : kKinds[0];
  FindingDraft draft = DraftOf(kind, facts, cost);
  draft.row.title = on_gpus ? "the GPU waits " + Duration(cost.cost_ns) +
                                  " per step for launches: " + std::to_string(kernels.per_step) +
                                  " kernels a step of " + Duration(kernels.mean_ns) + " on average"
                            : Duration(cost.cost_ns) +
                                  " per step are spent outside operators, waits and communication";
  draft.row.cause = "host_bound";
  TUTTI_ASSIGN_OR_RETURN(const std::string batch, BatchAdvice(context));
  draft.row.advice = std::string(kind.advice) + batch;
  draft.row.replayed_ns = facts.SavedBy(on_gpus ? "launch=0 host=0" : "host=0");
  AddStepEvidence(facts, per_step, HostNs, "host-bound", draft);
  drafts.push_back(std::move(draft));
  return OkStatus();
}

}  // namespace

extern const FindingRule kHostBoundRule;
const FindingRule kHostBoundRule{kKinds, FindHostBound};

}  // namespace tutti::analyzer
