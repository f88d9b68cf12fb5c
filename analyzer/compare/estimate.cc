#include "analyzer/compare/estimate.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "analyzer/compare/distributions.h"
#include "analyzer/compare/permutation.h"

namespace tutti::analyzer::compare {
namespace {

struct Moments {
  double n = 0;
  double mean = 0;
  double variance = 0;  // of the sample, n - 1 in the denominator; 0 for one value
};

Moments MomentsOf(std::span<const double> values) {
  Moments moments;
  moments.n = static_cast<double>(values.size());
  moments.mean = std::accumulate(values.begin(), values.end(), 0.0) / moments.n;
  double squares = 0;
  for (const double value : values) {
    squares += (value - moments.mean) * (value - moments.mean);
  }
  if (values.size() > 1) moments.variance = squares / (moments.n - 1);
  return moments;
}

// Interval and p-values out of delta, se and dof. What never varies is certain.
void FillT(Estimate& estimate) {
  if (estimate.se <= 0) {
    estimate.low = estimate.high = estimate.delta;
    estimate.p_up = estimate.delta > 0 ? 0 : 1;
    estimate.p_down = estimate.delta < 0 ? 0 : 1;
    return;
  }
  const double half = StudentTQuantile(0.975, estimate.dof) * estimate.se;
  estimate.low = estimate.delta - half;
  estimate.high = estimate.delta + half;
  estimate.p_up = StudentTUpper(estimate.delta / estimate.se, estimate.dof);
  estimate.p_down = StudentTUpper(-estimate.delta / estimate.se, estimate.dof);
}

void FillPermutation(Estimate& estimate, PermutationP p) {
  estimate.permutation_p_up = p.up;
  estimate.permutation_p_down = p.down;
}

}  // namespace

std::string_view DesignName(Design design) {
  switch (design) {
    case Design::kPaired:
      return "paired";
    case Design::kUnpaired:
      return "unpaired";
    case Design::kOneAgainst:
      return "one_against_several";
    case Design::kWithinLaunch:
      return "within_launch_only";
  }
  return "";
}

Estimate PairedEstimate(std::span<const double> differences, bool permute) {
  const Moments moments = MomentsOf(differences);
  Estimate estimate;
  estimate.design = Design::kPaired;
  estimate.base_launches = estimate.new_launches = differences.size();
  estimate.delta = moments.mean;
  estimate.se = std::sqrt(moments.variance / moments.n);
  estimate.dof = moments.n - 1;
  FillT(estimate);
  if (permute) FillPermutation(estimate, SignFlips(differences));
  return estimate;
}

Estimate UnpairedEstimate(std::span<const double> base, std::span<const double> fresh,
                          bool permute) {
  const Moments a = MomentsOf(base);
  const Moments b = MomentsOf(fresh);
  const double share_a = a.variance / a.n;
  const double share_b = b.variance / b.n;
  Estimate estimate;
  estimate.design = Design::kUnpaired;
  estimate.base_launches = base.size();
  estimate.new_launches = fresh.size();
  estimate.delta = b.mean - a.mean;
  estimate.se = std::sqrt(share_a + share_b);
  estimate.dof = a.n + b.n - 2;
  if (estimate.se > 0) {  // Welch & Satterthwaite
    const double sum = share_a + share_b;
    estimate.dof = sum * sum / (share_a * share_a / (a.n - 1) + share_b * share_b / (b.n - 1));
  }
  FillT(estimate);
  if (permute) FillPermutation(estimate, LabelPermutations(base, fresh));
  return estimate;
}

Estimate OneAgainstEstimate(std::span<const double> base, std::span<const double> fresh,
                            bool permute) {
  const Moments a = MomentsOf(base);
  const Moments b = MomentsOf(fresh);
  const Moments& several = a.n > 1 ? a : b;
  Estimate estimate;
  estimate.design = Design::kOneAgainst;
  estimate.base_launches = base.size();
  estimate.new_launches = fresh.size();
  estimate.delta = b.mean - a.mean;
  estimate.se = std::sqrt(several.variance * (1 + 1 / several.n));
  estimate.dof = several.n - 1;
  FillT(estimate);
  if (permute) FillPermutation(estimate, LabelPermutations(base, fresh));
  return estimate;
}

std::optional<Estimate> EstimateDifference(std::span<const double> base,
                                           std::span<const double> fresh, bool paired,
                                           bool permute) {
  if (base.empty() || fresh.empty() || base.size() + fresh.size() < 3) return {};
  if (base.size() == 1 || fresh.size() == 1) return OneAgainstEstimate(base, fresh, permute);
  if (!paired || base.size() != fresh.size()) return UnpairedEstimate(base, fresh, permute);
  std::vector<double> differences(base.size());
  for (size_t i = 0; i < base.size(); ++i) differences[i] = fresh[i] - base[i];
  return PairedEstimate(differences, permute);
}

}  // namespace tutti::analyzer::compare
