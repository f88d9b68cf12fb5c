// The memory that CUPTI writes its records into: one mapping, cut into slots, handed out and
// taken back without a lock, a system call or an allocation. CUPTI asks for a slot on a thread of
// the program, within a CUDA call, and gives it back full on any thread; one thread of the
// tracer takes the full ones in the order in which they were given back.
//
// Memory is bounded: with all slots full, CUPTI gets none and drops records, which it counts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tutti::tracer::cupti {

class Buffers {
 public:
  static constexpr uint32_t kSlots = 256;
  static constexpr size_t kSlotBytes = size_t{1} << 20;

  struct Full {
    uint8_t* data;  // nullptr: none
    size_t valid_bytes;
    uint32_t slot;
  };

  // Maps the memory; pages are used when they are first written. False: no memory. Once.
  bool Map() noexcept;

  // A free slot of kSlotBytes, nullptr if there is none (counted). Any thread.
  uint8_t* Take() noexcept;

  // |data| came from Take; its first |valid_bytes| are records. Any thread.
  void GiveBack(uint8_t* data, size_t valid_bytes) noexcept;

  // The oldest full slot. One thread; Release it after use.
  Full NextFull() noexcept;
  void Release(uint32_t slot) noexcept;

  uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }
  uint64_t given_back() const noexcept { return given_back_.load(std::memory_order_acquire); }
  uint64_t released() const noexcept { return released_.load(std::memory_order_acquire); }

 private:
  struct Slot {
    std::atomic<uint32_t> next;  // slot number + 1 in a list, 0 at its end
    size_t valid_bytes;
  };
  // A list's head: slot number + 1 in the low half, and a count that tells apart two moments at
  // which the same slot is first.
  static uint64_t WithHead(uint64_t before, uint32_t link) noexcept {
    return (((before >> 32) + 1) << 32) | link;
  }
  void Push(std::atomic<uint64_t>& list, uint32_t slot) noexcept;
  uint32_t Pop(std::atomic<uint64_t>& list) noexcept;  // slot number + 1, 0 if empty

  uint8_t* memory_ = nullptr;
  std::atomic<uint64_t> free_{0};
  std::atomic<uint64_t> full_{0};  // newest first
  uint32_t oldest_ = 0;            // of the taken full ones, oldest first; slot number + 1
  std::atomic<uint64_t> refused_{0};
  std::atomic<uint64_t> given_back_{0};
  std::atomic<uint64_t> released_{0};
  Slot slots_[kSlots]{};
};

}  // namespace tutti::tracer::cupti
