// Catalogue 16: batches change their size from step to step, and steps take as long as the
// largest need.
//
// Bound per step: mean period less the median period of the steps of usual size (within 5 % of
// the median size).
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analyzer/findings/rule.h"
#include "analyzer/metrics/straggler.h"

namespace tutti::analyzer {
namespace {

constexpr double kUsual = 0.05;
constexpr double kOther = 0.1;
constexpr double kLeastShareOfOthers = 0.1;
constexpr double kLeastCorrelation = 0.5;
constexpr size_t kFewest = 3;

constexpr std::array kKinds = {
    FindingKind{
        "shape_churn",
        "Batches change their size from step to step, on all ranks alike, and the larger "
        "ones make steps longer (catalogue 16).",
        "mean over steps of step_period_ns less the median of those whose size is within "
        "5 % of the median size",
        "as above; a tenth of the steps differ from the median size by a tenth or more, and "
        "their length goes with it (correlation 0.5 or more)",
        "batches of one size: pad to a few lengths, sort by length (length buckets), fill "
        "up by tokens instead of samples; drop_last=True"},
};

struct SizedStep {
  size_t place = 0;  // in facts.counted.steps
  double size = 0;   // over all ranks
  double period_ns = 0;
};

Result<std::vector<SizedStep>> ReadSizes(RunContext& context, const FindingFacts& facts) {
  TUTTI_ASSIGN_OR_RETURN(const auto batches, context.Read<schema::StepBatchRow>(""));
  std::map<int64_t, double> size_of;
  for (const schema::StepBatchRow& row : batches) {
    size_of[row.step] += static_cast<double>(row.tokens.value_or(row.samples.value_or(0)));
  }
  std::vector<SizedStep> steps;
  for (size_t i = 0; i < facts.counted.steps.size(); ++i) {
    const schema::RunStepRow& step = facts.counted.steps[i];
    const auto size = size_of.find(step.step);
    if (size == size_of.end() || size->second <= 0 || !step.step_period_ns) continue;
    steps.push_back({i, size->second, static_cast<double>(*step.step_period_ns)});
  }
  return steps;
}

double MedianSize(const std::vector<SizedStep>& steps) {
  std::vector<int64_t> sizes;
  for (const SizedStep& step : steps) sizes.push_back(std::llround(step.size));
  return static_cast<double>(MedianOf(std::move(sizes)).value_or(0));
}

double Correlation(const std::vector<SizedStep>& steps) {
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (const SizedStep& step : steps) {
    n += 1;
    x += step.size;
    y += step.period_ns;
    xx += step.size * step.size;
    yy += step.period_ns * step.period_ns;
    xy += step.size * step.period_ns;
  }
  const double vx = xx - x * x / n;
  const double vy = yy - y * y / n;
  return vx <= 0 || vy <= 0 ? 0 : (xy - x * y / n) / std::sqrt(vx * vy);
}

Status FindChurn(RunContext& context, const FindingFacts& facts,
                 std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(const std::vector<SizedStep> steps, ReadSizes(context, facts));
  const double usual = MedianSize(steps);
  if (usual <= 0) return OkStatus();
  std::vector<int64_t> usual_periods;
  double others = 0;
  for (const SizedStep& step : steps) {
    const double distance = std::abs(step.size / usual - 1);
    if (distance <= kUsual) usual_periods.push_back(std::llround(step.period_ns));
    if (distance >= kOther) others += 1;
  }
  const double share = others / static_cast<double>(steps.size());
  if (usual_periods.size() < kFewest || share < kLeastShareOfOthers) return OkStatus();
  if (Correlation(steps) < kLeastCorrelation) return OkStatus();
  // What the sizes explain is no noise: that is how much steps of one size scatter.
  const std::vector<double> alike(usual_periods.begin(), usual_periods.end());
  const auto usual_ns = static_cast<double>(*MedianOf(std::move(usual_periods)));
  std::vector<double> per_step(facts.counted.steps.size(), 0);
  for (const SizedStep& step : steps) per_step[step.place] = step.period_ns - usual_ns;
  CostOfSteps cost = CostOver(facts, per_step);
  cost.noise_ns = std::llround(NoiseOfMean(alike).value_or(0));
  if (!IsWorthwhile(facts, cost)) return OkStatus();
  FindingDraft draft = DraftOf(kKinds[0], facts, cost);
  draft.row.title = Percent(share) + " of the steps have batches of another size, and steps take " +
                    Duration(cost.cost_ns) + " longer on average than those of usual size (" +
                    Duration(std::llround(usual_ns)) + ")";
  draft.row.cause = "shape_churn";
  draft.row.advice = kKinds[0].advice;
  AddStepEvidence(
      facts, per_step, [](const schema::StepBreakdownRow& parts) { return parts.step_ns; },
      "long, with a larger batch", draft);
  drafts.push_back(std::move(draft));
  return OkStatus();
}

}  // namespace

extern const FindingRule kShapeChurnRule;
const FindingRule kShapeChurnRule{kKinds, FindChurn};

}  // namespace tutti::analyzer
