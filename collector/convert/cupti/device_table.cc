#include "collector/convert/cupti/device_table.h"

#include <array>
#include <cstdio>

#include "common/text.h"

namespace tutti::collector::convert::cupti {
namespace {

// Rows for more than this many of a kind are not made: a hostile process could claim any number.
constexpr size_t kMostContexts = 100'000;
constexpr size_t kMostStreams = 100'000;
constexpr size_t kMostDevices = 1'024;

constexpr uint32_t kStreamObject = 5;  // CUPTI_ACTIVITY_OBJECT_STREAM

// "GPU-12345678-1234-1234-1234-123456789abc", as the driver writes it.
std::optional<std::string> Uuid(const ActivityView& record, uint16_t offset, const char* prefix) {
  std::string text = prefix;
  bool is_set = false;
  for (uint16_t i = 0; i < 16; ++i) {
    const auto byte = record.Find(Field<uint8_t>{static_cast<uint16_t>(offset + i)});
    if (!byte) return std::nullopt;
    is_set |= *byte != 0;
    std::array<char, 4> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", *byte);
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits.data();
  }
  if (!is_set) return std::nullopt;
  return text;
}

}  // namespace

void DeviceTable::OnDevice(const ActivityView& record, std::string_view name) {
  const int64_t id = record.Int(DeviceRecord::kId);
  if (new_devices_.size() >= kMostDevices) return;
  if (const auto visible = record.Find(DeviceRecord::kIsVisible); visible && *visible == 0) return;
  schema::DeviceRow& row = new_devices_[id];
  row.id = id;
  row.name = ToStorableText(name);
  row.uuid = record.Get(DeviceRecord::kIsMig) != 0
                 ? Uuid(record, DeviceRecord::kMigUuidOffset, "MIG-")
                 : Uuid(record, DeviceRecord::kUuidOffset, "GPU-");
  if (row.uuid && device_of_uuid_.size() < kMostDevices) device_of_uuid_[*row.uuid] = id;
  row.sm_count = record.Int(DeviceRecord::kSmCount);
  row.memory_bytes = record.Int(DeviceRecord::kMemoryBytes);
  row.compute_capability = std::to_string(record.Get(DeviceRecord::kMajor)) + "." +
                           std::to_string(record.Get(DeviceRecord::kMinor));
  row.warp_size = record.Int(DeviceRecord::kWarpSize);
  row.max_threads_per_sm = static_cast<int64_t>(uint64_t{record.Get(DeviceRecord::kMaxWarpsPerSm)} *
                                                record.Get(DeviceRecord::kWarpSize));
  row.registers_per_sm = record.Int(DeviceRecord::kRegistersPerSm);
  row.shared_bytes_per_sm = record.Int(DeviceRecord::kSharedBytesPerSm);
  changed_ = true;
}

std::optional<int64_t> DeviceTable::DeviceOfUuid(const std::string& uuid) const {
  const auto found = device_of_uuid_.find(uuid);
  if (found == device_of_uuid_.end()) return std::nullopt;
  return found->second;
}

void DeviceTable::OnContext(const ActivityView& record) {
  if (device_of_context_.size() >= kMostContexts) return;
  device_of_context_[record.Int(DeviceContextRecord::kContextId)] =
      record.Int(DeviceContextRecord::kDeviceId);
  changed_ = true;
}

DeviceTable::Stream* DeviceTable::Find(int64_t context_id, int64_t stream_id) {
  if (streams_.size() >= kMostStreams && !streams_.contains({context_id, stream_id})) {
    return nullptr;
  }
  Stream& stream = streams_[{context_id, stream_id}];
  stream.changed = true;
  changed_ = true;
  return &stream;
}

void DeviceTable::OnStream(const ActivityView& record) {
  Stream* stream = Find(record.Int(StreamRecord::kContextId), record.Int(StreamRecord::kStreamId));
  if (stream == nullptr) return;
  stream->priority = static_cast<int32_t>(record.Get(StreamRecord::kPriority));
}

void DeviceTable::OnName(const ActivityView& record, std::string_view name) {
  if (record.Get(NameRecord::kObjectKind) != kStreamObject || name.empty()) return;
  Stream* stream =
      Find(record.Int(NameRecord::kThreadOrContextId), record.Int(NameRecord::kStreamId));
  if (stream == nullptr) return;
  stream->name = ToStorableText(name);
  stream->device_id = record.Int(NameRecord::kProcessOrDeviceId);
}

void DeviceTable::Saw(int64_t device_id, int64_t context_id, int64_t stream_id) {
  const Key key{context_id, stream_id};
  if (key == last_seen_) return;
  last_seen_ = key;
  const auto known = streams_.find(key);
  if (known != streams_.end() && known->second.device_id) return;
  if (Stream* stream = Find(context_id, stream_id)) stream->device_id = device_id;
}

std::optional<int64_t> DeviceTable::DeviceOf(int64_t context_id) const {
  const auto device = device_of_context_.find(context_id);
  if (device == device_of_context_.end()) return std::nullopt;
  return device->second;
}

void DeviceTable::WriteChanged(RowOutput& rows) {
  if (!changed_) return;
  changed_ = false;
  for (auto& [id, row] : new_devices_) rows.Append(std::move(row));
  new_devices_.clear();
  for (auto& [key, stream] : streams_) {
    if (!stream.device_id) stream.device_id = DeviceOf(key.first);
    if (!stream.changed || !stream.device_id) continue;
    stream.changed = false;
    schema::StreamRow row;
    row.device_id = *stream.device_id;
    row.stream_id = key.second;
    row.name = stream.name;
    row.priority = stream.priority;
    rows.Append(std::move(row));
  }
}

}  // namespace tutti::collector::convert::cupti
