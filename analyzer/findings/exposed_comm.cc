// Catalogue 23 and 25: communication that nothing hides.
//
// comm_after_backward: gradients are communicated only when backward has ended, though
// the first of them were ready long before. Bound per step and rank: what of the exposed
// transfer the compute from the first gradient to the end of backward could hide,
//   min(exposed transfer, step_backward.compute_ns),
// the median over ranks.
// exposed_comm: the exposed transfer, if it is large. It is not told beside the first:
// how much is left to hide or to save shows when gradients overlap with backward.
#include <algorithm>
#include <map>

#include "analyzer/findings/rule.h"
#include "analyzer/metrics/percentile.h"

namespace tutti::analyzer {
namespace {

// Exposed transfer is there in every data-parallel step: its last bucket has nothing
// left to hide behind. Below this share that is not worth a finding of its own.
constexpr double kMinExposedShare = 0.25;

// Share of the bytes that may be enqueued before backward ends (a metric, a counter).
constexpr double kMostBytesBefore = 0.1;

using Backwards = std::map<std::pair<int64_t, int64_t>, schema::StepBackwardRow>;

bool IsAfterBackward(const schema::StepBackwardRow& row) {
  if (row.calls_after == 0) return false;
  const double before =
      row.bytes > 0
          ? static_cast<double>(row.bytes - row.bytes_after) / static_cast<double>(row.bytes)
          : static_cast<double>(row.calls - row.calls_after) / static_cast<double>(row.calls);
  return before <= kMostBytesBefore;
}

int64_t ExposedNs(const schema::StepBreakdownRow& parts) { return parts.exposed_comm_transfer_ns; }

// Per step: the median over ranks of `value(parts)`.
template <typename Value>
std::vector<double> MedianPerStep(const FindingFacts& facts, Value value) {
  std::vector<double> medians;
  for (const StepParts& step : facts.breakdown) {
    std::vector<int64_t> values;
    for (const auto& parts : step) {
      if (parts) values.push_back(value(*parts));
    }
    medians.push_back(static_cast<double>(MedianOf(std::move(values)).value_or(0)));
  }
  return medians;
}

void AddEvidence(const FindingFacts& facts, std::span<const double> cost_per_step,
                 FindingDraft& draft) {
  for (size_t i = 0; i < facts.breakdown.size() && draft.evidence.size() < 5; ++i) {
    if (cost_per_step[i] < static_cast<double>(*draft.row.cost_ns)) continue;
    for (const auto& parts : facts.breakdown[i]) {
      if (!parts) continue;
      draft.evidence.push_back(StepEvidence(facts, parts->step, parts->rank,
                                            Duration(ExposedNs(*parts)) + " of exposed transfer"));
      break;
    }
  }
}

void AllRanks(const FindingFacts& facts, FindingDraft& draft) {
  for (const schema::RankRow& rank : facts.ranks) draft.ranks.push_back(rank.rank);
}

bool FindAfterBackward(const FindingFacts& facts, const Backwards& backwards,
                       std::vector<FindingDraft>& drafts) {
  const std::vector<double> cost_per_step =
      MedianPerStep(facts, [&](const schema::StepBreakdownRow& parts) -> int64_t {
        const auto row = backwards.find({parts.step, parts.rank});
        if (row == backwards.end() || !IsAfterBackward(row->second)) return 0;
        return std::min(ExposedNs(parts), row->second.compute_ns);
      });
  const CostOfSteps cost = CostOver(facts, cost_per_step);
  if (!IsWorthwhile(facts, cost)) return false;
  FindingDraft draft;
  AllRanks(facts, draft);
  draft.row.kind = "comm_after_backward";
  draft.row.title = "gradients are communicated only after backward has ended; " +
                    Duration(cost.cost_ns) + " per step could be hidden behind it";
  draft.row.cause = "exposed_comm_transfer";
  draft.row.formula =
      "mean over steps of the median over ranks of min(exposed_comm_transfer_ns, compute from "
      "the first gradient to the end of backward)";
  draft.row.advice =
      "let DistributedDataParallel (c10d::Reducer) reduce buckets during backward instead of "
      "reducing afterwards; leave no_sync() before the last micro-batch";
  SetCost(facts, cost, draft.row);
  AddEvidence(facts, cost_per_step, draft);
  drafts.push_back(std::move(draft));
  return true;
}

void FindExposed(const FindingFacts& facts, std::vector<FindingDraft>& drafts) {
  const std::vector<double> cost_per_step = MedianPerStep(facts, ExposedNs);
  const CostOfSteps cost = CostOver(facts, cost_per_step);
  const double share = static_cast<double>(cost.cost_ns) /
                       static_cast<double>(std::max<int64_t>(facts.step_mean_ns, 1));
  if (!IsWorthwhile(facts, cost) || share < kMinExposedShare) return;
  FindingDraft draft;
  AllRanks(facts, draft);
  draft.row.kind = "exposed_comm";
  draft.row.title = Duration(cost.cost_ns) + " per step of communication that no compute hides (" +
                    Percent(share) + ")";
  draft.row.cause = "exposed_comm_transfer";
  draft.row.formula = "mean over steps of the median over ranks of exposed_comm_transfer_ns";
  draft.row.advice =
      "communicate less often (gradient accumulation with no_sync), less (bf16 or PowerSGD "
      "gradient hooks), or do more work per step (larger batch); bucket_cap_mb decides how early "
      "the first bucket starts";
  SetCost(facts, cost, draft.row);
  AddEvidence(facts, cost_per_step, draft);
  drafts.push_back(std::move(draft));
}

}  // namespace

Status FindExposedComm(RunContext& context, const FindingFacts& facts,
                       std::vector<FindingDraft>& drafts) {
  Backwards backwards;
  TUTTI_ASSIGN_OR_RETURN(const auto rows, context.Read<schema::StepBackwardRow>(""));
  for (const schema::StepBackwardRow& row : rows)
    backwards.emplace(std::pair(row.step, row.rank), row);
  if (!FindAfterBackward(facts, backwards, drafts)) FindExposed(facts, drafts);
  return OkStatus();
}

}  // namespace tutti::analyzer
