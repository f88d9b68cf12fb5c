// Files of mere step times, for jobs that log them and have no trace:
//
//   {"unit": "ms", "steps": [100.2, 99.8, …]}                       one launch
//   {"unit": "ms", "NAME": {"before": […], "after": […]}, …}        pairs of launches
//
// Units: ns, us, ms, s. A pair may tell the "timer_resolution_ms" of its times; else it is taken
// from the digits that they are written with. Callable from any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/compare/launch.h"
#include "common/status.h"

namespace tutti::analyzer::compare {

struct StepTimePair {
  std::string name;
  Launch before;
  Launch after;
};

// Exactly one of both is filled.
struct StepTimes {
  std::optional<Launch> launch;
  std::vector<StepTimePair> pairs;
};

// Nothing if the file is not of this kind (a trace, a folder, no JSON); kBadData if it is but
// holds what is no time.
Result<std::optional<StepTimes>> ReadStepTimes(const std::string& path);

}  // namespace tutti::analyzer::compare
