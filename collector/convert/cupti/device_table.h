// The GPUs, contexts and streams that a process's activity records tell of. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "collector/convert/cupti/activity_layout.h"
#include "collector/convert/row_output.h"

namespace tutti::collector::convert::cupti {

class DeviceTable {
 public:
  // |name|: what the record's name pointer pointed to.
  void OnDevice(const ActivityView& record, std::string_view name);
  void OnContext(const ActivityView& record);
  void OnStream(const ActivityView& record);
  // A name that the program gave an object (NVTX); those of streams are kept.
  void OnName(const ActivityView& record, std::string_view name);

  // Work ran there: the stream gets a row though no record announced it.
  void Saw(int64_t device_id, int64_t context_id, int64_t stream_id);

  std::optional<int64_t> DeviceOf(int64_t context_id) const;
  std::optional<int64_t> DeviceOfUuid(const std::string& uuid) const;

  // Rows of what is new since the last call. Streams of a context whose GPU is not known yet
  // wait.
  void WriteChanged(RowOutput& rows);

 private:
  struct Stream {
    std::optional<int64_t> priority = {};
    std::optional<std::string> name = {};
    std::optional<int64_t> device_id = {};
    bool changed = true;
  };
  using Key = std::pair<int64_t, int64_t>;  // context, stream

  Stream* Find(int64_t context_id, int64_t stream_id);

  std::map<int64_t, schema::DeviceRow> new_devices_;
  std::map<std::string, int64_t> device_of_uuid_;
  std::map<int64_t, int64_t> device_of_context_;
  std::map<Key, Stream> streams_;
  Key last_seen_{-1, -1};
  bool changed_ = false;
};

}  // namespace tutti::collector::convert::cupti
