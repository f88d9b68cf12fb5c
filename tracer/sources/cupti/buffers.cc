#include "tracer/sources/cupti/buffers.h"

#include <sys/mman.h>

namespace tutti::tracer::cupti {

bool Buffers::Map() noexcept {
  void* memory = mmap(nullptr, kSlots * kSlotBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  memory_ = static_cast<uint8_t*>(memory);
  for (uint32_t slot = kSlots; slot > 0; --slot) Push(free_, slot - 1);
  return true;
}

void Buffers::Push(std::atomic<uint64_t>& list, uint32_t slot) noexcept {
  uint64_t head = list.load(std::memory_order_relaxed);
  do {
    slots_[slot].next.store(static_cast<uint32_t>(head), std::memory_order_relaxed);
  } while (!list.compare_exchange_weak(head, WithHead(head, slot + 1), std::memory_order_release,
                                       std::memory_order_relaxed));
}

uint32_t Buffers::Pop(std::atomic<uint64_t>& list) noexcept {
  uint64_t head = list.load(std::memory_order_acquire);
  while (true) {
    const auto link = static_cast<uint32_t>(head);
    if (link == 0) return 0;
    // May be another list's by now; the count in the head tells then.
    const uint32_t next = slots_[link - 1].next.load(std::memory_order_relaxed);
    if (list.compare_exchange_weak(head, WithHead(head, next), std::memory_order_acquire,
                                   std::memory_order_acquire)) {
      return link;
    }
  }
}

uint8_t* Buffers::Take() noexcept {
  const uint32_t link = Pop(free_);
  if (link == 0) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  return memory_ + (link - 1) * kSlotBytes;
}

void Buffers::GiveBack(uint8_t* data, size_t valid_bytes) noexcept {
  if (data < memory_ || data >= memory_ + kSlots * kSlotBytes) return;  // not ours
  const auto slot = static_cast<uint32_t>(static_cast<size_t>(data - memory_) / kSlotBytes);
  if (valid_bytes == 0 || valid_bytes > kSlotBytes) return Push(free_, slot);
  slots_[slot].valid_bytes = valid_bytes;
  given_back_.fetch_add(1, std::memory_order_acq_rel);
  Push(full_, slot);
}

Buffers::Full Buffers::NextFull() noexcept {
  if (oldest_ == 0) {
    // Takes all at once and turns them round.
    auto link = static_cast<uint32_t>(full_.exchange(0, std::memory_order_acquire));
    while (link != 0) {
      const uint32_t next = slots_[link - 1].next.load(std::memory_order_relaxed);
      slots_[link - 1].next.store(oldest_, std::memory_order_relaxed);
      oldest_ = link;
      link = next;
    }
  }
  if (oldest_ == 0) return {nullptr, 0, 0};
  const uint32_t slot = oldest_ - 1;
  oldest_ = slots_[slot].next.load(std::memory_order_relaxed);
  return {memory_ + slot * kSlotBytes, slots_[slot].valid_bytes, slot};
}

void Buffers::Release(uint32_t slot) noexcept {
  Push(free_, slot);
  released_.fetch_add(1, std::memory_order_acq_rel);
}

}  // namespace tutti::tracer::cupti
