// Processes that share an analysis. One of them leads: it runs the passes that need the whole
// run, and has the others run those that work rank by rank.
#pragma once

#include <optional>
#include <span>

#include "analyzer/pass.h"
#include "analyzer/shard.h"
#include "common/status.h"

namespace tutti::analyzer {

class Team {
 public:
  virtual ~Team() = default;
  // Called by the leader: the rows of `passes`, the first of which is number `first`, over every
  // rank in use. On failure `failed_file` may tell whose trace could not be read.
  virtual Result<ShardRows> Run(std::span<const Pass> passes, size_t first, RunContext& context,
                                std::optional<size_t>& failed_file) = 0;
};

}  // namespace tutti::analyzer
