// Allocations and releases of PyTorch's allocators, as the interposed functions see them.
// Called on any thread; two loads in a process that is no rank.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::tracer::torch {

// c10::alloc_cpu returned |address|. nullptr is no event.
void OnCpuAllocate(const void* address, size_t bytes) noexcept;

// c10::free_cpu is about to release |address|; its size is not known there.
void OnCpuRelease(const void* address) noexcept;

// c10::reportMemoryUsageToProfiler: an allocator tells of one allocation (bytes > 0) or
// release, and of its own totals after it. |device| holds c10::DeviceType in its low byte and
// the device's index in the other. Reports on the CPU are left out: the two functions above
// tell of the same memory, and PyTorch only makes them while it is profiling itself.
void OnMemoryReport(const void* address, int64_t bytes, uint64_t allocated_bytes,
                    uint64_t reserved_bytes, uint16_t device) noexcept;

// c10::reportOutOfMemoryToProfiler: an allocation of |bytes| failed.
void OnOutOfMemory(int64_t bytes, uint64_t allocated_bytes, uint64_t reserved_bytes,
                   uint16_t device) noexcept;

}  // namespace tutti::tracer::torch
