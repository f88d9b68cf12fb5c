#include "analyzer/history/change_points.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/compare/distributions.h"

namespace tutti::analyzer::history {
namespace {

double MeanOf(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double SquaresAround(std::span<const double> values, double mean) {
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

// Sums of |x - y| within both sides of a split and between them.
struct Distances {
  double left = 0;
  double right = 0;
  double across = 0;

  double Statistic(size_t left_count, size_t right_count) const {
    const auto n = static_cast<double>(left_count);
    const auto m = static_cast<double>(right_count);
    const double energy =
        2 * across / (n * m) - 2 * left / (n * (n - 1)) - 2 * right / (m * (m - 1));
    return n * m / (n + m) * energy;
  }
};

// The split with the largest statistic; nothing if there is no room for two segments.
std::optional<size_t> BestSplit(std::span<const double> values, size_t min_segment) {
  const size_t n = values.size();
  if (n < 2 * min_segment) return {};
  Distances sums;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) sums.right += std::abs(values[i] - values[j]);
  }
  size_t best = 0;
  double highest = 0;
  for (size_t split = 1; split < n; ++split) {
    // values[split - 1] moves from the right to the left.
    double to_left = 0;
    double to_right = 0;
    for (size_t i = 0; i + 1 < split; ++i) to_left += std::abs(values[i] - values[split - 1]);
    for (size_t i = split; i < n; ++i) to_right += std::abs(values[i] - values[split - 1]);
    sums.left += to_left;
    sums.right -= to_right;
    sums.across += to_right - to_left;
    if (split < min_segment || n - split < min_segment) continue;
    const double statistic = sums.Statistic(split, n - split);
    if (best != 0 && statistic <= highest) continue;
    best = split;
    highest = statistic;
  }
  return best;
}

bool IsChange(std::span<const double> before, std::span<const double> after,
              const ChangeRule& rule) {
  return std::abs(MeanOf(after) - MeanOf(before)) >= rule.min_effect &&
         StudentP(before, after) < rule.alpha;
}

// Where two levels fit best (least squares), however short a side is. Requires two values.
size_t LeastSquaresSplit(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double total = std::accumulate(values.begin(), values.end(), 0.0);
  double left = 0;
  double highest = -1;
  size_t best = 1;
  for (size_t split = 1; split < values.size(); ++split) {
    left += values[split - 1];
    const auto k = static_cast<double>(split);
    const double apart = left / k - (total - left) / (n - k);
    const double between = k * (n - k) / n * apart * apart;
    if (between <= highest) continue;
    highest = between;
    best = split;
  }
  return best;
}

// Adds the splits of values[begin, end) that are changes.
void Split(std::span<const double> values, size_t begin, size_t end, const ChangeRule& rule,
           std::vector<size_t>& splits) {
  const auto segment = values.subspan(begin, end - begin);
  const auto split = BestSplit(segment, std::max<size_t>(rule.min_segment, 2));
  if (!split || !IsChange(segment.first(*split), segment.subspan(*split), rule)) return;
  // What differs may be a spike at an end, which the shortest allowed side only contains: then
  // the rest is looked at without it.
  const size_t free = LeastSquaresSplit(segment);
  if (free < rule.min_segment) return Split(values, begin + free, end, rule, splits);
  if (segment.size() - free < rule.min_segment) {
    return Split(values, begin, begin + free, rule, splits);
  }
  Split(values, begin, begin + *split, rule, splits);
  splits.push_back(begin + *split);
  Split(values, begin + *split, end, rule, splits);
}

// A split between segments that are no longer different once their neighbours are cut off.
void DropWeakest(std::span<const double> values, const ChangeRule& rule,
                 std::vector<size_t>& splits) {
  for (;;) {
    std::optional<size_t> weakest;
    double highest = 0;
    for (size_t i = 0; i < splits.size(); ++i) {
      const size_t begin = i == 0 ? 0 : splits[i - 1];
      const size_t end = i + 1 == splits.size() ? values.size() : splits[i + 1];
      const auto before = values.subspan(begin, splits[i] - begin);
      const auto after = values.subspan(splits[i], end - splits[i]);
      const double p = StudentP(before, after);
      if (IsChange(before, after, rule) || (weakest && p <= highest)) continue;
      weakest = i;
      highest = p;
    }
    if (!weakest) return;
    splits.erase(splits.begin() + static_cast<std::ptrdiff_t>(*weakest));
  }
}

// The newest one or two launches, where they lie beyond what those before them allow: as many as
// are surest to.
std::optional<ChangePoint> PendingChange(std::span<const double> values, size_t begin,
                                         const ChangeRule& rule) {
  std::optional<ChangePoint> surest;
  for (size_t later = 1; later < rule.min_segment; ++later) {
    if (values.size() < begin + rule.enough_before + later) break;
    const size_t index = values.size() - later;
    const auto before = values.subspan(begin, index - begin);
    const auto after = values.subspan(index);
    const double p = StudentP(before, after);
    if (!IsChange(before, after, rule) || (surest && p >= surest->p)) continue;
    surest = ChangePoint{index, MeanOf(before), MeanOf(after), p, true};
  }
  return surest;
}

}  // namespace

double EnergyStatistic(std::span<const double> values, size_t split) {
  Distances sums;
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const double distance = std::abs(values[i] - values[j]);
      (i < split ? sums.left : j >= split ? sums.right : sums.across) += distance;
    }
  }
  return sums.Statistic(split, values.size() - split);
}

double StudentP(std::span<const double> before, std::span<const double> after) {
  const double from = MeanOf(before);
  const double to = MeanOf(after);
  const auto n = static_cast<double>(before.size());
  const auto m = static_cast<double>(after.size());
  const double dof = n + m - 2;
  const double variance = (SquaresAround(before, from) + SquaresAround(after, to)) / dof;
  if (variance <= 0) return from == to ? 1 : 0;
  const double t = std::abs(to - from) / std::sqrt(variance * (1 / n + 1 / m));
  return std::min(1.0, 2 * compare::StudentTUpper(t, dof));
}

std::vector<ChangePoint> FindChangePoints(std::span<const double> values, const ChangeRule& rule) {
  std::vector<size_t> splits;
  Split(values, 0, values.size(), rule, splits);
  DropWeakest(values, rule, splits);
  std::vector<ChangePoint> changes;
  for (size_t i = 0; i < splits.size(); ++i) {
    const size_t begin = i == 0 ? 0 : splits[i - 1];
    const size_t end = i + 1 == splits.size() ? values.size() : splits[i + 1];
    const auto before = values.subspan(begin, splits[i] - begin);
    const auto after = values.subspan(splits[i], end - splits[i]);
    changes.push_back(
        {splits[i], MeanOf(before), MeanOf(after), StudentP(before, after), /*pending=*/false});
  }
  const size_t last = splits.empty() ? 0 : splits.back();
  if (const auto pending = PendingChange(values, last, rule)) changes.push_back(*pending);
  return changes;
}

}  // namespace tutti::analyzer::history
