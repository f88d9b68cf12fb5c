#include "analyzer/metrics/memory_holders.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace tutti::analyzer {

std::vector<MemoryHolder> HoldersAfter(std::span<const BlockChange> changes,
                                       std::span<const BlockChange> before) {
  std::unordered_map<int64_t, const BlockChange*> live;
  for (const BlockChange& block : before) live[block.address] = &block;
  for (const BlockChange& change : changes) {
    if (change.bytes > 0) {
      live[change.address] = &change;
    } else {
      live.erase(change.address);
    }
  }
  std::unordered_map<int64_t, MemoryHolder> by_stack;
  for (const auto& [address, block] : live) {
    MemoryHolder& holder = by_stack[block->stack];
    holder.stack = block->stack;
    holder.bytes += block->bytes;
    ++holder.blocks;
  }
  std::vector<MemoryHolder> holders;
  for (const auto& [stack, holder] : by_stack) holders.push_back(holder);
  std::sort(holders.begin(), holders.end(), [](const MemoryHolder& a, const MemoryHolder& b) {
    return std::tuple(-a.bytes, a.stack) < std::tuple(-b.bytes, b.stack);
  });
  return holders;
}

AllocatorState StateOf(std::span<const SegmentPart> parts) {
  std::map<int64_t, bool> in_use;  // by segment
  for (const SegmentPart& part : parts) {
    bool& is_used = in_use[part.segment];
    is_used = is_used || !part.is_inactive;
  }
  AllocatorState state;
  state.segments = static_cast<int64_t>(in_use.size());
  for (const SegmentPart& part : parts) {
    state.reserved_bytes += part.bytes;
    if (part.is_allocated) {
      state.allocated_bytes += part.bytes;
    } else if (!part.is_inactive) {
      state.pending_bytes += part.bytes;
    } else {
      state.largest_free_bytes = std::max(state.largest_free_bytes, part.bytes);
      if (in_use[part.segment]) {
        state.inactive_split_bytes += part.bytes;
        ++state.inactive_split_blocks;
      } else {
        state.free_segment_bytes += part.bytes;
      }
    }
  }
  return state;
}

}  // namespace tutti::analyzer
