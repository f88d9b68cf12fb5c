// Which imported trace is which rank. Two files may claim one rank, and a file may not say:
// none is lost and none overwrites another; whose rank is not what its file says carries a
// notice. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::collector::importers {

struct RankClaim {
  std::optional<int64_t> rank = {};    // as the file tells; below 0 or above 2^24 is no rank
  std::optional<int64_t> device = {};  // GPU used, taken for the rank where none is told
  std::string file_name = {};          // the last component
};

struct RankAnswer {
  int64_t rank = 0;
  bool is_assumed = false;                   // no rank was told
  std::optional<size_t> conflict_with = {};  // index of the claim that has the rank it claims
};

// The rank that the name of a file tells: "rank7.json", "rank-0.Apr_03.pt.trace.json.gz",
// "nccl_trace_rank_3", "trace_rank_2.json", "worker3.pt.trace.json"; absent where it does not.
std::optional<int64_t> RankFromFileName(std::string_view name);

// One answer a claim, with distinct ranks. Of several claims of one rank, that whose file
// name agrees wins, of several such the shortest name (copies get longer ones), else the first. The
// others, then those without a rank, get their device's number or the lowest that is free.
std::vector<RankAnswer> AssignRanks(const std::vector<RankClaim>& claims);

}  // namespace tutti::collector::importers
