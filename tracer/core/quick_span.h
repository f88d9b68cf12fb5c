// The usual case of a span, by itself: a thread that owns a ring with room and has nothing to
// tell first, a clock that is the TSC, a name that was seen before, and an end in order. What is
// rare goes the general way, through Entry, which does the same and everything else.
//
// An operator's callbacks run cold, among the thousand instructions of the operator itself: there,
// code costs by the lines and taken branches that it has. These are straight and call nothing, so
// that their callers need no frame. Each has no effect unless it returns true.
//
// Run on the training's threads, as Entry does; a signal handler over them is refused as there.
#pragma once

#include <x86intrin.h>

#include <cstdint>
#include <string_view>

#include "common/wire/segment.h"
#include "tracer/core/entry.h"
#include "tracer/core/gate.h"
#include "tracer/core/thread_state.h"

namespace tutti::tracer {

// Keeps this thread for itself, as an Entry does, if the thread is ready: owns a ring, and is not
// in an Entry already.
class ReadyThread {
 public:
  [[gnu::always_inline]] explicit ReadyThread(const Gate& gate) noexcept
      : epoch_(gate.epoch.load(std::memory_order_acquire)) {
    if (epoch_ == 0 || Thread::slot.ready_epoch != epoch_) [[unlikely]]
      return;
    Thread::slot.ready_epoch = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    state_ = Thread::slot.state;  // only now: a signal handler's event may have moved it
  }
  [[gnu::always_inline]] ~ReadyThread() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (state_ != nullptr) [[likely]]
      Thread::slot.ready_epoch = epoch_;
  }
  ReadyThread(const ReadyThread&) = delete;
  ReadyThread& operator=(const ReadyThread&) = delete;

  explicit operator bool() const noexcept { return state_ != nullptr; }
  ThreadState& operator*() const noexcept { return *state_; }
  ThreadState* operator->() const noexcept { return state_; }

 private:
  const uint32_t epoch_;
  ThreadState* state_ = nullptr;
};

// Opens a span if |mask| of what the collector wants captured has the value |wanted|.
// |fill(OpenSpan&, name index)| must set every field but the time, which is read last: what was
// done until then is not the span's.
template <typename Fill>
[[gnu::always_inline]] inline bool QuickBeginSpan(uint32_t mask, uint32_t wanted,
                                                  std::string_view name,
                                                  const Fill& fill) noexcept {
  const Gate& gate = CurrentGate();
  const ReadyThread thread(gate);
  if (!thread || gate.clock_kind != wire::ClockKind::kTsc) [[unlikely]]
    return false;
  const uint32_t captured = gate.segment->capture_mask.load(std::memory_order_relaxed);
  if ((captured & mask) != wanted || thread->depth >= wire::kOpenSpanDepth) [[unlikely]] {
    return false;
  }
  const CachedString* const cached = thread->strings.FindAt(name);
  if (cached == nullptr) [[unlikely]]
    return false;
  thread->FetchNextCell();
  wire::OpenSpan& span = thread->ring->open_spans[thread->depth];
  fill(span, cached->index);
  span.begin_ticks = __rdtsc();
  thread->StoreOpenDepth(thread->depth + 1);
  return true;
}

// Closes the innermost span if it is |identity|, and writes its record of one cell:
// |fill(Record&, const OpenSpan&, depth, now)| must set every field.
template <typename Record, typename Fill>
[[gnu::always_inline]] inline bool QuickEndSpan(uint64_t identity, const Fill& fill) noexcept {
  const Gate& gate = CurrentGate();
  const ReadyThread thread(gate);
  if (!thread || gate.clock_kind != wire::ClockKind::kTsc) [[unlikely]]
    return false;
  const uint64_t now = __rdtsc();
  const uint32_t below = thread->depth - 1;
  if (below >= wire::kOpenSpanDepth || !thread->CanWriteCell()) [[unlikely]]
    return false;
  const wire::OpenSpan& span = thread->ring->open_spans[below];
  if (span.identity != identity) [[unlikely]]
    return false;
  thread->StoreOpenDepth(below);
  fill(*reinterpret_cast<Record*>(thread->NextCell()), span, static_cast<uint16_t>(below), now);
  thread->PublishCell();
  return true;
}

}  // namespace tutti::tracer
