// Catalogue 15: the first steps of a run take longer than all others: autotuning, compilation,
// caches that fill.
//
// Bound per step: what the warm-up takes beyond as many usual steps, over all steps of the run.
#include <algorithm>
#include <array>

#include "analyzer/findings/rule.h"

namespace tutti::analyzer {
namespace {

// A short run's warm-up is a large share of it and nobody's concern.
constexpr int64_t kLeastNs = 10'000'000'000;

constexpr std::array kKinds = {
    FindingKind{"warm_up",
                "The first steps take much longer than the others: autotuning, compilation, first "
                "use (catalogue 15).",
                "sum over run_step.is_warmup of the period less the median period, over all "
                "training steps",
                "as above, and ten seconds in all: less than that nobody waits for, however short "
                "the run",
                "keep what is tuned and compiled (TORCHINDUCTOR_CACHE_DIR, a fixed shape with "
                "cudnn.benchmark), and leave these steps out of a measurement"},
};

Status FindWarmUp(RunContext& context, const FindingFacts& facts,
                  std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(
      const auto warmup,
      context.Read<schema::RunStepRow>("WHERE is_warmup = 1 AND tag = 'train' AND is_partial = 0"
                                       " ORDER BY step"));
  std::vector<int64_t> periods;
  for (const schema::RunStepRow& step : facts.counted.steps) {
    if (step.step_period_ns) periods.push_back(*step.step_period_ns);
  }
  const std::optional<int64_t> usual_ns = MedianOf(std::move(periods));
  if (warmup.empty() || !usual_ns) return OkStatus();
  int64_t excess_ns = 0;
  const schema::RunStepRow* longest = nullptr;
  const auto period = [](const schema::RunStepRow& step) {
    return step.step_period_ns.value_or(step.end_ns - step.begin_ns);
  };
  for (const schema::RunStepRow& step : warmup) {
    excess_ns += std::max<int64_t>(period(step) - *usual_ns, 0);
    if (longest == nullptr || period(step) > period(*longest)) longest = &step;
  }
  CostOfSteps cost;
  cost.cost_ns = excess_ns / static_cast<int64_t>(facts.counted.steps.size() + warmup.size());
  cost.steps_seen = static_cast<int64_t>(warmup.size());
  cost.first_step = warmup.front().step;
  cost.last_step = warmup.back().step;
  if (excess_ns < kLeastNs || !IsWorthwhile(facts, cost)) return OkStatus();
  FindingDraft draft = DraftOf(kKinds[0], facts, cost);
  draft.row.title = "the first " + std::to_string(warmup.size()) + " steps take " +
                    Duration(excess_ns) + " longer than as many others, " + Duration(cost.cost_ns) +
                    " per step of the run";
  draft.row.cause = "warm_up";
  draft.row.advice = kKinds[0].advice;
  draft.row.confidence = "high";
  draft.row.reason = "measured, not estimated";
  draft.evidence.push_back({0,
                            0,
                            {},
                            "run_step",
                            longest->step,
                            longest->begin_ns,
                            longest->end_ns,
                            "the longest of them"});
  drafts.push_back(std::move(draft));
  return OkStatus();
}

}  // namespace

extern const FindingRule kWarmUpRule;
const FindingRule kWarmUpRule{kKinds, FindWarmUp};

}  // namespace tutti::analyzer
