// Catalogue 34: ranks get batches of different size, and compute for different times.
//
// Bound per step: longest compute of any rank minus the mean over ranks.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analyzer/findings/rule.h"

namespace tutti::analyzer {
namespace {

constexpr double kLeastSpread = 0.05;
constexpr double kLeastCorrelation = 0.7;

constexpr std::array kKinds = {
    FindingKind{"data_imbalance",
                "Batches of the ranks differ in tokens or samples, and so does their compute "
                "(catalogue 34).",
                "mean over steps of the longest compute_ns of any rank less the mean over ranks",
                "as above; sizes differ by 5 % of their mean or more (the mean deviation), and "
                "compute goes with them (correlation 0.7 or more)",
                "batches by tokens instead of samples, length buckets, DistributedSampler with "
                "drop_last; larger batches for faster ranks where the ranks are uneven"},
};

struct Sums {
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0, spread = 0;

  void Add(double size, double compute) {
    n += 1;
    x += size;
    y += compute;
    xx += size * size;
    yy += compute * compute;
    xy += size * compute;
    spread += std::abs(size);
  }
  double Correlation() const {
    const double vx = xx - x * x / n;
    const double vy = yy - y * y / n;
    return vx <= 0 || vy <= 0 ? 0 : (xy - x * y / n) / std::sqrt(vx * vy);
  }
};

// Ranks whose batches are larger than the mean by half of the spread; all if they are so in turn.
std::vector<int64_t> RanksWithMore(const FindingFacts& facts,
                                   const std::map<int64_t, std::pair<double, double>>& deviations,
                                   double spread) {
  std::vector<int64_t> more;
  std::vector<int64_t> all;
  for (const schema::RankRow& rank : facts.ranks) {
    all.push_back(rank.rank);
    const auto found = deviations.find(rank.rank);
    if (found == deviations.end()) continue;
    const auto& [sum, count] = found->second;
    if (sum / count >= spread / 2) more.push_back(rank.rank);
  }
  return more.empty() ? all : more;
}

Status FindImbalance(RunContext& context, const FindingFacts& facts,
                     std::vector<FindingDraft>& drafts) {
  if (facts.ranks.size() < 2) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const auto batches, context.Read<schema::StepBatchRow>(""));
  std::map<std::pair<int64_t, int64_t>, int64_t> size_of;  // by (step, rank)
  for (const schema::StepBatchRow& row : batches) {
    const std::optional<int64_t> size = row.tokens ? row.tokens : row.samples;
    if (size) size_of[{row.step, row.rank}] = *size;
  }
  std::map<int64_t, std::pair<double, double>> deviations;  // by rank: sum of the relative, count
  Sums sums;  // of deviations from the step's mean, relative
  std::vector<double> per_step;
  for (const StepParts& step : facts.breakdown) {
    double size = 0, compute = 0, longest = 0, count = 0;
    for (const auto& parts : step) {
      if (!parts || !size_of.contains({parts->step, parts->rank})) continue;
      size += static_cast<double>(size_of.at({parts->step, parts->rank}));
      compute += static_cast<double>(parts->compute_ns);
      longest = std::max(longest, static_cast<double>(parts->compute_ns));
      count += 1;
    }
    per_step.push_back(count == 0 ? 0 : longest - compute / count);
    for (const auto& parts : step) {
      if (!parts || size <= 0 || compute <= 0) continue;
      const auto own = size_of.find({parts->step, parts->rank});
      if (own == size_of.end()) continue;
      const double deviation = static_cast<double>(own->second) * count / size - 1;
      deviations[parts->rank].first += deviation;
      deviations[parts->rank].second += 1;
      sums.Add(deviation, static_cast<double>(parts->compute_ns) * count / compute - 1);
    }
  }
  if (sums.n == 0 || sums.spread / sums.n < kLeastSpread) return OkStatus();
  if (sums.Correlation() < kLeastCorrelation) return OkStatus();
  const CostOfSteps cost = CostOver(facts, per_step);
  const std::optional<int64_t> replayed_ns = facts.SavedBy("no-stragglers");
  if (!IsWorthwhile(facts, cost, replayed_ns)) return OkStatus();
  FindingDraft draft = DraftOf(kKinds[0], facts, cost);
  draft.row.title = "batches of the ranks differ by " + Percent(sums.spread / sums.n) +
                    " of their mean, and the rank with most computes " + Duration(cost.cost_ns) +
                    " per step longer than the mean";
  draft.ranks = RanksWithMore(facts, deviations, sums.spread / sums.n);
  draft.row.cause = "compute";
  draft.row.advice = kKinds[0].advice;
  draft.row.replayed_ns = replayed_ns;
  AddStepEvidence(
      facts, per_step, [](const schema::StepBreakdownRow& parts) { return parts.compute_ns; },
      "of compute", draft);
  drafts.push_back(std::move(draft));
  return OkStatus();
}

}  // namespace

extern const FindingRule kDataImbalanceRule;
const FindingRule kDataImbalanceRule{kKinds, FindImbalance};

}  // namespace tutti::analyzer
