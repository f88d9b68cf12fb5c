// A fixed table from addresses of live objects to what is known about them, for objects that
// one thread announces and another takes up. Lock-free, no allocation, zero-initialised.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tutti::tracer::torch {

// Value is trivially copyable. An address is put by one thread at a time and taken by one
// thread at a time, as the owner of an object does; different addresses may be put and taken
// by any threads at once.
template <typename Value, size_t kSlots>
class PointerTable {
  static_assert((kSlots & (kSlots - 1)) == 0);

 public:
  // Remembers |value| for |address|, in place of what was remembered for an object that was
  // there before and never taken. False when the table has no room near its place.
  bool Put(const void* address, const Value& value) noexcept {
    const auto key = reinterpret_cast<uintptr_t>(address);
    Slot* slot = Find(key);
    if (slot != nullptr) {
      slot->key.store(kBusy, std::memory_order_relaxed);
    } else if ((slot = Reserve(key)) == nullptr) {
      return false;
    }
    slot->value = value;
    slot->key.store(key, std::memory_order_release);  // publishes the value
    return true;
  }

  // Moves what is remembered for |address| to |*value|. False if there is nothing.
  bool Take(const void* address, Value* value) noexcept {
    Slot* slot = Find(reinterpret_cast<uintptr_t>(address));
    if (slot == nullptr) {
      return false;
    }
    *value = slot->value;
    slot->key.store(kFree, std::memory_order_release);  // the value was read before
    return true;
  }

 private:
  static constexpr uintptr_t kFree = 0;
  static constexpr uintptr_t kBusy = 1;                         // no object lies there
  static constexpr size_t kWindow = kSlots < 64 ? kSlots : 64;  // slots where a key may lie

  struct Slot {
    std::atomic<uintptr_t> key{kFree};
    Value value{};
  };

  Slot& At(uintptr_t key, size_t step) noexcept {
    // Objects lie at multiples of 16; the multiplier spreads neighbours.
    const uint64_t place = (key >> 4) * 0x9e3779b97f4a7c15 >> 32;
    return slots_[(place + step) & (kSlots - 1)];
  }

  Slot* Find(uintptr_t key) noexcept {
    for (size_t step = 0; step < kWindow; ++step) {
      Slot& slot = At(key, step);
      if (slot.key.load(std::memory_order_acquire) == key) {
        return &slot;
      }
    }
    return nullptr;
  }

  Slot* Reserve(uintptr_t key) noexcept {
    for (size_t step = 0; step < kWindow; ++step) {
      Slot& slot = At(key, step);
      uintptr_t expected = kFree;
      if (slot.key.compare_exchange_strong(expected, kBusy, std::memory_order_acquire)) {
        return &slot;
      }
    }
    return nullptr;
  }

  Slot slots_[kSlots]{};
};

}  // namespace tutti::tracer::torch
