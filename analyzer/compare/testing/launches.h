// Launches written down in a few words. For tests only.
#pragma once

#include <string>
#include <vector>

#include "analyzer/compare/launch.h"
#include "analyzer/compare/random.h"

namespace tutti::analyzer::compare::testing {

inline constexpr int64_t kMs = 1'000'000;

// What a mean step of each of two ranks is made of, in ms; the rest of the step is idle.
struct StepOf {
  double step_ms = 100;
  double transfer_ms = 10;
  double wait_ms = 2;
  double input_ms = 1;
  double noise_ms = 0.5;  // sd of the step, taken from its compute
};

inline StepRecord DrawStep(const StepOf& parts, int64_t index, Random& random) {
  const auto ns = [](double ms) { return static_cast<int64_t>(ms * 1e6); };
  StepRecord step;
  step.step = index;
  step.ranks = 2;
  const int64_t period_ns = ns(parts.step_ms + parts.noise_ms * random.Normal());
  step.length_ns = period_ns;
  if (index > 0) step.period_ns = period_ns;
  step.part_ns[kTransferPart] = 2 * ns(parts.transfer_ms);
  step.part_ns[kWaitPart] = 2 * ns(parts.wait_ms);
  step.part_ns[5] = 2 * ns(parts.input_ms);
  step.longest_input_wait_ns = ns(parts.input_ms);
  step.own_spread_ns = ns(parts.wait_ms);
  step.comm_ns = step.part_ns[kTransferPart] + step.part_ns[kWaitPart] + 2 * ns(20);
  step.samples = 64;
  // All that is left is compute; one nanosecond a rank lies between the steps.
  step.part_ns[0] = 2 * period_ns - 2;
  for (size_t part = 1; part < kBreakdownParts; ++part) step.part_ns[0] -= step.part_ns[part];
  step.between_ns = 2;
  return step;
}

inline Launch MakeLaunch(const std::string& name, const StepOf& parts, uint64_t seed,
                         int steps = 60) {
  Random random(seed);
  Launch launch;
  launch.name = name;
  launch.facts = {.workload = "ddp_mlp",
                  .ranks = 2,
                  .ranks_expected = 2,
                  .device_kind = "cpu",
                  .torch_version = "2.11.0",
                  .hosts = "node1",
                  .hardware = "EPYC"};
  for (int i = 0; i < steps; ++i) launch.steps.push_back(DrawStep(parts, i, random));
  launch.begin_ns = static_cast<int64_t>(seed) * 1'000 * kMs;
  launch.end_ns = *launch.begin_ns + 900 * kMs;
  launch.memory_peak_bytes = 512 << 20;
  launch.names[{"operator", "aten::mm"}] = {10, parts.step_ms * 0.5e6};
  return launch;
}

// `count` launches in the order A B B A: seeds are times. The arm `is_new` has the second place
// of even pairs.
inline std::vector<Launch> MakeArm(const std::string& name, const StepOf& parts, int count,
                                   bool is_new) {
  std::vector<Launch> launches;
  for (int pair = 0; pair < count; ++pair) {
    const bool second = (pair % 2 == 0) == is_new;
    launches.push_back(MakeLaunch(name + std::to_string(pair), parts,
                                  static_cast<uint64_t>(2 * pair + (second ? 2 : 1))));
  }
  return launches;
}

}  // namespace tutti::analyzer::compare::testing
