// The gate: whether this process records, and into what. It lives in a page that the
// kernel zeroes in every child (MADV_WIPEONFORK, also after a raw clone(2)), so a child
// starts as a fresh candidate and can never write into its parent's rings.
// All state here is trivially destructible and never freed: events after main() are safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/wire/segment.h"
#include "common/wire/wire.h"
#include "tracer/core/string_table.h"

namespace tutti::tracer {

struct ThreadState;

enum class SessionState : uint32_t {
  kCandidate = 0,  // zero: what a wiped page reads
  kPromoting = 1,  // one thread talks to the collector
  kActive = 2,     // a rank
  kDisabled = 3,   // not ours to trace, refused, or failed; final
};

// A ring as this process checked it; the segment's own copy is not read again.
struct RingRef {
  wire::RingHeader* header;
  std::byte* cells;
  uint32_t capacity_cells;
  uint32_t size_class;
};

// One page. Everything after |state| is written before |epoch| is stored with release
// order, and read only after it was loaded with acquire order and found not to be 0.
struct Gate {
  std::atomic<uint32_t> epoch;  // 0: records nothing; else differs for each promotion in a lineage
  std::atomic<SessionState> state;
  wire::ClockKind clock_kind;
  uint32_t ring_count;
  wire::SegmentHeader* segment;
  const RingRef* rings;  // ring_count of them, in the segment's order
  ThreadState* threads;  // one per ring, used by the ring's owner only
  StringTable strings;
};
static_assert(sizeof(Gate) <= wire::kPageBytes);

// The process's one gate. Points to a gate that is disabled for ever until OpenGate().
struct Process {
  static inline constinit Gate closed_gate{
      {0}, {SessionState::kDisabled}, wire::ClockKind::kTsc, 0, nullptr, nullptr, nullptr, {}};
  static inline constinit std::atomic<Gate*> gate{&closed_gate};
};

inline Gate& CurrentGate() noexcept { return *Process::gate.load(std::memory_order_acquire); }

// Maps the page and makes it the process's gate, in state kCandidate. False where the kernel
// can't wipe pages on fork (before 4.14): the gate then stays closed. Called once.
bool OpenGate() noexcept;

// The next value for Gate::epoch. Counted outside the wiped page, so that a child's sessions
// differ from those of its parent that its copied thread-local state belongs to.
uint32_t NextEpoch() noexcept;

// Whether this process may yet become a rank. One load: for what runs in every process that
// loads us.
inline bool IsCandidate() noexcept {
  return CurrentGate().state.load(std::memory_order_relaxed) == SessionState::kCandidate;
}

// Whether this process is a rank. One load.
inline bool Active() noexcept { return CurrentGate().epoch.load(std::memory_order_acquire) != 0; }

// Whether it records at least one of |capture_bits| (wire::CaptureBit). Two loads.
inline bool Captures(uint32_t capture_bits) noexcept {
  const Gate& gate = CurrentGate();
  return gate.epoch.load(std::memory_order_acquire) != 0 &&
         (gate.segment->capture_mask.load(std::memory_order_relaxed) & capture_bits) != 0;
}

}  // namespace tutti::tracer
