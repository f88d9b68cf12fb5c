// Catalogue 16: batches change their size from step to step, and steps take as long as the
// largest need.
//
// Bound per step: what the length of a step grows by with the batch (Theil and Sen's slope, which
// a few long steps don't change), times by how much batches are larger than the median one.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/findings/rule.h"
#include "analyzer/metrics/line_fit.h"

namespace tutti::analyzer {
namespace {

constexpr double kOther = 0.1;
constexpr double kLeastShareOfOthers = 0.1;
// Standard deviation by median distance from the middle, of a normal distribution.
constexpr double kDeviationOfMedian = 1.4826;
constexpr size_t kFewest = 10;  // steps: the slope of few points has no error to speak of

constexpr std::array kKinds = {
    FindingKind{
        "shape_churn",
        "Batches change their size from step to step, on all ranks alike, and the larger "
        "ones make steps longer (catalogue 16).",
        "what step_period_ns grows by with a sample or token (median slope over pairs of "
        "steps), times the mean over steps of their size less the median size",
        "as above, noise being that of the slope; a tenth of the steps differ from the median "
        "size by a tenth or more",
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

// What the sizes explain of the length of steps: the slope, which a few long steps don't change.
class GrowthWithSize {
 public:
  static std::optional<GrowthWithSize> Of(const std::vector<SizedStep>& steps) {
    std::vector<Point> points;
    for (const SizedStep& step : steps) points.push_back({step.size, step.period_ns});
    const std::optional<Line> line = MedianLine(points);
    if (!line) return std::nullopt;
    return GrowthWithSize(std::move(points), *line);
  }

  double ns_per_sample() const { return line_.slope; }

  // Three standard errors of the slope. How much steps scatter is taken from the median one, which
  // a few long steps don't change either.
  double Noise() const {
    double mean = 0;
    for (const Point& point : points_) mean += point.x / static_cast<double>(points_.size());
    double spread = 0;
    std::vector<int64_t> left;
    for (const Point& point : points_) {
      spread += (point.x - mean) * (point.x - mean);
      left.push_back(std::llround(std::abs(point.y - line_.intercept - line_.slope * point.x)));
    }
    const auto usual_left = static_cast<double>(MedianOf(std::move(left)).value_or(0));
    return 3 * kDeviationOfMedian * usual_left / std::sqrt(spread);
  }

 private:
  GrowthWithSize(std::vector<Point> points, Line line) : points_(std::move(points)), line_(line) {}

  std::vector<Point> points_;
  Line line_;
};

double ShareOfOthers(const std::vector<SizedStep>& steps, double usual) {
  const auto others = std::count_if(steps.begin(), steps.end(), [&](const SizedStep& step) {
    return std::abs(step.size / usual - 1) >= kOther;
  });
  return static_cast<double>(others) / static_cast<double>(steps.size());
}

Status FindChurn(RunContext& context, const FindingFacts& facts,
                 std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(const std::vector<SizedStep> steps, ReadSizes(context, facts));
  const double usual = MedianSize(steps);
  if (usual <= 0 || steps.size() < kFewest) return OkStatus();
  const double share = ShareOfOthers(steps, usual);
  const std::optional<GrowthWithSize> growth = GrowthWithSize::Of(steps);
  if (share < kLeastShareOfOthers || !growth) return OkStatus();
  std::vector<double> per_step(facts.counted.steps.size(), 0);
  double larger = 0;  // than the usual batch, on average
  for (const SizedStep& step : steps) {
    per_step[step.place] = growth->ns_per_sample() * (step.size - usual);
    larger += (step.size - usual) / static_cast<double>(steps.size());
  }
  CostOfSteps cost = CostOver(facts, per_step);
  cost.noise_ns = std::llround(growth->Noise() * std::abs(larger));
  if (!IsWorthwhile(facts, cost)) return OkStatus();
  FindingDraft draft = DraftOf(kKinds[0], facts, cost);
  draft.row.title = Percent(share) + " of the steps have batches of another size, and steps take " +
                    Duration(cost.cost_ns) +
                    " longer on average than they would with batches of the median size";
  draft.row.cause = "shape_churn";
  const auto largest = std::max_element(
      steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.size < b.size; });
  draft.row.advice = std::string(kKinds[0].advice) + " (usual are " +
                     std::to_string(std::llround(usual)) + " over all ranks, most are " +
                     std::to_string(std::llround(largest->size)) + ")";
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
