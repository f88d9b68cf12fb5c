// What a machine's noise allows: from launches that are all of one version (an A/A campaign), how
// much launches differ by themselves, which effects how many pairs would find, and how often a
// comparison raises a false alarm.
// Pure functions, deterministic; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/compare/comparison.h"
#include "analyzer/compare/distributions.h"
#include "common/status.h"

namespace tutti::analyzer::compare {

// Noise of a gate, as a share of its base value (or of the step).
struct GateNoise {
  const Metric* metric = nullptr;
  double launch_sd = 0;   // of launches, whatever they drifted in the meantime
  double pair_sd = 0;     // of the difference of two launches next to each other
  Bounds pair_sd_bounds;  // 95 %
};

// What finding an effect takes, of all gates together.
struct EffectPlan {
  double min_effect = 0;                // tau
  std::optional<size_t> pairs;          // by the noise that was seen
  std::optional<size_t> careful_pairs;  // by its upper bound, exceeded in one calibration of five
};

// Verdicts on what did not change.
struct AlarmCount {
  double min_effect = 0;
  size_t pairs = 0;  // of a comparison
  int64_t comparisons = 0;
  int64_t regressions = 0;   // all of them false
  int64_t improvements = 0;  // as many, if nothing is biased
  int64_t cleared = 0;       // no regression; the rest is inconclusive
};

struct CalibrationOptions {
  CompareOptions compare;  // its min_effect is the one that is wanted
  size_t pairs = 6;        // of a comparison as it is run now
  size_t most_pairs = 12;  // that the proposal may take
  int64_t resamples = 10'000;
};

struct Calibration {
  Comparison all;  // one half of each pair against the other
  std::vector<GateNoise> noise;
  std::vector<EffectPlan> plans;       // by rising min_effect
  std::optional<EffectPlan> proposal;  // the smallest effect that most_pairs find, carefully
  // Comparisons that share no launch: independent, so that bounds of the rate mean something.
  AlarmCount separate;
  // Random pairs with random labels of the same launches: many, but not independent.
  AlarmCount resampled;
  std::optional<AlarmCount> resampled_proposal;  // the same with the proposal's effect and pairs
  std::optional<double> control_sd;              // of the difference within a pair, in logarithms
};

// base[k] and fresh[k] are a pair of launches of one version. kUsage: fewer than four pairs, or
// what Compare says.
Result<Calibration> Calibrate(std::vector<Launch> base, std::vector<Launch> fresh,
                              const CalibrationOptions& options);

std::string RenderCalibrationText(const Calibration& calibration);
std::string RenderCalibrationJson(const Calibration& calibration);  // tutti.calibration/1

}  // namespace tutti::analyzer::compare
