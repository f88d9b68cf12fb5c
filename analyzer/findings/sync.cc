// Catalogue 9: the host waits for the device, and the device then waits for the host.
//
// Bound per step: the synchronisation in which nothing runs, less what allocations take of it,
// the median over ranks.
#include <array>

#include "analyzer/findings/rule.h"

namespace tutti::analyzer {
namespace {

constexpr std::array kKinds = {
    FindingKind{"sync_points",
                "The host is blocked in a synchronisation while the device has nothing to do "
                "(catalogue 9).",
                "mean over steps of the median over ranks of sync_ns, less what the allocation "
                "findings take",
                "as above",
                "no .item(), print() or .cpu() of a GPU tensor in the step, or every n-th step; "
                "non_blocking copies"},
};

int64_t SyncNs(const schema::StepBreakdownRow& parts) { return parts.sync_ns; }

int64_t TakenByAllocations(const std::vector<FindingDraft>& drafts) {
  int64_t ns = 0;
  for (const FindingDraft& draft : drafts) {
    if (draft.row.cause == "allocation") ns += draft.row.cost_ns.value_or(0);
  }
  return ns;
}

Status FindSyncs(RunContext& context, const FindingFacts& facts,
                 std::vector<FindingDraft>& drafts) {
  const std::vector<double> per_step = MedianPerStep(facts, SyncNs);
  CostOfSteps cost = CostOver(facts, per_step);
  cost.cost_ns = std::max<int64_t>(cost.cost_ns - TakenByAllocations(drafts), 0);
  if (!IsWorthwhile(facts, cost)) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const auto calls,
                         context.Read<schema::CallStatsRow>(
                             "WHERE blocks = 1 ORDER BY in_steps_ns DESC, rank, name LIMIT 1"));
  FindingDraft draft = DraftOf(kKinds[0], facts, cost);
  draft.row.title = "the host waits " + Duration(cost.cost_ns) +
                    " per step in synchronisations while nothing runs";
  draft.row.cause = "sync";
  draft.row.advice = kKinds[0].advice;
  draft.row.replayed_ns = facts.SavedBy("no-syncs");
  if (!calls.empty()) {
    const auto steps = static_cast<int64_t>(facts.counted.steps.size());
    draft.row.title += ": " + calls[0].name + ", " +
                       std::to_string(calls[0].in_steps_count / std::max<int64_t>(steps, 1)) +
                       " times a step";
    draft.evidence.push_back({0,
                              0,
                              calls[0].rank,
                              "api_call",
                              calls[0].longest_id,
                              {},
                              {},
                              "longest " + calls[0].name + " of the steps that count"});
  }
  AddStepEvidence(facts, per_step, SyncNs, "of synchronisation", draft);
  drafts.push_back(std::move(draft));
  return OkStatus();
}

}  // namespace

extern const FindingRule kSyncRule;
const FindingRule kSyncRule{kKinds, FindSyncs};

}  // namespace tutti::analyzer
