// Permutation tests: how often chance alone makes a difference as large, without assuming a
// distribution. All arrangements where they are few, else a fixed number of random ones.
// Pure functions, deterministic; callable from any thread.
#pragma once

#include <span>

namespace tutti::analyzer::compare {

struct PermutationP {
  double up = 1;    // share of arrangements with a sum or difference at least as high
  double down = 1;  // the same, at least as low
};

// Signs of paired differences are flipped. Exact up to 16 pairs.
PermutationP SignFlips(std::span<const double> differences);

// Labels of two groups are exchanged; the statistic is the difference of means. Exact up to
// 50,000 arrangements.
PermutationP LabelPermutations(std::span<const double> base, std::span<const double> fresh);

}  // namespace tutti::analyzer::compare
