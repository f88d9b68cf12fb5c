// Percentiles as every report of Tutti gives them: the lower nearest rank, an
// observed value and never an interpolated one. Of n values in order, percentile p
// is the value at 0-based index floor(p * (n - 1)); the median of an even number is
// the lower of the two in the middle.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti::analyzer {

// `permille` is 0 to 1000 (500 the median, 990 p99). Reorders `values`; requires at
// least one. O(n) on average.
int64_t LowerNearestRank(std::span<int64_t> values, int permille);
double LowerNearestRank(std::span<double> values, int permille);

// The median of a copy; nothing of nothing.
std::optional<int64_t> MedianOf(std::vector<int64_t> values);

}  // namespace tutti::analyzer
