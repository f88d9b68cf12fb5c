#include "tracer/sources/torch/memory.h"

#include "tracer/core/entry.h"

namespace tutti::tracer::torch {
namespace {

constexpr int16_t kCpu = 0;  // c10::DeviceType::CPU
constexpr int64_t kUnknown = -1;

int16_t DeviceType(uint16_t device) noexcept { return static_cast<int8_t>(device & 0xff); }
int16_t DeviceIndex(uint16_t device) noexcept { return static_cast<int8_t>(device >> 8); }

struct Event {
  uint64_t address;
  int64_t delta_bytes;
  int64_t allocated_bytes;
  int64_t reserved_bytes;
  int16_t device_type;
  int16_t device_index;
  uint16_t flags;
};

void Emit(const Event& event) noexcept {
  Entry entry(wire::kCaptureMemory);
  if (!entry) {
    return;
  }
  const uint64_t now = entry.Now();
  entry.EmitInPlace<wire::MemoryRecord>([&](wire::MemoryRecord& record) {
    record.header = HeaderOf(wire::RecordKind::kMemory, 0, event.flags);
    record.ticks = now;
    record.address = event.address;
    record.delta_bytes = event.delta_bytes;
    record.allocated_bytes = event.allocated_bytes;
    record.reserved_bytes = event.reserved_bytes;
    record.device_type = event.device_type;
    record.device_index = event.device_index;
    record.reserved0 = 0;
    record.reserved1 = 0;
  });
}

}  // namespace

void OnCpuAllocate(const void* address, size_t bytes) noexcept {
  if (address != nullptr) {
    Emit({reinterpret_cast<uintptr_t>(address), static_cast<int64_t>(bytes), kUnknown, kUnknown,
          kCpu, -1, 0});
  }
}

void OnCpuRelease(const void* address) noexcept {
  if (address != nullptr) {
    Emit({reinterpret_cast<uintptr_t>(address), 0, kUnknown, kUnknown, kCpu, -1, 0});
  }
}

void OnMemoryReport(const void* address, int64_t bytes, uint64_t allocated_bytes,
                    uint64_t reserved_bytes, uint16_t device) noexcept {
  if (DeviceType(device) != kCpu) {
    Emit({reinterpret_cast<uintptr_t>(address), bytes, static_cast<int64_t>(allocated_bytes),
          static_cast<int64_t>(reserved_bytes), DeviceType(device), DeviceIndex(device), 0});
  }
}

void OnOutOfMemory(int64_t bytes, uint64_t allocated_bytes, uint64_t reserved_bytes,
                   uint16_t device) noexcept {
  Emit({0, bytes, static_cast<int64_t>(allocated_bytes), static_cast<int64_t>(reserved_bytes),
        DeviceType(device), DeviceIndex(device), wire::kMemoryOutOfMemory});
}

}  // namespace tutti::tracer::torch
