// Catalogue 35: stages of a pipeline have nothing to do, because it is not full or because one
// stage takes longer than the others.
//
// Bound per step: step minus what the slowest stage computes. A pipeline of p stages that is
// fed m micro-batches has a bubble of (p - 1) / (m + p - 1) even if all stages are alike.
#include <algorithm>
#include <array>
#include <map>

#include "analyzer/findings/rule.h"

namespace tutti::analyzer {
namespace {

constexpr std::array kKinds = {
    FindingKind{"pipeline_bubble", "Pipeline stages stand idle (catalogue 35).",
                "mean over steps of the median over ranks of the step's time that is neither "
                "compute, exposed transfer nor copy (pipeline_step.bubble_ns)",
                "as above; ranks that send to and receive from neighbours in a step",
                "more micro-batches (bubble (p-1)/(m+p-1) of p stages and m micro-batches), an "
                "interleaved schedule, layers moved from the slowest stage to the others"},
};

// Mean compute of each stage per step.
std::map<int64_t, int64_t> ComputeOfStages(const std::vector<schema::PipelineStepRow>& rows) {
  std::map<int64_t, std::pair<int64_t, int64_t>> sums;
  for (const schema::PipelineStepRow& row : rows) {
    sums[row.stage].first += row.compute_ns;
    ++sums[row.stage].second;
  }
  std::map<int64_t, int64_t> means;
  for (const auto& [stage, sum] : sums) means[stage] = sum.first / sum.second;
  return means;
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

Status FindBubbles(RunContext& context, const FindingFacts& facts,
                   std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(const auto all,
                         context.Read<schema::PipelineStepRow>("ORDER BY step, rank"));
  const std::map<int64_t, size_t> places = facts.counted.Places();
  std::vector<schema::PipelineStepRow> rows;
  std::vector<std::vector<int64_t>> bubbles(places.size());
  for (const schema::PipelineStepRow& row : all) {
    const auto place = places.find(row.step);
    if (place == places.end()) continue;
    rows.push_back(row);
    bubbles[place->second].push_back(row.bubble_ns);
  }
  if (rows.empty()) return OkStatus();
  std::vector<double> per_step;
  for (std::vector<int64_t>& values : bubbles) {
    per_step.push_back(static_cast<double>(MedianOf(std::move(values)).value_or(0)));
  }
  const CostOfSteps cost = CostOver(facts, per_step);
  if (!IsWorthwhile(facts, cost)) return OkStatus();
  const std::map<int64_t, int64_t> compute = ComputeOfStages(rows);
  const auto slowest = std::max_element(compute.begin(), compute.end(),
                                        [](auto& a, auto& b) { return a.second < b.second; });
  std::vector<int64_t> computes;
  for (const auto& [stage, ns] : compute) computes.push_back(ns);
  FindingDraft draft = DraftOf(kKinds[0], facts, cost);
  draft.row.title = "stages of the pipeline stand idle " + Duration(cost.cost_ns) +
                    " per step; stage " + std::to_string(slowest->first) + " computes longest, " +
                    Duration(slowest->second);
  draft.row.cause = "pipeline_bubble";
  draft.row.advice =
      AdviceFor(rows, slowest->first, slowest->second, MedianOf(std::move(computes)).value_or(0));
  draft.row.replayed_ns = facts.SavedBy("no-stragglers");
  AddStepEvidence(
      facts, per_step, [](const schema::StepBreakdownRow& parts) { return parts.idle_ns; }, "idle",
      draft);
  drafts.push_back(std::move(draft));
  return OkStatus();
}

}  // namespace

extern const FindingRule kPipelineRule;
const FindingRule kPipelineRule{kKinds, FindBubbles};

}  // namespace tutti::analyzer
