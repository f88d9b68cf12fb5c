#include "analyzer/metrics/straggler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/metrics/percentile.h"

namespace tutti::analyzer {
namespace {

constexpr size_t kFewestBatches = 5;
constexpr size_t kMostBatches = 10;

// cost[late_rank][step]: median over the other ranks of their wait for it.
std::vector<std::vector<double>> CostPerStep(std::span<const ExposedWaitFor> waits, size_t steps,
                                             size_t ranks) {
  std::vector<std::vector<int64_t>> others(steps * ranks);  // by (step, late rank), zeros left out
  for (const ExposedWaitFor& wait : waits) {
    if (wait.rank != wait.late_rank) {
      others[wait.step * ranks + wait.late_rank].push_back(wait.wait_ns);
    }
  }
  std::vector<std::vector<double>> cost(ranks, std::vector<double>(steps, 0.0));
  for (size_t step = 0; step < steps; ++step) {
    for (size_t late = 0; late < ranks; ++late) {
      std::vector<int64_t>& values = others[step * ranks + late];
      if (values.empty()) continue;
      values.resize(ranks - 1, 0);
      cost[late][step] = static_cast<double>(LowerNearestRank(values, 500));
    }
  }
  return cost;
}

double Mean(std::span<const double> series) {
  return std::accumulate(series.begin(), series.end(), 0.0) / static_cast<double>(series.size());
}

// Per step: own cost minus the median cost of the other ranks.
std::vector<double> NetSeries(const std::vector<std::vector<double>>& cost, size_t own) {
  std::vector<double> net(cost[own].size());
  std::vector<double> others;
  for (size_t step = 0; step < net.size(); ++step) {
    others.clear();
    for (size_t rank = 0; rank < cost.size(); ++rank) {
      if (rank != own) others.push_back(cost[rank][step]);
    }
    net[step] = cost[own][step] - LowerNearestRank(others, 500);
  }
  return net;
}

}  // namespace

std::optional<double> ThreeStandardErrors(std::span<const double> series) {
  if (series.size() < kFewestBatches) return std::nullopt;
  const size_t batches = std::min(kMostBatches, series.size());
  std::vector<double> means;
  for (size_t i = 0; i < batches; ++i) {
    const size_t begin = series.size() * i / batches;
    const size_t end = series.size() * (i + 1) / batches;
    means.push_back(Mean(series.subspan(begin, end - begin)));
  }
  const double mean = Mean(means);
  double squares = 0;
  for (const double m : means) squares += (m - mean) * (m - mean);
  const auto n = static_cast<double>(batches);
  return 3 * std::sqrt(squares / (n - 1) / n);
}

std::vector<RankDelay> RankDelays(std::span<const ExposedWaitFor> waits, size_t steps,
                                  size_t ranks) {
  std::vector<RankDelay> delays(ranks);
  if (ranks < 2 || steps == 0) return delays;
  for (const ExposedWaitFor& wait : waits) {
    delays[wait.rank].own_wait_ns += wait.wait_ns;
    if (wait.rank != wait.late_rank) delays[wait.late_rank].caused_wait_ns += wait.wait_ns;
  }
  const std::vector<std::vector<double>> cost = CostPerStep(waits, steps, ranks);
  for (size_t rank = 0; rank < ranks; ++rank) {
    const std::vector<double> net = NetSeries(cost, rank);
    delays[rank].cost_ns = std::llround(Mean(cost[rank]));
    delays[rank].net_cost_ns = std::llround(Mean(net));
    delays[rank].noise_ns = std::llround(ThreeStandardErrors(net).value_or(0));
  }
  return delays;
}

}  // namespace tutti::analyzer
