// Who holds an allocator's memory at its peak, and how much of what it reserved is unused.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti::analyzer {

// An allocation (bytes > 0) or release (< 0) of the block at `address`.
struct BlockChange {
  int64_t address = 0;
  int64_t bytes = 0;
  int64_t stack = 0;  // 0: not told
};

struct MemoryHolder {
  int64_t stack = 0;
  int64_t bytes = 0;
  int64_t blocks = 0;
};

// Live blocks after `changes`, by stack, most bytes first. `before`: blocks that were live
// all along, of which the changes say nothing. O(changes).
std::vector<MemoryHolder> HoldersAfter(std::span<const BlockChange> changes,
                                       std::span<const BlockChange> before);

// A part of a segment that the caching allocator has from the driver.
struct SegmentPart {
  int64_t segment = 0;
  int64_t bytes = 0;
  bool is_allocated = false;  // the program holds it
  bool is_inactive = false;   // nobody does; else a stream still uses it
};

struct AllocatorState {
  int64_t segments = 0;
  int64_t reserved_bytes = 0;
  int64_t allocated_bytes = 0;
  int64_t pending_bytes = 0;         // freed, a stream still uses them
  int64_t free_segment_bytes = 0;    // segments that nothing lives in: they could be returned
  int64_t inactive_split_bytes = 0;  // unused parts of segments in use: fragmentation
  int64_t inactive_split_blocks = 0;
  int64_t largest_free_bytes = 0;  // largest block that is unused
};
AllocatorState StateOf(std::span<const SegmentPart> parts);

}  // namespace tutti::analyzer
