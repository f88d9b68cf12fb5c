// Why a GPU's clocks were lowered, as NVML told the collector (counter gpu.throttle_reasons).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/run_context.h"

namespace tutti::analyzer {

// "its clocks were lowered in 83 % of the samples (heat 83 %, power cap 12 %)"; "" if in less than
// 5 % of them, or without samples. |reasons|: NVML's bits, and in how many samples they were seen.
// Idle, clocks set by the user and display are no reasons to worry.
std::string ThrottleText(const std::vector<std::pair<int64_t, int64_t>>& reasons);

// The same of |rank|'s GPUs, from its trace files; "" if they have no such counter.
std::string ThrottleOf(const RunContext& context, int64_t rank);

}  // namespace tutti::analyzer
