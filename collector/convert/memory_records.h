// Allocations and releases -> memory_event. For the CPU, whose allocator keeps no total,
// the total is the sum of what was seen. One thread; records in order of time.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "collector/convert/context.h"
#include "common/wire/record.h"

namespace tutti::collector::convert {

class MemoryRecords {
 public:
  explicit MemoryRecords(Context& context) : context_(context) {}

  void OnMemory(ThreadTable::Index thread, const wire::MemoryRecord& record);

 private:
  // Signed size of the event, absent for a release of something never seen allocated.
  std::optional<int64_t> DeltaOf(const wire::MemoryRecord& record);
  void AddToCpuTotal(int64_t bytes);

  Context& context_;
  std::unordered_map<uint64_t, int64_t> live_cpu_bytes_;  // by address
  int64_t cpu_allocated_bytes_ = 0;
};

}  // namespace tutti::collector::convert
