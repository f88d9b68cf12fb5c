// Catalogue 35: stages of a pipeline have nothing to do, because it is not full or because one
// stage takes longer than the others.
//
// Bound of pipeline_bubble per step: step minus what the slowest stage computes. A pipeline of p
// stages that is fed m micro-batches has a bubble of (p - 1) / (m + p - 1) even if all stages are
// alike.
//
// Bound of pipeline_imbalance per step: what the slowest stage computes longer than the median
// other one, times the share of the step for which it sets the pace. A full pipeline moves on as
// fast as its slowest stage:
//
//   its compute + (p - 1) / m of the others' (to fill and drain) = the step
//
// What the step lasts beyond that, even the slowest stage waits, for transfers or because ranks
// take turns on too few cores: being faster would gain nothing then. If layers are moved, others
// compute longer.
#include <algorithm>
#include <array>
#include <map>

#include "analyzer/findings/rule.h"

namespace tutti::analyzer {
namespace {

// From here on layers can be moved: below it a stage differs by less than one of few layers.
constexpr double kLeastImbalance = 1.2;

constexpr std::array kKinds = {
    FindingKind{
        "pipeline_imbalance",
        "One stage of a pipeline computes longer than the others, which wait for it "
        "(catalogue 35).",
        "mean over steps of the slowest stage's compute less the median of the other stages' "
        "(pipeline_step.compute_ns), times the share of the step that the former and (p-1)/m of "
        "the latter fill: what is left the slowest stage waits as well",
        "as above; the stage computes at least 1.2 times as long as the median other one",
        "move layers from the slowest stage to the others; split by measured time, not by "
        "number of layers, with embeddings, head and loss counted"},
    FindingKind{"pipeline_bubble", "Pipeline stages stand idle (catalogue 35).",
                "mean over steps of the median over ranks of the step's time that is neither "
                "compute, exposed transfer nor copy (pipeline_step.bubble_ns)",
                "as above; ranks that send to and receive from neighbours in a step",
                "more micro-batches (bubble (p-1)/(m+p-1) of p stages and m micro-batches), an "
                "interleaved schedule, layers moved from the slowest stage to the others"},
};

// Steps that count of the ranks that are stages of a pipeline.
using StageRows = std::vector<schema::PipelineStepRow>;

Result<StageRows> ReadStages(RunContext& context, const FindingFacts& facts) {
  TUTTI_ASSIGN_OR_RETURN(auto rows, context.Read<schema::PipelineStepRow>("ORDER BY step, rank"));
  const std::map<int64_t, size_t> places = facts.counted.Places();
  std::erase_if(rows, [&](const auto& row) { return !places.contains(row.step); });
  return rows;
}

// Mean compute of each stage per step.
std::map<int64_t, int64_t> ComputeOfStages(const StageRows& rows) {
  std::map<int64_t, std::pair<int64_t, int64_t>> sums;
  for (const schema::PipelineStepRow& row : rows) {
    sums[row.stage].first += row.compute_ns;
    ++sums[row.stage].second;
  }
  std::map<int64_t, int64_t> means;
  for (const auto& [stage, sum] : sums) means[stage] = sum.first / sum.second;
  return means;
}

struct SlowestStage {
  int64_t stage = 0;
  int64_t compute_ns = 0;
  int64_t others_ns = 0;  // median of the other stages
};

SlowestStage SlowestOf(const std::map<int64_t, int64_t>& compute) {
  const auto slowest = std::max_element(compute.begin(), compute.end(),
                                        [](auto& a, auto& b) { return a.second < b.second; });
  std::vector<int64_t> others;
  for (const auto& [stage, ns] : compute) {
    if (stage != slowest->first) others.push_back(ns);
  }
  return {slowest->first, slowest->second, MedianOf(std::move(others)).value_or(0)};
}

std::string AdviceFor(const std::vector<schema::PipelineStepRow>& rows, int64_t slowest,
                      int64_t slowest_ns, int64_t others_ns) {
  std::vector<int64_t> counts;
  for (const schema::PipelineStepRow& row : rows) counts.push_back(row.microbatches);
  const int64_t stages = rows.front().stages;
  const int64_t microbatches = std::max<int64_t>(MedianOf(std::move(counts)).value_or(1), 1);
  const auto bubble = [&](int64_t m) {
    return Percent(static_cast<double>(stages - 1) / static_cast<double>(m + stages - 1));
  };
  std::string advice = "micro-batches " + std::to_string(microbatches) + " -> " +
                       std::to_string(2 * microbatches) + ": the bubble of " +
                       std::to_string(stages) + " like stages goes from " + bubble(microbatches) +
                       " to " + bubble(2 * microbatches);
  if (slowest_ns * 10 > others_ns * 11) {
    advice = "move layers away from stage " + std::to_string(slowest) + ", which computes " +
             Duration(slowest_ns) + " a step, the median stage " + Duration(others_ns) + "; " +
             advice;
  }
  return advice + "; or an interleaved schedule";
}

// One step of a pipeline as the slowest stage sees it.
struct StepOfStage {
  std::vector<int64_t> others;      // what the other stages' ranks compute
  schema::PipelineStepRow longest;  // of its own ranks, one in each replica: who computes longest

