// Catalogue 33: a GPU takes longer for the same kernels.
//
// Bound per step: compute * (1 - 1 / ratio), where the ratio is the median over kernels of its
// median duration to that of the other ranks.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analyzer/findings/rule.h"
#include "analyzer/findings/throttle.h"

namespace tutti::analyzer {
namespace {

constexpr double kLeastRatio = 1.05;
constexpr size_t kFewestKernels = 3;

constexpr std::array kKinds = {
    FindingKind{"slow_gpu",
                "One GPU takes longer than the others for the same kernels (catalogue 33).",
                "mean compute of a step on that rank * (1 - 1 / ratio), the ratio being the median "
                "over its longest kernels of its median duration to that of the other ranks",
                "as above; at least three ranks and three kernels, ratio 1.05 or more",
                "nvidia-smi -q -d PERFORMANCE,CLOCK on that machine: throttling, cooling, power "
                "limit, other processes; else swap it"},
};

// Median duration of each compute kernel, by rank.
using Durations = std::map<std::string, std::map<int64_t, int64_t>>;

double RatioOf(const Durations& durations, int64_t rank) {
  std::vector<double> ratios;
  for (const auto& [name, by_rank] : durations) {
    const auto own = by_rank.find(rank);
    if (own == by_rank.end() || by_rank.size() < 3) continue;
    std::vector<int64_t> others;
    for (const auto& [other, ns] : by_rank) {
      if (other != rank) others.push_back(ns);
    }
    const int64_t usual = MedianOf(std::move(others)).value_or(0);
    if (usual > 0) ratios.push_back(static_cast<double>(own->second) / static_cast<double>(usual));
  }
  if (ratios.size() < kFewestKernels) return 1;
  return LowerNearestRank(std::span<double>(ratios), 500);
}

Status FindSlowGpus(RunContext& context, const FindingFacts& facts,
                    std::vector<FindingDraft>& drafts) {
  if (!facts.OnGpus() || facts.ranks.size() < 3) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const auto rows,
                         context.Read<schema::OpStatsRow>(
                             "WHERE kind = 'kernel' AND in_steps_count > 0 AND p50_ns >= 10000"
                             " AND category NOT LIKE 'comm%' ORDER BY total_ns DESC, rank, name"
                             " LIMIT 20000"));
  Durations durations;
  for (const schema::OpStatsRow& row : rows) durations[row.name][row.rank] = row.p50_ns;
  for (size_t place = 0; place < facts.ranks.size(); ++place) {
    const int64_t rank = facts.ranks[place].rank;
    const double ratio = RatioOf(durations, rank);
    if (ratio < kLeastRatio) continue;
    std::vector<double> per_step;
    for (const StepParts& step : facts.breakdown) {
      const double compute = step[place] ? static_cast<double>(step[place]->compute_ns) : 0;
      per_step.push_back(compute * (1 - 1 / ratio));
    }
    const CostOfSteps cost = CostOver(facts, per_step);
    if (!IsWorthwhile(facts, cost)) continue;
    FindingDraft draft = DraftOf(kKinds[0], facts, cost);
    draft.ranks = {rank};
    draft.row.title = "rank " + std::to_string(rank) + " takes " + Percent(ratio - 1) +
                      " longer than the others for the same kernels";
    draft.row.cause = "compute";
    draft.row.advice = kKinds[0].advice;
    if (const std::string why = ThrottleOf(context, rank); !why.empty()) {
      draft.row.title += ": " + why;
    }
    draft.row.replayed_ns = facts.SavedBy("rank-at-median=" + std::to_string(rank));
    AddStepEvidence(
        facts, per_step,
        [rank](const schema::StepBreakdownRow& parts) {
          return parts.rank == rank ? parts.compute_ns : 0;
        },
        "of compute", draft);
    drafts.push_back(std::move(draft));
  }
  return OkStatus();
}

}  // namespace

extern const FindingRule kSlowGpuRule;
const FindingRule kSlowGpuRule{kKinds, FindSlowGpus};

}  // namespace tutti::analyzer
