#include "analyzer/metrics/steady.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace tutti::analyzer {
namespace {

constexpr size_t kBatch = 5;
constexpr size_t kFewestForMser = 20;
constexpr double kTrendPValue = 0.01;

std::vector<double> LogBatchMedians(std::span<const int64_t> period_ns) {
  std::vector<double> medians;
  for (size_t begin = 0; begin + kBatch <= period_ns.size(); begin += kBatch) {
    int64_t batch[kBatch];
    std::copy_n(period_ns.begin() + static_cast<std::ptrdiff_t>(begin), kBatch, batch);
    std::nth_element(batch, batch + kBatch / 2, batch + kBatch);
    medians.push_back(std::log(static_cast<double>(std::max<int64_t>(batch[kBatch / 2], 1))));
  }
  return medians;
}

std::vector<double> RanksOf(std::span<const double> series) {
  std::vector<size_t> order(series.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return series[a] < series[b]; });
  std::vector<double> ranks(series.size());
  for (size_t i = 0; i < order.size();) {
    size_t end = i;
    while (end < order.size() && series[order[end]] == series[order[i]]) ++end;
    for (size_t k = i; k < end; ++k) ranks[order[k]] = static_cast<double>(i + end - 1) / 2;
    i = end;
  }
  return ranks;
}

}  // namespace

size_t MserCut(std::span<const double> series) {
  // From the end towards the begin, Welford's mean and squared deviations of the rest.
  size_t best = 0;
  double best_score = std::numeric_limits<double>::infinity();
  double mean = 0;
  double squares = 0;
  for (size_t w = series.size(); w-- > 0;) {
    const auto count = static_cast<double>(series.size() - w);
    const double delta = series[w] - mean;
    mean += delta / count;
    squares += delta * (series[w] - mean);
    if (w > series.size() / 2) continue;
    const double score = squares / (count * count);
    if (score <= best_score) {
      best_score = score;
      best = w;
    }
  }
  return best;
}

double TrendPValue(std::span<const double> series) {
  if (series.size() < 10) return 1;
  const std::vector<double> ranks = RanksOf(series);
  const auto n = static_cast<double>(series.size());
  const double mean = (n - 1) / 2;
  double covariance = 0;
  double rank_variance = 0;
  double index_variance = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const double x = static_cast<double>(i) - mean;
    const double y = ranks[i] - mean;
    covariance += x * y;
    index_variance += x * x;
    rank_variance += y * y;
  }
  if (rank_variance == 0) return 1;
  const double rho = covariance / std::sqrt(index_variance * rank_variance);
  return std::erfc(std::abs(rho) * std::sqrt(n - 1) / std::sqrt(2.0));
}

SteadyState FindSteadyState(std::span<const int64_t> period_ns) {
  SteadyState state;
  if (period_ns.size() < 3) return state;
  state.warmup_steps = 1;
  if (period_ns.size() < kFewestForMser) return state;
  const std::vector<double> batches = LogBatchMedians(period_ns);
  const size_t cut = MserCut(batches);
  state.warmup_steps = std::max<size_t>(1, cut * kBatch);
  state.at_limit = cut > 0 && cut == batches.size() / 2;
  state.has_trend = TrendPValue(std::span(batches).subspan(cut)) < kTrendPValue;
  return state;
}

}  // namespace tutti::analyzer
