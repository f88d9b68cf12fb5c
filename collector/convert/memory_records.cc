#include "collector/convert/memory_records.h"

#include <optional>
#include <string>
#include <utility>

namespace tutti::collector::convert {
namespace {

// c10::DeviceType (c10/core/DeviceType.h).
constexpr int16_t kCpu = 0;
constexpr int16_t kCuda = 1;

std::string DeviceTypeName(int16_t type) {
  if (type == kCpu) return "cpu";
  if (type == kCuda) return "cuda";
  return "device_type_" + std::to_string(type);
}

std::optional<int64_t> KnownBytes(int64_t bytes) {
  if (bytes < 0) return std::nullopt;
  return bytes;
}

}  // namespace

// Sizes are what the process claims: sums of hostile ones wrap instead of overflowing.
void MemoryRecords::AddToCpuTotal(int64_t bytes) {
  cpu_allocated_bytes_ = static_cast<int64_t>(static_cast<uint64_t>(cpu_allocated_bytes_) +
                                              static_cast<uint64_t>(bytes));
}

std::optional<int64_t> MemoryRecords::DeltaOf(const wire::MemoryRecord& record) {
  const bool failed = (record.header.flags & wire::kMemoryOutOfMemory) != 0;
  if (record.device_type != kCpu || failed) {
    if (record.delta_bytes == 0 && !failed) return std::nullopt;
    return record.delta_bytes;
  }
  if (record.delta_bytes > 0) {
    // Two allocations at one address: the release between them was not recorded.
    int64_t& live = live_cpu_bytes_[record.address];
    AddToCpuTotal(record.delta_bytes);
    AddToCpuTotal(-live);
    live = record.delta_bytes;
    return record.delta_bytes;
  }
  const auto live = live_cpu_bytes_.find(record.address);
  if (live == live_cpu_bytes_.end()) {
    if (record.delta_bytes == 0) return std::nullopt;
    return record.delta_bytes;  // allocated before capture: never part of the sum
  }
  const int64_t bytes = live->second;
  AddToCpuTotal(-bytes);
  live_cpu_bytes_.erase(live);
  return -bytes;
}

void MemoryRecords::OnMemory(ThreadTable::Index thread, const wire::MemoryRecord& record) {
  schema::MemoryEventRow row;
  row.time_ns = context_.TimeOf(record.ticks);
  context_.threads.SawTime(thread, row.time_ns, row.time_ns);
  row.delta_bytes = DeltaOf(record);
  if (!context_.Wanted(row.time_ns, row.time_ns)) return;
  row.id = context_.next_id.memory_event++;
  row.tid = context_.threads.RowTid(thread);
  row.device_type = DeviceTypeName(record.device_type);
  if (record.device_type != kCpu && record.device_index >= 0) row.device_id = record.device_index;
  row.address = static_cast<int64_t>(record.address);
  row.allocated_bytes = record.device_type == kCpu ? std::optional(cpu_allocated_bytes_)
                                                   : KnownBytes(record.allocated_bytes);
  row.reserved_bytes = KnownBytes(record.reserved_bytes);
  row.is_oom = (record.header.flags & wire::kMemoryOutOfMemory) != 0 ? 1 : 0;
  context_.rows.Append(std::move(row));
}

}  // namespace tutti::collector::convert
