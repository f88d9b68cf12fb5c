// One launch in one number. Steps of a launch are correlated and share what the launch met
// (placement, clocks, neighbours), so that tests count launches; steps only sharpen the
// launch's own value.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <span>

namespace tutti::analyzer::compare {

// Mean without the lowest and the highest floor(fraction * n) values. Requires at least one
// value and 0 <= fraction < 0.5. Reorders `values`. O(n).
double TrimmedMean(std::span<double> values, double fraction);

inline constexpr double kTrim = 0.2;

// Of a copy, with kTrim.
double TrimmedMeanOf(std::span<const double> values);

// What a launch's steps say about its step time, warm-up left out.
struct StepLevel {
  double trimmed_ns = 0;  // trimmed mean: what verdicts are of
  double mean_ns = 0;     // with every stall
  double p99_ns = 0;      // lower nearest rank
  double tail_share = 0;  // sum of (T - 1.5 * median) where positive, over the sum of T:
                          // hangs, stalls and checkpoints live here
  size_t steps = 0;
};

// Requires at least one period, all > 0.
StepLevel StepLevelOf(std::span<const int64_t> period_ns);

}  // namespace tutti::analyzer::compare
