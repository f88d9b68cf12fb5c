// Catalogue 14: now and then a step takes much longer: garbage collection, logging, checkpoints.
//
// Bound per step: what such steps take beyond the median, over all steps that count. A step in
// which the training thread waits for a core instead is no pause of the program's.
#include <algorithm>
#include <array>
#include <map>

#include "analyzer/findings/rank_counters.h"
#include "analyzer/findings/rule.h"
#include "analyzer/input/step_parts.h"

namespace tutti::analyzer {
namespace {

constexpr size_t kFewest = 2;

constexpr std::array kKinds = {
    FindingKind{"pauses",
                "Now and then a step takes much longer because the host does something else: "
                "garbage collection, logging, writing (catalogue 14).",
                "sum of step_outlier.excess_ns over steps whose excess is host-bound, idle or "
                "between steps, over all steps that count",
                "as above; at least two such steps, each beyond the median by six median "
                "deviations and a quarter of it, and not because the training thread waits for a "
                "core for half of that",
                "gc.freeze() and gc.collect() at chosen steps, logging and evaluation less often, "
                "asynchronous checkpoints"},
    FindingKind{"checkpoints",
                "Steps that write a checkpoint take longer than others (catalogue 14).",
                "sum over steps with a checkpoint, from the first step that counts on, of their "
                "period less the median period, over the steps that count and them",
                "as above; at least two such steps",
                "torch.distributed.checkpoint.async_save, or less often"},
};

bool IsPause(const schema::StepOutlierRow& row) {
  return row.part == "host_bound" || row.part == "between_steps" || row.part == "idle" ||
         row.part == "sync";
}

// True if the first thread of the rank waits for a core for half of what it does longer, beyond
// what it waits anyway.
bool WaitsForACore(const FindingFacts& facts, const RankCounters& delays,
                   const schema::StepOutlierRow& row) {
  const auto window = facts.windows.find({row.step, row.rank});
  if (window == facts.windows.end()) return false;
  for (size_t place = 0; place < facts.ranks.size(); ++place) {
    if (facts.ranks[place].rank != row.rank) continue;
    const double waits_ns =
        ExtraGrowthAround(delays[place], window->second.begin_ns, window->second.end_ns);
    return 2 * waits_ns >= static_cast<double>(row.part_ns);
  }
  return false;
}

// The value of a part, by its name; 0 of a gap between steps, which is none.
int64_t ValueOf(const schema::StepBreakdownRow& parts, const std::string& name) {
  for (const StepPart& part : kStepParts) {
    if (part.name == name) return parts.*part.value;
  }
  return 0;
}

// Ranks whose own part exceeds its median by half of the worst rank's, in half of the pauses.
std::vector<int64_t> RanksThatPause(const FindingFacts& facts,
                                    const std::vector<const schema::StepOutlierRow*>& pauses) {
  const std::map<int64_t, size_t> places = facts.counted.Places();
  std::vector<int64_t> ranks;
  for (size_t rank = 0; rank < facts.ranks.size(); ++rank) {
    size_t seen = 0;
    for (const schema::StepOutlierRow* pause : pauses) {
      std::vector<int64_t> values;
      for (const StepParts& step : facts.breakdown) {
        if (step[rank]) values.push_back(ValueOf(*step[rank], pause->part));
      }
      const int64_t usual_ns = MedianOf(std::move(values)).value_or(0);
      const auto& parts = facts.breakdown[places.at(pause->step)][rank];
      const int64_t excess_ns = parts ? ValueOf(*parts, pause->part) - usual_ns : 0;
      seen += pause->rank == facts.ranks[rank].rank || excess_ns * 2 >= pause->part_ns ? 1 : 0;
    }
    if (seen * 2 >= pauses.size()) ranks.push_back(facts.ranks[rank].rank);
  }
  return ranks;
}

void FindPauses(const FindingFacts& facts, const std::vector<schema::StepOutlierRow>& outliers,
                const RankCounters& delays, std::vector<FindingDraft>& drafts) {
  CostOfSteps cost;
  std::vector<const schema::StepOutlierRow*> pauses;
  for (const schema::StepOutlierRow& row : outliers) {
    if (!IsPause(row) || WaitsForACore(facts, delays, row)) continue;
    pauses.push_back(&row);
    cost.cost_ns += row.excess_ns;
    if (!cost.first_step) cost.first_step = row.step;
    cost.last_step = row.step;
  }
  cost.steps_seen = static_cast<int64_t>(pauses.size());
  cost.cost_ns /= std::max<int64_t>(static_cast<int64_t>(facts.counted.steps.size()), 1);
  if (pauses.size() < kFewest || !IsWorthwhile(facts, cost)) return;
  std::stable_sort(pauses.begin(), pauses.end(),
                   [](const auto* a, const auto* b) { return a->excess_ns > b->excess_ns; });
  FindingDraft draft = DraftOf(kKinds[0], facts, cost);
  draft.ranks = RanksThatPause(facts, pauses);
  if (draft.ranks.empty()) draft.ranks = {pauses[0]->rank};
  draft.row.title = std::to_string(pauses.size()) + " steps take up to " +
                    Duration(pauses[0]->excess_ns) + " longer than usual";
  if (draft.ranks.size() < facts.ranks.size()) draft.row.title += " on " + RankList(draft.ranks);
  draft.row.title += ", one in " + std::to_string(facts.counted.steps.size() / pauses.size()) +
                     ": " + Duration(cost.cost_ns) + " per step of the run";
  draft.row.cause = "pause";
  draft.row.advice = kKinds[0].advice;
  draft.row.confidence = "medium";
  for (size_t i = 0; i < std::min<size_t>(pauses.size(), 5); ++i) {
    draft.evidence.push_back(
        StepEvidence(facts, pauses[i]->step, pauses[i]->rank,
                     Duration(pauses[i]->part_ns) + " more " + pauses[i]->part + " than usual"));
  }
  drafts.push_back(std::move(draft));
}

Status FindCheckpoints(RunContext& context, const FindingFacts& facts,
                       std::vector<FindingDraft>& drafts) {
  if (facts.counted.steps.empty()) return OkStatus();
  // Only between steps that count: what lies in the warm-up has no share in them.
  TUTTI_ASSIGN_OR_RETURN(
      const auto steps,
      context.Read<schema::RunStepRow>("WHERE tag = 'checkpoint' AND is_partial = 0 AND"
                                       " step_period_ns IS NOT NULL AND step > ?1 ORDER BY step",
                                       facts.counted.steps.front().step));
  std::vector<int64_t> periods;
  for (const schema::RunStepRow& step : facts.counted.steps) {
    if (step.step_period_ns) periods.push_back(*step.step_period_ns);
  }
  const std::optional<int64_t> usual = MedianOf(std::move(periods));
  if (steps.size() < kFewest || !usual) return OkStatus();
  CostOfSteps cost;
  for (const schema::RunStepRow& step : steps) {
    cost.cost_ns += std::max<int64_t>(*step.step_period_ns - *usual, 0);
  }
  cost.steps_seen = static_cast<int64_t>(steps.size());
  cost.first_step = steps.front().step;
  cost.last_step = steps.back().step;
  cost.cost_ns /= static_cast<int64_t>(facts.counted.steps.size() + steps.size());
  if (!IsWorthwhile(facts, cost)) return OkStatus();
  FindingDraft draft = DraftOf(kKinds[1], facts, cost);
  draft.row.title = std::to_string(steps.size()) + " steps that write a checkpoint cost " +
                    Duration(cost.cost_ns) + " per step of the run";
  draft.row.cause = "checkpoint";
  draft.row.advice = std::string(kKinds[1].advice) + ": half as often saves " +
                     Duration(cost.cost_ns / 2) + " per step";
  for (size_t i = 0; i < std::min<size_t>(steps.size(), 5); ++i) {
    draft.evidence.push_back({0,
                              0,
                              {},
                              "run_step",
                              steps[i].step,
                              steps[i].begin_ns,
                              steps[i].end_ns,
                              "step with a checkpoint"});
  }
  drafts.push_back(std::move(draft));
  return OkStatus();
}

Status FindPauses(RunContext& context, const FindingFacts& facts,
                  std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(const auto outliers,
                         context.Read<schema::StepOutlierRow>("ORDER BY step"));
  TUTTI_ASSIGN_OR_RETURN(const RankCounters delays,
                         ReadRankCounters(context, facts, "process.main_run_delay"));
  FindPauses(facts, outliers, delays, drafts);
  return FindCheckpoints(context, facts, drafts);
}

}  // namespace

extern const FindingRule kPauseRule;
const FindingRule kPauseRule{kKinds, FindPauses};

}  // namespace tutti::analyzer
