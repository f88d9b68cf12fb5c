// Entry: the way into the rings for every source of events. A source's callback makes one
// on its stack first; all writing goes through it, so the guard against recursion (a
// callback inside our own code, a signal handler over it) can't be forgotten.
//
//   Entry entry(wire::kCaptureNvtx);
//   if (!entry) return;
//   entry.Emit(wire::MarkRecord{.header = HeaderOf(wire::RecordKind::kMark, name), …});
//
// Runs on the training's threads. Fast paths take a few nanoseconds beside the clock: no
// lock, no allocation, no system call, no exception. The exceptions are a thread's first
// event (it claims a ring: gettid and one small file of /proc) and a ring that is full (it
// looks for a larger one; if there is none, the newest event is dropped and counted).
// errno is kept.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "common/wire/record.h"
#include "common/wire/segment.h"
#include "tracer/core/clock.h"
#include "tracer/core/gate.h"
#include "tracer/core/thread_state.h"

namespace tutti::tracer {

inline wire::RecordHeader HeaderOf(wire::RecordKind kind, uint32_t name, uint16_t flags = 0,
                                   uint8_t cells = 1) noexcept {
  return {kind, cells, flags, name};
}

// For Entry: enter whatever the collector has switched off.
inline constexpr uint32_t kCaptureAlways = 0;

// What EndSpan found.
struct EndedSpan {
  enum class Outcome {
    kFound,      // |span| is the begin; valid until the next call on this Entry's thread
    kElsewhere,  // no such begin on this thread: it began before capture or on another thread
    kDropped,    // the begin was dropped (no ring, too deep); counted, write nothing
  };
  Outcome outcome;
  uint16_t depth;              // kFound: open spans below it on this thread
  const wire::OpenSpan* span;  // kFound, else nullptr
};

class Entry {
  // Stands in for another Entry, which holds the thread.
  Entry(Gate& gate, uint32_t epoch, ThreadState* thread) noexcept
      : gate_(gate), epoch_(epoch), thread_(thread) {}

 public:
  // Does |slow(Entry&)| with a stand-in for this Entry: for rare work in functions that are not
  // inlined, beside a fast way. If that handed this Entry's own
  // address to a function, the compiler would have to keep its fields in memory from the
  // beginning, and everything would wait for stores to be read again.
  template <typename Slow>
  [[gnu::always_inline]] auto Aside(const Slow& slow) noexcept {
    Entry aside(gate_, epoch_, thread_);
    if constexpr (std::is_void_v<decltype(slow(aside))>) {
      slow(aside);
      thread_ = aside.thread_;
    } else {
      const auto result = slow(aside);
      thread_ = aside.thread_;
      return result;
    }
  }

  // Valid if this process is a rank, the collector wants at least one of |capture_bits|
  // (or they are kCaptureAlways), and this thread is not in an Entry already. An event
  // refused for the last reason is counted (LossReason::kReentered).
  explicit Entry(uint32_t capture_bits) noexcept
      : gate_(CurrentGate()), epoch_(gate_.epoch.load(std::memory_order_acquire)) {
    if (epoch_ == 0) return;
    if (capture_bits != kCaptureAlways && !Captures(capture_bits)) return;
    ThreadSlot& slot = Thread::slot;
    if (slot.ready_epoch != epoch_) [[unlikely]] {
      valid_ = Aside([](Entry& aside) { return aside.EnterSlow(); });
      return;
    }
    slot.ready_epoch = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    valid_ = true;
    thread_ = slot.state;
  }
  ~Entry() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (!valid_) return;
    if (thread_ != nullptr) [[likely]] {
      Thread::slot.ready_epoch = epoch_;
    } else {
      Thread::slot.busy = false;
    }
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  explicit operator bool() const noexcept { return valid_; }

  // The rest requires a valid Entry.

  bool Captures(uint32_t capture_bits) const noexcept {
    return (gate_.segment->capture_mask.load(std::memory_order_relaxed) & capture_bits) != 0;
  }

  uint64_t Now() const noexcept { return NowTicks(gate_.clock_kind); }

  // Whether this thread has a ring; without one everything is counted as lost.
  bool has_ring() const noexcept { return thread_ != nullptr; }

  // Differs for each session, for sources that keep string indices of their own.
  uint32_t epoch() const noexcept { return epoch_; }

  // Writes a record of one cell, made by |fill(Record&)| in the ring itself: it must set every
  // field and not use this Entry. False if it was dropped (and counted). Records that are built
  // elsewhere by narrow stores and then copied by wide loads stall on store forwarding, some 10 ns
  // a record.
  template <typename Record, typename Fill>
  requires wire::kIsOneCell<Record>
  [[gnu::always_inline]] bool EmitInPlace(const Fill& fill) noexcept {
    ThreadState* const thread = thread_;
    if (thread == nullptr || !thread->CanWriteCell()) [[unlikely]] {
      Record record;
      fill(record);
      return Aside([&](Entry& aside) { return aside.EmitSlow(&record, 1); });
    }
    fill(*reinterpret_cast<Record*>(thread->NextCell()));
    thread->PublishCell();
    return true;
  }

