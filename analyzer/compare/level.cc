#include "analyzer/compare/level.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "analyzer/metrics/percentile.h"

namespace tutti::analyzer::compare {

double TrimmedMean(std::span<double> values, double fraction) {
  const auto cut = static_cast<size_t>(fraction * static_cast<double>(values.size()));
  if (cut > 0) {
    const auto at = [&](size_t index) {
      return values.begin() + static_cast<std::ptrdiff_t>(index);
    };
    std::nth_element(values.begin(), at(cut), values.end());
    std::nth_element(at(cut), at(values.size() - cut), values.end());
    values = values.subspan(cut, values.size() - 2 * cut);
  }
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double TrimmedMeanOf(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  return TrimmedMean(copy, kTrim);
}

StepLevel StepLevelOf(std::span<const int64_t> period_ns) {
  std::vector<double> values(period_ns.begin(), period_ns.end());
  StepLevel level;
  level.steps = values.size();
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  level.mean_ns = sum / static_cast<double>(values.size());
  level.p99_ns = LowerNearestRank(std::span(values), 990);
  const double limit_ns = 1.5 * LowerNearestRank(std::span(values), 500);
  double tail_ns = 0;
  for (const double value : values) tail_ns += std::max(value - limit_ns, 0.0);
  level.tail_share = tail_ns / sum;
  level.trimmed_ns = TrimmedMean(values, kTrim);
  return level;
}

}  // namespace tutti::analyzer::compare
