// Launches of an imaginary job: step times drawn from models of the noise that real machines
// show. For tests only: they count verdicts over thousands of comparisons, and never time.
#pragma once

#include <cmath>
#include <string_view>
#include <vector>

#include "analyzer/compare/random.h"

namespace tutti::analyzer::compare::testing {

struct NoiseModel {
  std::string_view name;
  double launch_sd = 0.006;   // of the launch's own level
  double step_sd = 0.02;      // of its steps
  double correlation = 0.6;   // of a step with the next (AR(1))
  double spike_share = 0.01;  // steps that take 30 to 100 % longer
  double t_dof = 0;           // launch levels of Student's t instead of normal ones; 0 normal
  double session_drift = 0;   // the machine's level wanders by this sd from pair to pair
  int warmup_steps = 10;      // of which the first takes half as long again
  int steps = 200;
};

inline constexpr NoiseModel kNoiseModels[] = {
    {.name = "base"},
    {.name = "quiet", .launch_sd = 0.002, .step_sd = 0.005, .correlation = 0, .spike_share = 0},
    {.name = "heavy_tails", .spike_share = 0.03, .t_dof = 4},
    {.name = "drifting", .correlation = 0.9, .session_drift = 0.008},
    {.name = "busy", .launch_sd = 0.03, .step_sd = 0.1, .spike_share = 0.05},
};

inline double LaunchNoise(const NoiseModel& model, Random& random) {
  if (model.t_dof == 0) return model.launch_sd * random.Normal();
  double chi_square = 0;
  for (int i = 0; i < static_cast<int>(model.t_dof); ++i) {
    const double z = random.Normal();
    chi_square += z * z;
  }
  const double to_unit_sd = std::sqrt((model.t_dof - 2) / model.t_dof);
  return model.launch_sd * to_unit_sd * random.Normal() / std::sqrt(chi_square / model.t_dof);
}

// Step periods of one launch of a 100 ms step whose true level is exp(`shift`) times that.
inline std::vector<int64_t> DrawLaunch(const NoiseModel& model, double shift, Random& random) {
  const double level = shift + LaunchNoise(model, random);
  const double innovation = std::sqrt(1 - model.correlation * model.correlation);
  std::vector<int64_t> period_ns;
  period_ns.reserve(static_cast<size_t>(model.steps));
  double noise = random.Normal();
  for (int step = 0; step < model.steps; ++step) {
    double log_time = level + model.step_sd * noise;
    if (step < model.warmup_steps) log_time += 0.4 * std::exp(-0.4 * step);
    double time_ns = 1e8 * std::exp(log_time);
    if (random.Uniform() < model.spike_share) time_ns *= 1.3 + 0.7 * random.Uniform();
    period_ns.push_back(static_cast<int64_t>(time_ns));
    noise = model.correlation * noise + innovation * random.Normal();
  }
  return period_ns;
}

}  // namespace tutti::analyzer::compare::testing
