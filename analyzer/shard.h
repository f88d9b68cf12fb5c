// A part of an analysis that can be done anywhere: consecutive passes of PassScope::kRank over
// some ranks, given the derived tables as they were before. Used by processes that share an
// analysis (analyzer/mpi).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/pass.h"
#include "analyzer/run_context.h"
#include "common/status.h"
#include "schema/row_pack.h"

namespace tutti::analyzer {

// The rows that passes wrote, as schema::Packer packs them, by (pass, rank): their order is that
// in which one process would have written them.
using ShardRows = std::map<std::pair<size_t, int64_t>, std::string>;
void AddShardRows(schema::Packer& packer, const ShardRows& rows);
Result<ShardRows> TakeShardRows(schema::Unpacker& bytes);

// Of one rank's trace, by table.
using BadOfRank = std::map<std::string, BadCounts>;
void AddBadOfRank(schema::Packer& packer, const BadOfRank& bad);
Result<BadOfRank> TakeBadOfRank(schema::Unpacker& bytes);

// Where what is done is kept, so that an analysis that was killed goes on from there.
class ShardStore {
 public:
  struct Kept {
    ShardRows rows;  // of one rank
    BadOfRank bad;   // what was left out of its trace
  };
  virtual ~ShardStore() = default;
  virtual std::optional<Kept> Load(int64_t rank) = 0;
  virtual Status Save(int64_t rank, const Kept& kept) = 0;
};

// Ranks for each of `processes`: the largest files first, each to whoever has least. The same
// for the same files, in every process.
std::vector<std::vector<int64_t>> DealRanks(std::span<const schema::RankRow> ranks,
                                            const RunFiles& files, size_t processes);

// The derived tables as a process needs them that runs a shard over `ranks`, for
// schema::LoadImage: without rows of other ranks.
Result<std::string> ShardImage(schema::Database& derived, std::span<const int64_t> ranks);

// Runs `passes`, the first of which is number `first`, rank by rank, so that one trace is in
// memory at a time (and as many as PassOptions::trace_bytes allows). `context` is as before
// afterwards, except for traces that it keeps. `store` may be null.
Result<ShardRows> RunShard(std::span<const Pass> passes, size_t first,
                           std::span<const int64_t> ranks, RunContext& context, ShardStore* store);

}  // namespace tutti::analyzer
