// What the tracer keeps per thread: a small block of thread-local storage, and behind it,
// while the thread owns a ring, the private state of that ring.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/wire/segment.h"
#include "common/wire/wire.h"

namespace tutti::tracer {

// Events dropped and not yet told by a LossRecord.
struct PendingLoss {
  uint64_t count;
  uint64_t first_ticks;
  uint64_t last_ticks;
};

inline constexpr uint32_t kMaxSpanDepth = 1024;  // deeper spans are dropped and counted
inline constexpr uint32_t kStringCacheEntries = 512;

// A name that this ring's threads interned before, found by its address or by its bytes. The
// bytes are compared at each use: callers may free a name and reuse its storage.
struct CachedString {
  const char* address;  // nullptr: found by its bytes
  const char* stored;   // in the segment's arena
  uint32_t length;
  uint32_t index;
};

// Private state of one ring, used only by the thread that owns it. All of them are mapped
// once, zeroed, when the process becomes a rank; the pages of unclaimed rings are never
// touched. The string cache outlives the owner: it is verified by content anyway.
struct alignas(64) ThreadState {
  wire::RingHeader* ring;
  std::byte* cells;
  uint64_t head;       // = ring->head, which only the owner writes
  uint64_t tail_seen;  // ring->tail when it was last read
  uint32_t capacity_cells;
  uint32_t depth;         // open spans, those beyond kMaxSpanDepth included
  uint32_t pending_mask;  // bit per LossReason with a pending count
  uint32_t tid;
  uint64_t start_ticks;
  uint32_t generation;
  uint32_t size_class;

  PendingLoss pending[wire::kLossReasonCount];
  wire::OpenSpan ended;  // a span taken from the middle of the stack
  CachedString strings[kStringCacheEntries];
  wire::OpenSpan deep_spans[kMaxSpanDepth - wire::kOpenSpanDepth];
};

// Trivial and small: the library may be loaded by dlopen, where room for the fast kind of
// thread-local storage is scarce. A forked child inherits a copy, which |epoch| invalidates.
struct ThreadSlot {
  ThreadState* state;        // nullptr: owns no ring
  uint32_t epoch;            // Gate::epoch that the rest belongs to
  uint32_t claim_countdown;  // events until a thread without a ring looks for one again
  PendingLoss no_ring;
  bool busy;  // inside an Entry
};

struct Thread {
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local ThreadSlot slot{};
};

}  // namespace tutti::tracer
