// What launches are compared by: each metric is one number per launch, on a scale on which
// effects are tested. docs/compare.md defines them.
// Pure functions; callable from any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/compare/launch.h"

namespace tutti::analyzer::compare {

enum class Scale {
  kRatio,      // logarithms are compared: effects are shares of the base value
  kStepShare,  // differences in ns are compared: effects are shares of the base step time
  kShare,      // the value is a share already: differences of shares
};
enum class Unit { kNs, kBytes, kPerSecond, kShare };

struct Metric {
  std::string_view name;   // stable: options, JSON, metrics files
  std::string_view title;  // in words, for people
  Scale scale;
  Unit unit;
  bool higher_is_worse;
  // The value of each step that counts (from the warmup-th on); null where a launch has only
  // one value. Empty where the launch doesn't have it.
  std::vector<double> (*step_values)(const Launch& launch, size_t warmup);
  // The launch's value; null: the trimmed mean of step_values.
  std::optional<double> (*launch_value)(const Launch& launch, size_t warmup);
};

std::span<const Metric> Metrics();
const Metric* FindMetric(std::string_view name);  // null if there is none

// In the metric's unit; nothing where the launch doesn't have it.
std::optional<double> LaunchValue(const Metric& metric, const Launch& launch, size_t warmup);

// Periods of the steps from the warmup-th on that are known.
std::vector<int64_t> PeriodsOf(const Launch& launch, size_t warmup);

// Share of communication that compute hides: sum of |C and K| over sum of |C|; nothing
// without communication. Reported, never tested: faster communication can lower it.
std::optional<double> OverlapOf(const Launch& launch, size_t warmup);

}  // namespace tutti::analyzer::compare
