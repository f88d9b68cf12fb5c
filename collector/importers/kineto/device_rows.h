// Work of GPUs (and NPUs) -> kernel, memcpy, memset, sync, gpu_range, stream, device.
// One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "collector/importers/kineto/context.h"

namespace tutti::collector::importers::kineto {

// The stream of a GPU that an event is on.
struct Lane {
  int64_t device_id = 0;
  int64_t stream_id = 0;
};

class DeviceRows {
 public:
  explicit DeviceRows(Context& context) : context_(context) {}

  // A kernel; the row as it was written, for what else is known of it. Absent: left out.
  std::optional<schema::KernelRow> OnKernel(const RawEvent& event);
  void OnMemcpy(const RawEvent& event);
  void OnMemset(const RawEvent& event);
  void OnSync(const RawEvent& event);
  void OnGpuRange(const RawEvent& event);
  // A task of an Ascend NPU, which has "Task Type" instead of a category.
  void OnAscendTask(const RawEvent& event);

  // A device as deviceProperties tells it.
  void AddDevice(schema::DeviceRow row);

  // The device with most work; absent without any.
  std::optional<int64_t> BusiestDevice() const;
  // Writes devices and streams.
  void Finish();

 private:
  Lane LaneOf(const RawEvent& event);
  void Saw(const Lane& lane, Track& track);
  void AddSync(const RawEvent& event, std::string_view kind, const Lane& lane);

  Context& context_;
  std::map<int64_t, schema::DeviceRow> devices_;
  std::map<std::pair<int64_t, int64_t>, size_t> streams_;  // to the track
  Track* last_track_ = nullptr;
  Lane last_lane_;
};

}  // namespace tutti::collector::importers::kineto
