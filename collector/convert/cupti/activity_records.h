// Activity records of CUPTI -> kernel, memcpy, memset, sync, api_call, overhead, memory_event,
// device, stream, and collective_source for NCCL's kernels. The records come in no order of
// time. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/convert/context.h"
#include "collector/convert/cupti/activity_layout.h"
#include "collector/convert/cupti/device_table.h"
#include "collector/convert/cupti/held_memory.h"
#include "collector/convert/gpu_ranges.h"
#include "collector/convert/nccl_records.h"
#include "common/wire/record.h"

namespace tutti::collector::convert::cupti {

class ActivityRecords {
 public:
  // |nccl| gets launches and NCCL's kernels, |gpu_ranges| launches and all work; all must outlive
  // this.
  ActivityRecords(Context& context, NcclRecords& nccl, GpuRanges& gpu_ranges)
      : context_(context), nccl_(nccl), gpu_ranges_(gpu_ranges) {}

  // |data|: what follows |record| in its cells.
  void OnActivity(const wire::ActivityRecord& record, std::span<const std::byte> data);

  // Whether the process's own allocator of GPU memory was seen: then the driver's allocations
  // are its segments.
  void OnAllocatorEvent() { has_allocator_ = true; }

  // Rows of devices and streams that are new.
  void WriteChanged() { devices_.WriteChanged(context_.rows); }

  // The id of the GPU with |uuid|, absent if no record told of it.
  std::optional<int64_t> DeviceOfUuid(const std::string& uuid) const {
    return devices_.DeviceOfUuid(uuid);
  }

  // What can only be written in order of time. Call once.
  void Finish();

 private:
  struct DeviceTimes {
    std::optional<int64_t> begin_ns = {};  // both empty: untimed
    std::optional<int64_t> end_ns = {};
  };
  struct Names {
    int64_t kernel_id = -1;  // demangled
    int64_t api_id = -1;
    bool is_launch = false;
    bool gives_work = false;  // launches, copies or fills
    std::optional<conventions::NcclKernel> nccl = {};
  };
  // The driver's allocations and releases, as they came.
  struct MemoryOperation {
    uint64_t ticks;
    schema::MemoryEventRow row;
    int64_t bytes;
    bool is_allocation;
    int64_t pool_bytes = -1;  // of the pool that it came from, after it; -1 none
    int64_t pool_used = -1;
  };

  bool CheckVersion(const wire::ActivityRecord& record, uint32_t kind);
  DeviceTimes TimesOf(uint64_t start_ticks, uint64_t end_ticks);

  template <typename Row, typename Layout>
  std::optional<Row> DeviceWorkOf(const ActivityView& view, int64_t& next_id);
  void OnKernel(const wire::ActivityRecord& record, const ActivityView& view);
  void OnMemcpy(const ActivityView& view, bool between_devices);
  void OnMemset(const ActivityView& view);
  void OnGraph(const ActivityView& view);
  void OnApi(const wire::ActivityRecord& record, const ActivityView& view, const char* api);
  void OnSynchronization(const ActivityView& view);
  void OnOverhead(const ActivityView& view);
  void OnJit(const ActivityView& view);
  void AddOverhead(const std::string& kind, std::optional<uint32_t> thread_id,
                   std::optional<int64_t> device_id, Span span);
  void OnMemory(const ActivityView& view);
  void WriteMemory();
  void WritePool(const MemoryOperation& event, int64_t time_ns);

  Context& context_;
  NcclRecords& nccl_;
  GpuRanges& gpu_ranges_;
  DeviceTable devices_;
  std::unordered_map<uint32_t, Names> names_;  // by string index
  std::vector<MemoryOperation> memory_;
  HeldMemory held_;
  std::map<int64_t, int64_t> pool_counters_;   // by GPU: id of the first of two
  std::array<uint16_t, 64> expected_bytes_{};  // by kind, of expected_version_
  uint32_t expected_version_ = 0;
  bool has_allocator_ = false;
};

}  // namespace tutti::collector::convert::cupti
