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

#include "common/wire/record.h"
#include "common/wire/segment.h"
#include "tracer/core/clock.h"
#include "tracer/core/gate.h"
#include "tracer/core/thread_state.h"

namespace tutti::tracer {

// Whether two texts of |length| bytes are equal. Names are short: comparing them by words in
// place costs less than a call of memcmp.
[[gnu::always_inline]] inline bool SameBytes(const char* a, const char* b, size_t length) noexcept {
  constexpr size_t kWord = sizeof(uint64_t);
  if (length < kWord || length > 64) [[unlikely]]
    return std::memcmp(a, b, length) == 0;
  const auto difference = [&](size_t offset) {
    uint64_t word_a;
    uint64_t word_b;
    std::memcpy(&word_a, a + offset, kWord);
    std::memcpy(&word_b, b + offset, kWord);
    return word_a ^ word_b;
  };
  uint64_t differences = difference(length - kWord);  // overlaps the word before it
  for (size_t offset = 0; offset + kWord < length; offset += kWord) {
    differences |= difference(offset);
  }
  return differences == 0;
}

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
 public:
  // Valid if this process is a rank, the collector wants at least one of |capture_bits|
  // (or they are kCaptureAlways), and this thread is not in an Entry already. An event
  // refused for the last reason is counted (LossReason::kReentered).
  explicit Entry(uint32_t capture_bits) noexcept
      : gate_(CurrentGate()), epoch_(gate_.epoch.load(std::memory_order_acquire)) {
    if (epoch_ == 0) return;
    if (capture_bits != kCaptureAlways && !Captures(capture_bits)) return;
    ThreadSlot& slot = Thread::slot;
    if (slot.busy) [[unlikely]] {
      CountReentry();
      return;
    }
    slot.busy = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    valid_ = true;
    if (slot.epoch != epoch_ || slot.state == nullptr) [[unlikely]] {
      Claim();
    }
    thread_ = slot.state;
  }
  ~Entry() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (valid_) Thread::slot.busy = false;
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
    if (thread == nullptr || thread->pending_mask != 0 ||
        thread->head - thread->tail_seen >= thread->capacity_cells) [[unlikely]] {
      Record record;
      fill(record);
      return EmitSlow(&record, 1);
    }
    fill(*reinterpret_cast<Record*>(CellAt(*thread, thread->head)));
    thread->ring->head.store(++thread->head, std::memory_order_release);  // publishes the cell
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
  bool EmitCells(const void* record, uint32_t cells) noexcept { return EmitSlow(record, cells); }

  // Whether a record of |cells| would be taken now; if not, nothing is counted. For threads of our
  // own, which can wait until it is.
  bool HasRoomFor(uint32_t cells) noexcept;

  // Index of |text| for a record's name fields; 0 for none and when the table is full
  // (counted). The address is remembered, the bytes are compared at each use: for names
  // that come again from the same place. |address| needs no terminator.
  uint32_t Intern(const char* address, size_t length) noexcept {
    if (thread_ != nullptr) [[likely]] {
      const CachedString& cached = thread_->strings[CacheSlot(address)];
      if (cached.address == address && cached.length == length && length != 0 &&
          SameBytes(cached.stored, address, length)) {
        return cached.index;
      }
    }
    return InternSlow(address, length);
  }
  uint32_t Intern(std::string_view text) noexcept { return Intern(text.data(), text.size()); }

  // The same for text that is made anew each time: remembered by its bytes, if they are
  // neither few nor many.
  uint32_t InternText(std::string_view text) noexcept {
    if (thread_ != nullptr && IsCachedByContent(text)) [[likely]] {
      const CachedString& cached = thread_->strings[CacheSlot(text)];
      if (cached.length == text.size() && SameBytes(cached.stored, text.data(), text.size())) {
        return cached.index;
      }
    }
    return InternTextSlow(text);
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
      return BeginSpanSlow(span);
    }
    // Where its record will be written: fetched meanwhile, the end need not wait for the line,
    // which the collector's core may hold. As a prefetch for writing it would cost more here.
    __builtin_prefetch(CellAt(*thread, thread->head));
    fill(thread->ring->open_spans[thread->depth]);
    thread->ring->open_depth.store(++thread->depth, std::memory_order_release);
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
      return EndSpanSlow(identity);
    }
    const uint32_t below = thread->depth - 1;
    const wire::OpenSpan& top = thread->ring->open_spans[below];
    if (top.identity != identity) [[unlikely]]
      return EndSpanSlow(identity);
    thread->depth = below;
    thread->ring->open_depth.store(below, std::memory_order_release);
    return {EndedSpan::Outcome::kFound, static_cast<uint16_t>(below), &top};
  }

  // The innermost open span with |identity| on this thread, nullptr if none; for filling in
  // what was not known at its begin. Looks at each span from the top until it is found.
  wire::OpenSpan* FindSpan(uint64_t identity) noexcept;

  // Counts |count| events lost for |reason| on this thread, and has a LossRecord written
  // before its next event.
  void CountLoss(wire::LossReason reason, uint64_t count = 1) noexcept;

 private:
  static std::byte* CellAt(const ThreadState& thread, uint64_t position) noexcept {
    return thread.cells + (position & (thread.capacity_cells - 1)) * wire::kCellBytes;
  }
  static uint32_t CacheSlot(const char* address) noexcept {
    const auto bits = reinterpret_cast<uintptr_t>(address);
    return static_cast<uint32_t>((bits ^ bits >> 9) & (kStringCacheEntries - 1));
  }

  void Claim() noexcept;
  void CountReentry() noexcept;
  static bool IsCachedByContent(std::string_view text) noexcept {
    return text.size() >= sizeof(uint64_t) && text.size() <= 64;
  }
  static uint32_t CacheSlot(std::string_view text) noexcept {
    const auto word = [&](size_t offset) {
      uint64_t bits;
      std::memcpy(&bits, text.data() + offset, sizeof(bits));
      return bits;
    };
    const size_t last = text.size() - sizeof(uint64_t);
    const uint64_t mixed =
        (word(0) ^ word(last) << 1 ^ word(last / 2) << 2 ^ text.size()) * 0x9e3779b97f4a7c15;
    static_assert(kStringCacheEntries == 512);
    return static_cast<uint32_t>(mixed >> (64 - 9));
  }

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
