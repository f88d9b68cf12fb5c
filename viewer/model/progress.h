// How far each rank came in each group's collectives: where a job hangs, the rank that is behind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viewer/model/run_summary.h"

namespace tutti::viewer {

// Sequence numbers of the last collective that a rank called, that began, that was done; empty
// if there is none.
struct RankProgress {
  int64_t rank = 0;
  std::optional<int64_t> called;
  std::optional<int64_t> begun;
  std::optional<int64_t> done;
  int64_t behind = 0;           // collectives that another rank has called and this one has not
  int64_t last_collective = 0;  // id of the one called last
};

struct GroupProgress {
  std::string label;
  std::vector<RankProgress> ranks;  // those that are most behind first, then by rank
};

// Groups with a rank behind first. Collectives without a sequence number and transfers between two
// ranks tell nothing.
std::vector<GroupProgress> ProgressOf(const RunSummary& summary);

}  // namespace tutti::viewer
