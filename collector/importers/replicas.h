// Replicas of a model that are jobs of their own and count their ranks from 0 each, as
// data-parallel engines of vLLM do: which rank of all that is follows from the replica's number
// in the file's name ("dp1_pp0_tp0_rank0.1700000000000.pt.trace.json.gz").
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "collector/importers/captures.h"

namespace tutti::collector::importers {

// The number behind "dp" in a file's name: "a_dp3_tp0.json" -> 3.
std::optional<int64_t> ReplicaOf(std::string_view path);

struct Replicas {
  int64_t count = 0;                      // 0: the ranks are those of one job
  int64_t ranks_each = 0;                 // of a replica
  std::vector<int64_t> first_ranks = {};  // of each claim's replica; its rank is added
};

// Whether the claims are of replicas: all have a rank and a replica's number, ranks come several
// times, and never twice in one replica.
Replicas FindReplicas(const std::vector<CaptureClaim>& claims);

}  // namespace tutti::collector::importers
