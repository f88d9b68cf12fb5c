// What the tracer keeps per thread: a small block of thread-local storage, and behind it,
// while the thread owns a ring, the private state of that ring.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/wire/segment.h"
#include "common/wire/wire.h"
#include "tracer/core/string_cache.h"

namespace tutti::tracer {

// Events dropped and not yet told by a LossRecord.
struct PendingLoss {
  uint64_t count;
  uint64_t first_ticks;
  uint64_t last_ticks;
};

inline constexpr uint32_t kMaxSpanDepth = 1024;  // deeper spans are dropped and counted

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
  StringCache strings;
  wire::OpenSpan deep_spans[kMaxSpanDepth - wire::kOpenSpanDepth];

  std::byte* CellAt(uint64_t position) const noexcept {
    return cells + (position & (capacity_cells - 1)) * wire::kCellBytes;
  }
  std::byte* NextCell() const noexcept { return CellAt(head); }

  // Whether a record of one cell can be written at once: there is room, as far as is known, and
  // no loss to be told first.
  bool CanWriteCell() const noexcept {
    return pending_mask == 0 && head - tail_seen < capacity_cells;
  }
  void PublishCell() noexcept { ring->head.store(++head, std::memory_order_release); }

  // Where the record of a span that begins will be written: fetched meanwhile, its end need not
  // wait for the line, which the collector's core may hold. As a prefetch for writing it would
  // cost more here.
  // (Always inlined: GCC drops calls of functions that only fetch.)
  [[gnu::always_inline]] void FetchNextCell() const noexcept { __builtin_prefetch(NextCell()); }

  void StoreOpenDepth(uint32_t value) noexcept {
    depth = value;
    ring->open_depth.store(value, std::memory_order_release);
  }
};

// Trivial and small: the library may be loaded by dlopen, where room for the fast kind of
// thread-local storage is scarce. A forked child inherits a copy, which |epoch| invalidates.
struct ThreadSlot {
  ThreadState* state;        // nullptr: owns no ring
  uint32_t ready_epoch;      // = epoch while it owns a ring and is not inside an Entry, else 0
  uint32_t epoch;            // Gate::epoch that the rest belongs to
  uint32_t claim_countdown;  // events until a thread without a ring looks for one again
  PendingLoss no_ring;
  bool busy;  // inside an Entry without a ring
};

struct Thread {
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local ThreadSlot slot{};
};

}  // namespace tutti::tracer
