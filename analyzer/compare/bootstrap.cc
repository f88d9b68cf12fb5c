// One launch against one: what estimate.h says of WithinLaunchEstimate.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "analyzer/compare/estimate.h"
#include "analyzer/compare/level.h"
#include "analyzer/compare/random.h"

namespace tutti::analyzer::compare {
namespace {

constexpr int kResamples = 4'000;

// A resampled series: blocks of geometric length from random places, wrapping around.
class BlockSampler {
 public:
  explicit BlockSampler(std::span<const double> series) : series_(series) {
    const double block =
        std::max(2 * AutocorrelationTime(series), std::cbrt(static_cast<double>(series.size())));
    new_block_ = 1 / block;
  }

  double SampledMean(Random& random) {
    sample_.resize(series_.size());
    size_t place = 0;
    for (size_t i = 0; i < sample_.size(); ++i) {
      const bool begins = i == 0 || random.Uniform() < new_block_;
      place = begins ? random.Below(series_.size()) : (place + 1) % series_.size();
      sample_[i] = series_[place];
    }
    return TrimmedMean(sample_, kTrim);
  }

 private:
  std::span<const double> series_;
  double new_block_ = 1;  // probability that a block ends
  std::vector<double> sample_;
};

double Difference(double base, double fresh, bool in_logs) {
  return in_logs ? std::log(fresh / base) : fresh - base;
}

}  // namespace

double AutocorrelationTime(std::span<const double> series) {
  const auto n = static_cast<double>(series.size());
  const double mean = std::accumulate(series.begin(), series.end(), 0.0) / n;
  const auto covariance = [&](size_t lag) {
    double sum = 0;
    for (size_t i = lag; i < series.size(); ++i) {
      sum += (series[i] - mean) * (series[i - lag] - mean);
    }
    return sum / n;
  };
  const double variance = covariance(0);
  if (!(variance > 0)) return 1;
  double tau = 1;
  for (size_t lag = 1; lag < series.size() / 2; ++lag) {
    tau += 2 * covariance(lag) / variance;
    if (static_cast<double>(lag) >= 5 * tau) break;
  }
  return std::max(tau, 1.0);
}

Estimate WithinLaunchEstimate(std::span<const double> base, std::span<const double> fresh,
                              bool in_logs, uint64_t seed) {
  Estimate estimate;
  estimate.design = Design::kWithinLaunch;
  estimate.base_launches = estimate.new_launches = 1;
  estimate.delta = Difference(TrimmedMeanOf(base), TrimmedMeanOf(fresh), in_logs);
  BlockSampler base_sampler(base);
  BlockSampler fresh_sampler(fresh);
  Random random(seed);
  std::vector<double> errors(kResamples);
  for (double& error : errors) {
    const double old = base_sampler.SampledMean(random);
    error = Difference(old, fresh_sampler.SampledMean(random), in_logs) - estimate.delta;
  }
  std::ranges::sort(errors);
  double squares = 0;
  int64_t up = 0;
  int64_t down = 0;
  for (const double error : errors) {
    squares += error * error;
    up += error >= estimate.delta ? 1 : 0;
    down += error <= estimate.delta ? 1 : 0;
  }
  estimate.se = std::sqrt(squares / kResamples);
  estimate.low = estimate.delta - errors[kResamples * 975 / 1000];
  estimate.high = estimate.delta - errors[kResamples * 25 / 1000];
  estimate.p_up = static_cast<double>(up + 1) / (kResamples + 1);
  estimate.p_down = static_cast<double>(down + 1) / (kResamples + 1);
  return estimate;
}

}  // namespace tutti::analyzer::compare