  double Cost() const {
    const auto own = static_cast<double>(longest.compute_ns);
    const auto usual = static_cast<double>(MedianOf(others).value_or(longest.compute_ns));
    if (own <= usual || longest.step_ns <= 0) return 0;
    const double fill = static_cast<double>(longest.stages - 1) /
                        static_cast<double>(std::max<int64_t>(longest.microbatches, 1));
    const double paced = (own + fill * usual) / static_cast<double>(longest.step_ns);
    return (own - usual) * std::min(paced, 1.0);
  }
};

std::vector<double> CostOfStage(const FindingFacts& facts, const StageRows& rows, int64_t stage) {
  const std::map<int64_t, size_t> places = facts.counted.Places();
  std::vector<StepOfStage> steps(places.size());
  for (const schema::PipelineStepRow& row : rows) {
    StepOfStage& step = steps[places.at(row.step)];
    if (row.stage != stage) step.others.push_back(row.compute_ns);
    if (row.stage == stage && row.compute_ns > step.longest.compute_ns) step.longest = row;
  }
  std::vector<double> costs;
  for (const StepOfStage& step : steps) costs.push_back(step.Cost());
  return costs;
}

void FindImbalance(const FindingFacts& facts, const StageRows& rows, const SlowestStage& slowest,
                   std::vector<FindingDraft>& drafts) {
  if (static_cast<double>(slowest.compute_ns) <
      kLeastImbalance * static_cast<double>(slowest.others_ns)) {
    return;
  }
  const std::vector<double> per_step = CostOfStage(facts, rows, slowest.stage);
  const CostOfSteps cost = CostOver(facts, per_step);
  if (!IsWorthwhile(facts, cost)) return;
  FindingDraft draft = DraftOf(kKinds[0], facts, cost);
  draft.ranks.clear();
  for (const schema::PipelineStepRow& row : rows) {
    if (row.stage == slowest.stage) draft.ranks.push_back(row.rank);
  }
  std::sort(draft.ranks.begin(), draft.ranks.end());
  draft.ranks.erase(std::unique(draft.ranks.begin(), draft.ranks.end()), draft.ranks.end());
  draft.row.title = "stage " + std::to_string(slowest.stage) + " of " +
                    std::to_string(rows.front().stages) + " (" + RankList(draft.ranks) +
                    ") computes " + Duration(slowest.compute_ns) +
                    " a step, the median other stage " + Duration(slowest.others_ns);
  draft.row.cause = "compute";
  draft.row.advice = kKinds[0].advice;
  const auto value = [&](const schema::StepBreakdownRow& parts) {
    const bool is_in = std::binary_search(draft.ranks.begin(), draft.ranks.end(), parts.rank);
    return is_in ? parts.compute_ns : 0;
  };
  AddStepEvidence(facts, per_step, value, "of compute in the slowest stage", draft);
  drafts.push_back(std::move(draft));
}

void FindBubbles(const FindingFacts& facts, const StageRows& rows, const SlowestStage& slowest,
                 std::vector<FindingDraft>& drafts) {
  const std::map<int64_t, size_t> places = facts.counted.Places();
  std::vector<std::vector<int64_t>> bubbles(places.size());
  for (const schema::PipelineStepRow& row : rows) {
    bubbles[places.at(row.step)].push_back(row.bubble_ns);
  }
  std::vector<double> per_step;
  for (std::vector<int64_t>& values : bubbles) {
    per_step.push_back(static_cast<double>(MedianOf(std::move(values)).value_or(0)));
  }
  const CostOfSteps cost = CostOver(facts, per_step);
  if (!IsWorthwhile(facts, cost)) return;
  FindingDraft draft = DraftOf(kKinds[1], facts, cost);
  draft.row.title = "stages of the pipeline stand idle " + Duration(cost.cost_ns) +
                    " per step; stage " + std::to_string(slowest.stage) + " computes longest, " +
                    Duration(slowest.compute_ns);
  draft.row.cause = "pipeline_bubble";
  draft.row.advice = AdviceFor(rows, slowest.stage, slowest.compute_ns, slowest.others_ns);
  draft.row.replayed_ns = facts.SavedBy("no-stragglers");
  AddStepEvidence(
      facts, per_step, [](const schema::StepBreakdownRow& parts) { return parts.idle_ns; }, "idle",
      draft);
  drafts.push_back(std::move(draft));
}

Status FindPipeline(RunContext& context, const FindingFacts& facts,
                    std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(const StageRows rows, ReadStages(context, facts));
  if (rows.empty()) return OkStatus();
  const SlowestStage slowest = SlowestOf(ComputeOfStages(rows));
  FindImbalance(facts, rows, slowest, drafts);
  FindBubbles(facts, rows, slowest, drafts);
  return OkStatus();
}

}  // namespace

extern const FindingRule kPipelineRule;
const FindingRule kPipelineRule{kKinds, FindPipeline};

}  // namespace tutti::analyzer
