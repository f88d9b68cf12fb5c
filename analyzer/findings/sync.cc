// Catalogue 9: the host waits for the device, and the device then waits for the host.
//
// Bound per step: the synchronisation in which nothing runs, and the gap after one that waited for
// the device, which is empty then until the host has launched anew; less what allocations take,
// the median over ranks.
#include <array>
#include <map>
#include <utility>

#include "analyzer/findings/rule.h"
#include "analyzer/input/activity.h"
#include "analyzer/input/matched_calls.h"
#include "analyzer/input/step_index.h"
#include "analyzer/metrics/after_sync.h"

namespace tutti::analyzer {
namespace {

constexpr std::array kKinds = {
    FindingKind{"sync_points",
                "The host waits for the device in a synchronisation, and the device then for the "
                "host (catalogue 9).",
                "mean over steps of the median over ranks of sync_ns and of the host_bound_ns that "
                "follows a synchronisation in which the device worked, less what the allocation "
                "findings take",
                "as above",
                "no .item(), print() or .cpu() of a GPU tensor in the step, or every n-th step; "
                "non_blocking copies"},
};

// How long the device stays empty after synchronisations that waited for it, by (step, rank).
using AfterSyncs = std::map<std::pair<int64_t, int64_t>, int64_t>;

Status AddRank(RunContext& context, const schema::RankRow& rank, RankTrace& trace,
               AfterSyncs& after_ns) {
  TUTTI_ASSIGN_OR_RETURN(const auto windows, context.Read<schema::StepWindowRow>(
                                                 "WHERE rank = ?1 ORDER BY step", rank.rank));
  TUTTI_ASSIGN_OR_RETURN(const RankActivity activity, ReadMatchedActivity(context, rank, trace));
  const StepIndex steps(windows);
  const std::vector<int64_t> totals_ns = TotalPerWindow(AfterSync(activity.sets), steps.windows());
  for (size_t i = 0; i < totals_ns.size(); ++i) {
    after_ns[{steps.steps()[i], rank.rank}] = totals_ns[i];
  }
  return OkStatus();
}

// Of GPUs whose ranks synchronise in every step; nothing where the host keeps them busy anyway.
Result<AfterSyncs> ReadAfterSyncs(RunContext& context, const FindingFacts& facts) {
  AfterSyncs after_ns;
  const auto steps = static_cast<int64_t>(facts.counted.steps.size());
  TUTTI_ASSIGN_OR_RETURN(
      const int64_t calls,
      context.derived().QueryOne<int64_t>("SELECT coalesce(max(in_steps_count), 0) FROM call_stats"
                                          " WHERE blocks = 1"));
  const CostOfSteps host = CostOver(facts, MedianPerStep(facts, [](const auto& parts) {
                                      return parts.host_bound_ns + parts.sync_ns;
                                    }));
  if (!facts.OnGpus() || calls < steps || !IsWorthwhile(facts, host)) return after_ns;
  TUTTI_RETURN_IF_ERROR(
      context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) -> Status {
        return rank.device_kind == "gpu" ? AddRank(context, rank, trace, after_ns) : OkStatus();
      }));
  return after_ns;
}

int64_t TakenByAllocations(const std::vector<FindingDraft>& drafts) {
  int64_t ns = 0;
  for (const FindingDraft& draft : drafts) {
    if (draft.row.cause == "allocation") ns += draft.row.cost_ns.value_or(0);
  }
  return ns;
}

Status FindSyncs(RunContext& context, const FindingFacts& facts,
                 std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(const AfterSyncs after_ns, ReadAfterSyncs(context, facts));
  const auto sync_ns = [&](const schema::StepBreakdownRow& parts) {
    const auto after = after_ns.find({parts.step, parts.rank});
    return parts.sync_ns + (after == after_ns.end() ? 0 : after->second);
  };
  const std::vector<double> per_step = MedianPerStep(facts, sync_ns);
  CostOfSteps cost = CostOver(facts, per_step);
  cost.cost_ns = std::max<int64_t>(cost.cost_ns - TakenByAllocations(drafts), 0);
  const std::optional<int64_t> replayed_ns = facts.SavedBy("no-syncs");
  if (!IsWorthwhile(facts, cost, replayed_ns)) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const auto calls,
                         context.Read<schema::CallStatsRow>(
                             "WHERE blocks = 1 ORDER BY in_steps_ns DESC, rank, name LIMIT 1"));
  FindingDraft draft = DraftOf(kKinds[0], facts, cost);
  draft.row.title = facts.OnGpus() ? "synchronisations leave the GPU without work for " +
                                         Duration(cost.cost_ns) + " per step"
                                   : "the host waits " + Duration(cost.cost_ns) +
                                         " per step in synchronisations while nothing runs";
  draft.row.cause = "sync";
  draft.row.advice = std::string(kKinds[0].advice) +
                     " (every 10th: " + Duration(cost.cost_ns / 10) + " per step instead)";
  draft.row.replayed_ns = replayed_ns;
  if (!calls.empty()) {
    const auto steps = static_cast<int64_t>(facts.counted.steps.size());
    const int64_t per_step_count = calls[0].in_steps_count / std::max<int64_t>(steps, 1);
    draft.row.title += ": " + calls[0].name + ", " +
                       (per_step_count == 1 ? "once" : std::to_string(per_step_count) + " times") +
                       " a step";
    draft.evidence.push_back({0,
                              0,
                              calls[0].rank,
                              "api_call",
                              calls[0].longest_id,
                              {},
                              {},
                              "longest " + calls[0].name + " of the steps that count"});
  }
  AddStepEvidence(facts, per_step, sync_ns, "of synchronisation and after it", draft);
  drafts.push_back(std::move(draft));
  return OkStatus();
}

}  // namespace

extern const FindingRule kSyncRule;
const FindingRule kSyncRule{kKinds, FindSyncs};

}  // namespace tutti::analyzer
