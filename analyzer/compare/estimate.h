// By how much two groups of launches differ, and how sure that is. Values are one number per
// launch on a scale on which differences mean the same everywhere (log time, share of a step).
// Pure functions, deterministic; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tutti::analyzer::compare {

enum class Design {
  kPaired,        // launches in pairs next to each other in time: t of the differences
  kUnpaired,      // Welch's t
  kOneAgainst,    // one launch against several: t with the prediction error of the several
  kWithinLaunch,  // one against one: noise of steps only, blind to noise between launches
};
std::string_view DesignName(Design design);  // "paired", "unpaired", …

struct Estimate {
  Design design = Design::kPaired;
  size_t base_launches = 0;
  size_t new_launches = 0;
  double delta = 0;   // new - base
  double se = 0;      // its standard error
  double dof = 0;     // of the t distribution; 0 within a launch
  double low = 0;     // 95 % confidence interval of delta
  double high = 0;    // the same
  double p_up = 1;    // one-sided: chance of a delta this high if nothing changed
  double p_down = 1;  // one-sided: of a delta this low
  // The same by permutation, without assuming a distribution. With few launches it can't be
  // small: at least 2^-K for K pairs.
  std::optional<double> permutation_p_up;
  std::optional<double> permutation_p_down;
};

// Differences new - base of K >= 2 pairs.
Estimate PairedEstimate(std::span<const double> differences, bool permute = true);

// Groups of at least two each.
Estimate UnpairedEstimate(std::span<const double> base, std::span<const double> fresh,
                          bool permute = true);

// One of the groups has one value, the other n >= 2: t = (x - m) / (s sqrt(1 + 1/n)).
Estimate OneAgainstEstimate(std::span<const double> base, std::span<const double> fresh,
                            bool permute = true);

// The right one of the three by size; nothing for one against one or an empty group.
// Paired values are pairs by index. `permute`: with the permutation tests, which cost up to a
// million additions.
std::optional<Estimate> EstimateDifference(std::span<const double> base,
                                           std::span<const double> fresh, bool paired,
                                           bool permute = true);

// Steps of one launch against those of another, warm-up left out: difference of trimmed means
// (`in_logs`: of their logarithms), by a stationary block bootstrap (Politis & Romano, 1994)
// whose mean block is at least twice the integrated autocorrelation time. Requires two values
// each, all > 0 if `in_logs`.
Estimate WithinLaunchEstimate(std::span<const double> base, std::span<const double> fresh,
                              bool in_logs, uint64_t seed);

// 1 + 2 * sum of autocorrelations up to the first window M >= 5 * tau(M) (Sokal); at least 1.
double AutocorrelationTime(std::span<const double> series);

}  // namespace tutti::analyzer::compare
