#include "tracer/core/entry.h"

#include <sys/prctl.h>

#include <bit>

#include "tracer/core/process_info.h"
#include "tracer/core/span_stack.h"
#include "tracer/core/thread_end.h"

namespace tutti::tracer {
namespace {

using wire::LossReason;
using wire::RecordKind;

// A thread without a ring looks for one again after this many events: the search walks all
// ring headers.
constexpr uint32_t kClaimCountdown = 256;

// A thread whose ring stays full looks for a larger one again after this many drops.
constexpr uint64_t kMoveUpEvery = 1024;

// Adds to a counter of which this thread is the only writer.
void AddOwned(wire::LossCounter& counter, uint64_t count, uint64_t ticks) noexcept {
  const uint64_t before = counter.count.load(std::memory_order_relaxed);
  if (before == 0) counter.first_ticks.store(ticks, std::memory_order_relaxed);
  counter.last_ticks.store(ticks, std::memory_order_relaxed);
  counter.count.store(before + count, std::memory_order_relaxed);
}

// Adds to a counter that several threads, or a thread and its signal handlers, write.
void AddShared(wire::LossCounter& counter, uint64_t count, uint64_t ticks) noexcept {
  uint64_t first = 0;
  counter.first_ticks.compare_exchange_strong(first, ticks, std::memory_order_relaxed);
  counter.last_ticks.store(ticks, std::memory_order_relaxed);
  counter.count.fetch_add(count, std::memory_order_relaxed);
}

void AddPending(PendingLoss& pending, uint64_t count, uint64_t ticks) noexcept {
  if (pending.count == 0) pending.first_ticks = ticks;
  pending.last_ticks = ticks;
  pending.count += count;
}

void MovePending(PendingLoss& from, ThreadState& to, LossReason reason) noexcept {
  if (from.count == 0) return;
  const auto index = static_cast<uint32_t>(reason);
  to.pending[index] = from;
  to.pending_mask |= 1u << index;
  from = {};
}

// Not std::popcount, which is a call into libgcc on the oldest x86-64.
uint32_t CountBits(uint32_t mask) noexcept {
  uint32_t count = 0;
  for (; mask != 0; mask &= mask - 1) ++count;
  return count;
}

// Whether a ring that an ended thread left is at least half empty.
bool HasRoomForAThread(const RingRef& ref) noexcept {
  const uint64_t head = ref.header->head.load(std::memory_order_relaxed);
  const uint64_t tail = ref.header->tail.load(std::memory_order_relaxed);
  return head - tail <= ref.capacity_cells / 2;
}

// Whether the ring is this thread's now. |even_full|: also if it was left with little room.
bool TryClaim(const RingRef& ref, bool even_full) noexcept {
  auto owner = ref.header->owner.load(std::memory_order_relaxed);
  if (owner == wire::RingOwner::kReleased) {
    if (!even_full && !HasRoomForAThread(ref)) return false;
  } else if (owner != wire::RingOwner::kFree) {
    return false;
  }
  return ref.header->owner.compare_exchange_strong(owner, wire::RingOwner::kClaimed,
                                                   std::memory_order_acq_rel);
}

// Claims the first free ring of at least |size_class|, nullptr if there is none.
ThreadState* ClaimRing(const Gate& gate, uint32_t size_class, bool even_full) noexcept {
  for (uint32_t i = 0; i < gate.ring_count; ++i) {
    const RingRef& ref = gate.rings[i];
    if (ref.size_class < size_class || !TryClaim(ref, even_full)) continue;
    ThreadState& thread = gate.threads[i];
    thread.ring = ref.header;
    thread.cells = ref.cells;
    thread.capacity_cells = ref.capacity_cells;
    thread.size_class = ref.size_class;
    thread.head = ref.header->head.load(std::memory_order_relaxed);
    thread.tail_seen = ref.header->tail.load(std::memory_order_acquire);
    thread.depth = 0;
    thread.pending_mask = 0;
    std::memset(thread.pending, 0, sizeof(thread.pending));
    return &thread;
  }
  return nullptr;
}

// Fills in who owns the ring. |tid| last: the collector takes a ring with tid 0 for one that
// is still being claimed.
void PublishOwner(ThreadState& thread, uint32_t tid, uint64_t start_ticks) noexcept {
  wire::RingHeader& ring = *thread.ring;
  thread.tid = tid;
  thread.start_ticks = start_ticks;
  thread.generation = ring.generation.load(std::memory_order_relaxed) + 1;
  ring.open_depth.store(0, std::memory_order_relaxed);
  ring.generation.store(thread.generation, std::memory_order_relaxed);
  ring.thread_start_ticks.store(start_ticks, std::memory_order_relaxed);
  ring.tid.store(tid, std::memory_order_release);
}

}  // namespace

// For a thread without a ring, and for one that is inside an Entry already, which is refused.
bool Entry::EnterSlow() noexcept {
  ThreadSlot& slot = Thread::slot;
  if (slot.busy || (slot.epoch == epoch_ && slot.state != nullptr)) {
    CountReentry();
    return false;
  }
  slot.busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  Claim();
  thread_ = slot.state;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot.busy = thread_ == nullptr;
  return true;
}

// The first event of a thread in this session, or another one of a thread without a ring.
void Entry::Claim() noexcept {
  ThreadSlot& slot = Thread::slot;
  if (slot.epoch != epoch_) {
    slot.epoch = epoch_;
    slot.ready_epoch = 0;
    slot.state = nullptr;
    slot.no_ring = {};
    slot.claim_countdown = 0;
  }
  if (slot.claim_countdown > 0) {
    --slot.claim_countdown;
    return;
  }
  const ErrnoKeeper keeper;
  ThreadState* thread = ClaimRing(gate_, 0, false);
  if (thread == nullptr) thread = ClaimRing(gate_, 0, true);
  if (thread == nullptr) {
    slot.claim_countdown = kClaimCountdown;
    return;
  }
  const pid_t tid = ThreadId();
  PublishOwner(*thread, static_cast<uint32_t>(tid), ThreadStartTicks(tid));
  slot.state = thread_ = thread;
  ReleaseRingAtThreadEnd();
  EmitThread();
  MovePending(slot.no_ring, *thread, LossReason::kNoRing);
}

void Entry::EmitThread() noexcept {
  const ErrnoKeeper keeper;
  char name[16] = {};
  prctl(PR_GET_NAME, name);
  // Not InternText: a loss it counts would stand before this record, which is the first.
  Emit(wire::ThreadRecord{.header = HeaderOf(RecordKind::kThread, gate_.strings.Intern(name)),
                          .ticks = Now(),
                          .tid = thread_->tid,
                          .generation = thread_->generation,
                          .start_ticks = thread_->start_ticks,
                          .reserved = {}});
}

// Everything that Emit's few instructions leave out: a tail that is out of date, losses to
// tell first, records of several cells, a full ring.
bool Entry::EmitSlow(const void* record, uint32_t cells) noexcept {
  if (thread_ == nullptr) {
    CountNoRing();
    return false;
  }
  const uint32_t wanted = cells + CountBits(thread_->pending_mask);
  if (!HasRoom(wanted)) {
    const uint64_t drops = thread_->pending[static_cast<uint32_t>(LossReason::kRingFull)].count;
    if (drops % kMoveUpEvery != 0 || !MoveUp() || !HasRoom(wanted)) {
      CountLoss(LossReason::kRingFull);
      return false;
    }
  }
  ThreadState& thread = *thread_;
  uint64_t position = thread.head;
  for (; thread.pending_mask != 0; thread.pending_mask &= thread.pending_mask - 1) {
    const auto reason = static_cast<uint16_t>(std::countr_zero(thread.pending_mask));
    PendingLoss& loss = thread.pending[reason];
    const wire::LossRecord told{
        HeaderOf(RecordKind::kLoss, 0, reason), loss.first_ticks, loss.last_ticks, loss.count, {}};
    std::memcpy(thread.CellAt(position++), &told, sizeof(told));
    loss = {};
  }
  const auto* bytes = static_cast<const std::byte*>(record);
  for (uint32_t i = 0; i < cells; ++i) {
    std::memcpy(thread.CellAt(position++), bytes + i * wire::kCellBytes, wire::kCellBytes);
  }
  thread.head = position;
  thread.ring->head.store(position, std::memory_order_release);
  return true;
}

bool Entry::HasRoomFor(uint32_t cells) noexcept {
  if (thread_ == nullptr) return true;  // a full ring is not what it lacks
  const uint32_t wanted = cells + CountBits(thread_->pending_mask);
  return HasRoom(wanted) || (MoveUp() && HasRoom(wanted));
}

bool Entry::HasRoom(uint32_t cells) noexcept {
  ThreadState& thread = *thread_;
  const auto fits = [&] {
    // Unsigned: a tail beyond the head, which only a broken collector writes, does not fit.
    return thread.head - thread.tail_seen + cells <= thread.capacity_cells;
  };
  if (fits()) return true;
  thread.tail_seen = thread.ring->tail.load(std::memory_order_acquire);
  return fits();
}

// Goes on in a free ring of a larger class. The collector drains what the old one holds.
bool Entry::MoveUp() noexcept {
  ThreadState& old = *thread_;
  ThreadState* const larger = ClaimRing(gate_, old.size_class + 1, false);
  if (larger == nullptr) return false;
  PublishOwner(*larger, old.tid, old.start_ticks);
  for (uint32_t i = 0; i < StoredSpans(old); ++i) SpanAt(*larger, i) = SpanAt(old, i);
  StoreDepth(*larger, old.depth);
  Thread::slot.state = thread_ = larger;
  EmitThread();
  for (uint32_t reason = 1; reason < wire::kLossReasonCount; ++reason) {
    MovePending(old.pending[reason], *larger, static_cast<LossReason>(reason));
  }
  old.ring->open_depth.store(0, std::memory_order_release);
  old.ring->owner.store(wire::RingOwner::kAbandoned, std::memory_order_release);
  return true;
}

void Entry::CountLoss(LossReason reason, uint64_t count) noexcept {
  if (thread_ == nullptr) return CountNoRing();
  const auto index = static_cast<uint32_t>(reason);
  const uint64_t now = Now();
  AddOwned(thread_->ring->lost[index], count, now);
  AddPending(thread_->pending[index], count, now);
  thread_->pending_mask |= 1u << index;
}

void Entry::CountNoRing() noexcept {
  const uint64_t now = Now();
  AddShared(gate_.segment->lost_no_ring, 1, now);
  AddPending(Thread::slot.no_ring, 1, now);
}

// The interrupted Entry may be in the middle of anything, so this touches atomics only; the
// loss stands in the ring's totals and has no record at its place.
void Entry::CountReentry() noexcept {
  const ThreadSlot& slot = Thread::slot;
  const bool owns_ring = slot.state != nullptr && slot.epoch == epoch_;
  wire::LossCounter& counter =
      owns_ring ? slot.state->ring->lost[static_cast<uint32_t>(LossReason::kReentered)]
                : gate_.segment->lost_no_ring;
  AddShared(counter, 1, Now());
}

uint32_t Entry::InternSlow(const char* address, size_t length) noexcept {
  const std::string_view text(address, length);
  const uint32_t index = InternInTable(text);
  if (thread_ != nullptr && index != wire::kNoString && length <= wire::kMaxStringBytes) {
    thread_->strings.Remember(address, text, gate_.strings.Text(index).data(), index);
  }
  return index;
}

uint32_t Entry::InternTextSlow(std::string_view text) noexcept {
  const uint32_t index = InternInTable(text);
  if (thread_ != nullptr && index != wire::kNoString && StringCache::TakesText(text)) {
    thread_->strings.Remember(nullptr, text, gate_.strings.Text(index).data(), index);
  }
  return index;
}

uint32_t Entry::InternInTable(std::string_view text) noexcept {
  const uint32_t index = gate_.strings.Intern(text);
  if (index == wire::kNoString && !text.empty() && thread_ != nullptr) {
    CountLoss(LossReason::kStringTableFull);
  }
  return index;
}

}  // namespace tutti::tracer