  // The same for a record that exists already.
  template <typename Record>
  requires wire::kIsOneCell<Record>
  bool Emit(const Record& record) noexcept {
    return EmitInPlace<Record>([&](Record& cell) { cell = record; });
  }

  // The same for a record of |cells| (at most wire::kMaxRecordCells) cells, whose header
  // says so.
  bool EmitCells(const void* record, uint32_t cells) noexcept {
    return Aside([&](Entry& aside) { return aside.EmitSlow(record, cells); });
  }

  // Whether a record of |cells| would be taken now; if not, nothing is counted. For threads of our
  // own, which can wait until it is.
  bool HasRoomFor(uint32_t cells) noexcept;

  // Index of |text| for a record's name fields; 0 for none and when the table is full
  // (counted). The address is remembered, the bytes are compared at each use: for names
  // that come again from the same place. |address| needs no terminator.
  uint32_t Intern(const char* address, size_t length) noexcept {
    if (thread_ != nullptr) [[likely]] {
      const CachedString* const cached = thread_->strings.FindAt({address, length});
      if (cached != nullptr) [[likely]]
        return cached->index;
    }
    return Aside([&](Entry& aside) { return aside.InternSlow(address, length); });
  }
  uint32_t Intern(std::string_view text) noexcept { return Intern(text.data(), text.size()); }

  // The same for text that is made anew each time: remembered by its bytes, if they are
  // neither few nor many.
  uint32_t InternText(std::string_view text) noexcept {
    if (thread_ != nullptr && StringCache::TakesText(text)) [[likely]] {
      const CachedString* const cached = thread_->strings.FindText(text);
      if (cached != nullptr) [[likely]]
        return cached->index;
    }
    return Aside([&](Entry& aside) { return aside.InternTextSlow(text); });
  }

  // Opens a span on this thread's stack, where the collector finds it if the process dies.
  // |fill(OpenSpan&)| makes it there and must set every field; |identity| is how its end will
  // name it.
  template <typename Fill>
  [[gnu::always_inline]] void BeginSpanInPlace(const Fill& fill) noexcept {
    ThreadState* const thread = thread_;
    if (thread == nullptr || thread->depth >= wire::kOpenSpanDepth) [[unlikely]] {
      wire::OpenSpan span;
      fill(span);
      return Aside([&](Entry& aside) { return aside.BeginSpanSlow(span); });
    }
    thread->FetchNextCell();
    fill(thread->ring->open_spans[thread->depth]);
    thread->StoreOpenDepth(thread->depth + 1);
  }

  // The same for a span that exists already.
  void BeginSpan(const wire::OpenSpan& span) noexcept {
    BeginSpanInPlace([&](wire::OpenSpan& cell) { cell = span; });
  }

  // Takes the innermost span with |identity| off the stack. The caller writes its record,
  // unless the span says kSpanNotCaptured. When operators above it are still open, they end
  // out of order or on another thread: each becomes an AsyncBeginRecord, and its own end will
  // find it kElsewhere and must write an AsyncEndRecord. Ranges above it stay.
  EndedSpan EndSpan(uint64_t identity) noexcept {
    ThreadState* const thread = thread_;
    if (thread == nullptr || thread->depth == 0 || thread->depth > wire::kOpenSpanDepth)
        [[unlikely]] {
      return Aside([&](Entry& aside) { return aside.EndSpanSlow(identity); });
    }
    const uint32_t below = thread->depth - 1;
    const wire::OpenSpan& top = thread->ring->open_spans[below];
    if (top.identity != identity) [[unlikely]]
      return Aside([&](Entry& aside) { return aside.EndSpanSlow(identity); });
    thread->StoreOpenDepth(below);
    return {EndedSpan::Outcome::kFound, static_cast<uint16_t>(below), &top};
  }

  // The innermost open span with |identity| on this thread, nullptr if none; for filling in
  // what was not known at its begin. Looks at each span from the top until it is found.
  wire::OpenSpan* FindSpan(uint64_t identity) noexcept;

  // Counts |count| events lost for |reason| on this thread, and has a LossRecord written
  // before its next event.
  void CountLoss(wire::LossReason reason, uint64_t count = 1) noexcept;

 private:
  bool EnterSlow() noexcept;
  void Claim() noexcept;
  void CountReentry() noexcept;
  void EmitThread() noexcept;
  bool EmitSlow(const void* record, uint32_t cells) noexcept;
  bool HasRoom(uint32_t cells) noexcept;
  bool MoveUp() noexcept;
  void CountNoRing() noexcept;
  uint32_t InternSlow(const char* address, size_t length) noexcept;
  uint32_t InternTextSlow(std::string_view text) noexcept;
  uint32_t InternInTable(std::string_view text) noexcept;
  void BeginSpanSlow(const wire::OpenSpan& span) noexcept;
  EndedSpan EndSpanSlow(uint64_t identity) noexcept;
  void DetachOperatorsAbove(uint32_t index) noexcept;

  Gate& gate_;
  const uint32_t epoch_;
  ThreadState* thread_ = nullptr;  // nullptr while the thread has no ring
  bool valid_ = false;
};

}  // namespace tutti::tracer
