#include "analyzer/metrics/percentile.h"

#include <algorithm>
#include <cassert>

namespace tutti::analyzer {
namespace {

template <typename Value>
Value Select(std::span<Value> values, int permille) {
  assert(!values.empty() && permille >= 0 && permille <= 1000);
  const size_t index = (values.size() - 1) * static_cast<size_t>(permille) / 1000;
  const auto selected = values.begin() + static_cast<std::ptrdiff_t>(index);
  std::nth_element(values.begin(), selected, values.end());
  return *selected;
}

}  // namespace

int64_t LowerNearestRank(std::span<int64_t> values, int permille) {
  return Select(values, permille);
}

double LowerNearestRank(std::span<double> values, int permille) { return Select(values, permille); }

std::optional<int64_t> MedianOf(std::vector<int64_t> values) {
  if (values.empty()) return std::nullopt;
  return Select<int64_t>(values, 500);
}

}  // namespace tutti::analyzer
