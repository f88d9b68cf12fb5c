// What an allocator's memory was held by at one moment: the blocks that were allocated and not yet
// released, each with the call that asked for it and what it is likely to be for.
//
// What a block is for is told by a memory snapshot, else taken from where it was allocated: in the
// backward, by the optimizer, while input was loaded, in the rest of a step, or before the first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/status.h"
#include "viewer/model/rank_trace.h"
#include "viewer/model/run_summary.h"

namespace tutti::viewer {

struct HeldBlock {
  int64_t row_id = 0;  // of memory_event, or of memory_block if it is older than the history
  int64_t bytes = 0;
  std::optional<int64_t> allocated_ns;  // aligned; nullopt before the trace
  std::optional<int64_t> released_ns;   // nullopt: not in the trace
  std::string use;                      // "backward", "parameter", …
  std::string by;                       // the outermost operator, or the innermost frame
};

struct HeldMemory {
  int64_t allocated_bytes = 0;  // as the allocator says
  std::optional<int64_t> reserved_bytes;
  // Most first; they add up to allocated_bytes, as far as that was told.
  std::vector<std::pair<std::string, int64_t>> by_use;
  std::vector<HeldBlock> blocks;  // largest first
};

// Of the allocator of device `device` (-1: the host's) of the rank in place `slot`, whose events
// are `trace`, at a time on the rank's aligned clock. Reads the rank's file: any thread, not each
// frame.
Result<HeldMemory> MemoryAt(const RunSummary& summary, size_t slot, const RankTrace& trace,
                            const NameTable& names, int64_t device, int64_t time_ns);

}  // namespace tutti::viewer
