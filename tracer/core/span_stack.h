// The stack of open spans of one thread: the outermost in the segment, where the collector
// sees them, deeper ones in the process. Private to the core; the owner's thread only.
#pragma once

#include <atomic>
#include <cstdint>

#include "tracer/core/thread_state.h"

namespace tutti::tracer {

// Span |index| from the outermost; |index| < StoredSpans().
inline wire::OpenSpan& SpanAt(ThreadState& thread, uint32_t index) noexcept {
  return index < wire::kOpenSpanDepth ? thread.ring->open_spans[index]
                                      : thread.deep_spans[index - wire::kOpenSpanDepth];
}

// Spans of which the begin is kept; ThreadState::depth counts those that are too deep as well.
inline uint32_t StoredSpans(const ThreadState& thread) noexcept {
  return thread.depth < kMaxSpanDepth ? thread.depth : kMaxSpanDepth;
}

inline void StoreDepth(ThreadState& thread, uint32_t depth) noexcept {
  thread.depth = depth;
  thread.ring->open_depth.store(depth, std::memory_order_release);
}

}  // namespace tutti::tracer
