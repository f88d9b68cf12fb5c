#include "analyzer/metrics/straggler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/metrics/percentile.h"

namespace tutti::analyzer {
namespace {

constexpr size_t kFewestBatches = 5;
constexpr size_t kMostBatches = 10;

// By how many standard errors the mean of so many batches is off as seldom (0.27 %) as that of a
// normal distribution by three: Student's t, from kFewestBatches on. Of ten batches more than
// three standard errors are off in 1.5 % of all runs.
constexpr double kStudent[] = {6.620, 5.507, 4.904, 4.530, 4.277, 4.094};

double Mean(std::span<const double> series) {
  return std::accumulate(series.begin(), series.end(), 0.0) / static_cast<double>(series.size());
}

// The values of all ranks but one in one step.
std::vector<int64_t> OthersAt(const RankSeries& series, size_t own, size_t step) {
  std::vector<int64_t> others;
  for (size_t rank = 0; rank < series.size(); ++rank) {
    if (rank != own) others.push_back(series[rank][step]);
  }
  return others;
}

// Per step: own cost minus the median cost of the other ranks.
std::vector<double> NetSeries(const RankSeries& cost, size_t own) {
  std::vector<double> net;
  for (size_t step = 0; step < cost[own].size(); ++step) {
    std::vector<int64_t> others = OthersAt(cost, own, step);
    net.push_back(static_cast<double>(cost[own][step] - LowerNearestRank(others, 500)));
  }
  return net;
}

}  // namespace

RankSeries MedianWaits(std::span<const ExposedWaitFor> waits, size_t steps, size_t ranks) {
  std::vector<std::vector<int64_t>> others(steps * ranks);  // by (step, late rank), zeros left out
  for (const ExposedWaitFor& wait : waits) {
    if (wait.rank != wait.late_rank) {
      others[wait.step * ranks + wait.late_rank].push_back(wait.wait_ns);
    }
  }
  RankSeries medians(ranks, std::vector<int64_t>(steps, 0));
  for (size_t step = 0; step < steps; ++step) {
    for (size_t late = 0; late < ranks; ++late) {
      std::vector<int64_t>& values = others[step * ranks + late];
      if (values.empty()) continue;
      values.resize(ranks - 1, 0);
      medians[late][step] = LowerNearestRank(values, 500);
    }
  }
  return medians;
}

std::vector<int64_t> LatenessOf(std::span<const int64_t> times_ns) {
  std::vector<int64_t> late(times_ns.size(), 0);
  for (size_t own = 0; own < times_ns.size() && times_ns.size() > 1; ++own) {
    std::vector<int64_t> others(times_ns.begin(), times_ns.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(own));
    late[own] = times_ns[own] - LowerNearestRank(others, 500);
  }
  return late;
}

int64_t CostOfLateness(int64_t others_wait_ns, int64_t late_ns, int64_t others_exposed_ns) {
  return std::max(others_wait_ns, std::min(late_ns, others_exposed_ns));
}

std::optional<double> NoiseOfMean(std::span<const double> series) {
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
  return kStudent[batches - kFewestBatches] * std::sqrt(squares / (n - 1) / n);
}

std::vector<RankDelay> RankDelays(const RankSeries& cost) {
  std::vector<RankDelay> delays(cost.size());
  if (cost.size() < 2 || cost.front().empty()) return delays;
  for (size_t rank = 0; rank < cost.size(); ++rank) {
    const std::vector<double> own(cost[rank].begin(), cost[rank].end());
    const std::vector<double> net = NetSeries(cost, rank);
    delays[rank].cost_ns = std::llround(Mean(own));
    delays[rank].net_cost_ns = std::llround(Mean(net));
    // Of so few steps that the noise is not known, all of it may be noise.
    delays[rank].noise_ns = std::llround(NoiseOfMean(net).value_or(std::abs(Mean(net))));
  }
  return delays;
}

}  // namespace tutti::analyzer
