// Which ranks to look at first: the one that the others wait for, one as usual, the fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "viewer/model/run_summary.h"

namespace tutti::viewer {

struct Stragglers {
  size_t slowest = 0;  // slots
  size_t median = 0;
  size_t fastest = 0;
};

// By the median of a step without what the rank waits for others in it, over the steps that count
// (all if none does). nullopt: fewer than two ranks have steps.
std::optional<Stragglers> FindStragglers(const RunSummary& summary);

}  // namespace tutti::viewer
