// Where a run's steady state begins: warm-up steps (allocation, autotuning, bucket
// rebuilds, cold caches) are told from the rest by MSER on the logarithm of the step
// period, so that medians and totals are of what the run settles to.
//
// Source: White, "An effective truncation heuristic for bias reduction in simulation
// output" (MSER, 1997), on batch medians of 5: with batches Y_0 … Y_{m-1} the cut is
//   w* = argmin over w <= m/2 of  sum_{j >= w} (Y_j - mean_w)^2 / (m - w)^2
// the smallest such w on a tie.
// Pure functions; callable from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tutti::analyzer {

struct SteadyState {
  size_t warmup_steps = 0;  // leading steps to leave out
  bool at_limit = false;    // the cut is the last one allowed: it may not be steady yet
  bool has_trend = false;   // the rest still drifts: |Spearman's rho| with p < 0.01
};

// `period_ns` in order of time, all > 0. The first of three or more steps is always
// warm-up: a batch median hides it. From 20 steps on MSER decides; of fewer, only the
// first is left out.
SteadyState FindSteadyState(std::span<const int64_t> period_ns);

// The MSER cut of a series, in elements. O(n).
size_t MserCut(std::span<const double> series);

// Two-sided p-value of Spearman's rank correlation of a series with its index (normal
// approximation of rho * sqrt(n - 1); ties get the mean rank). 1 for fewer than 10.
double TrendPValue(std::span<const double> series);

}  // namespace tutti::analyzer
