// Catalogue 32: one rank makes the others wait.
//
// Bound per step: what the others' exposed wait for it exceeds their wait for anybody
// (straggler.net_cost_ns): jitter that all ranks share is not its fault. The cause is the
// part of its own step that is longest against the median of the others.
#include <algorithm>
#include <map>

#include "analyzer/findings/rule.h"

namespace tutti::analyzer {
namespace {

struct CauseText {
  const char* what;  // in the title
  const char* advice;
};

CauseText TextOf(const std::string& cause) {
  static const std::map<std::string, CauseText> kTexts = {
      {"compute",
       {"computes longer",
        "compare its work and its machine with the others': tokens or samples per rank "
        "(DistributedSampler, length buckets, drop_last), clocks and throttling, other load on its "
        "cores or GPU"}},
      {"host_bound",
       {"spends longer outside operators",
        "look at what its host thread does there (logging, checkpoints, Python, garbage "
        "collection) and who shares its cores (CPU binding, OMP_NUM_THREADS)"}},
      {"exposed_copy", {"copies longer", "pinned memory, non_blocking copies, its PCIe link"}},
      {"sync",
       {"is blocked in synchronisation longer",
        "drop .item() and prints from the step, or do them "
        "every n-th step"}},
      {"input_wait",
       {"waits longer for input", "its data loader: num_workers, a faster or cached data set"}},
      {"idle", {"is idle longer", "record it with more sources to see why"}},
  };
  const auto found = kTexts.find(cause);
  return found == kTexts.end() ? CauseText{"arrives late", "compare its machine with the others'"}
                               : found->second;
}

// A late loader is told by the input-wait rule already.
bool IsTold(const schema::StragglerRow& straggler, const std::vector<FindingDraft>& drafts) {
  return straggler.cause == "input_wait" &&
         std::any_of(drafts.begin(), drafts.end(), [&](const FindingDraft& draft) {
           return draft.row.kind == "input_wait" &&
                  std::find(draft.ranks.begin(), draft.ranks.end(), straggler.rank) !=
                      draft.ranks.end();
         });
}

Result<std::vector<schema::StepWaitForRow>> WaitsFor(RunContext& context, int64_t rank) {
  return context.Read<schema::StepWaitForRow>(
      "WHERE late_rank = ?1 ORDER BY wait_ns DESC, step, rank", rank);
}

void SetReach(const FindingFacts& facts, const std::vector<schema::StepWaitForRow>& waits,
              CostOfSteps& cost) {
  const std::map<int64_t, size_t> places = facts.counted.Places();
  std::map<int64_t, int64_t> wait_of_step;
  for (const schema::StepWaitForRow& wait : waits) {
    if (places.contains(wait.step)) {
      wait_of_step[wait.step] = std::max(wait_of_step[wait.step], wait.wait_ns);
    }
  }
  for (const auto& [step, wait_ns] : wait_of_step) {
    if (static_cast<double>(wait_ns) < kMinShare * static_cast<double>(facts.step_mean_ns))
      continue;
    ++cost.steps_seen;
    cost.last_step = step;
    if (!cost.first_step) cost.first_step = step;
  }
}

FindingDraft Draft(const FindingFacts& facts, const schema::StragglerRow& straggler,
                   const CostOfSteps& cost, const std::vector<schema::StepWaitForRow>& waits) {
  const CauseText text = TextOf(straggler.cause.value_or(""));
  FindingDraft draft;
  draft.ranks = {straggler.rank};
  draft.row.kind = "straggler";
  draft.row.cause = straggler.cause;
  draft.row.title = "rank " + std::to_string(straggler.rank) + " is last in " +
                    std::to_string(straggler.times_last) + " of " +
                    std::to_string(straggler.collectives) + " collectives: it " + text.what;
  if (straggler.cause_ns) draft.row.title += " (" + Duration(*straggler.cause_ns) + " per step)";
  draft.row.formula =
      "straggler.net_cost_ns: mean over steps of the median over the other ranks of their "
      "exposed wait for it, less the same for the median other rank";
  draft.row.advice = text.advice;
  SetCost(facts, cost, draft.row);
  for (const schema::StepWaitForRow& wait : waits) {
    if (draft.evidence.size() == 5) break;
    if (!facts.windows.contains({wait.step, wait.rank})) continue;
    draft.evidence.push_back(StepEvidence(
        facts, wait.step, wait.rank,
        "waits " + Duration(wait.wait_ns) + " for rank " + std::to_string(straggler.rank)));
  }
  return draft;
}

}  // namespace

Status FindStragglers(RunContext& context, const FindingFacts& facts,
                      std::vector<FindingDraft>& drafts) {
  for (const schema::StragglerRow& straggler : facts.stragglers) {
    CostOfSteps cost;
    cost.cost_ns = straggler.net_cost_ns;
    cost.noise_ns = straggler.noise_ns;
    if (!IsWorthwhile(facts, cost) || IsTold(straggler, drafts)) continue;
    TUTTI_ASSIGN_OR_RETURN(const auto waits, WaitsFor(context, straggler.rank));
    SetReach(facts, waits, cost);
    drafts.push_back(Draft(facts, straggler, cost, waits));
  }
  return OkStatus();
}

}  // namespace tutti::analyzer
