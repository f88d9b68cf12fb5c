// Activity records as a test spells them out. For tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "collector/convert/cupti/activity_layout.h"
#include "common/wire/record.h"

namespace tutti::collector::convert::cupti::testing {

class ActivityBuilder {
 public:
  // A record of |kind| as long as CUPTI |version| writes it, zero but for its kind.
  explicit ActivityBuilder(ActivityKind kind, uint32_t version = kNewestVersion)
      : version_(version), bytes_(RecordBytes(static_cast<uint32_t>(kind), version)) {
    if (bytes_.empty()) return;  // no such kind
    Set(kKind, static_cast<uint32_t>(kind));
  }

  template <typename T, typename Value>
  ActivityBuilder& Set(Field<T> field, Value value) {
    const auto stored = static_cast<T>(value);
    std::memcpy(bytes_.data() + field.offset, &stored, sizeof(stored));
    return *this;
  }

  // As the tracer hands it on: with |name| (a string index) in whole cells.
  std::vector<std::byte> Cells(uint32_t name = 0) const {
    wire::ActivityRecord record{};
    const size_t cells = (sizeof(record) + bytes_.size() + wire::kCellBytes - 1) / wire::kCellBytes;
    std::vector<std::byte> buffer(cells * wire::kCellBytes);
    for (size_t i = 0; i < bytes_.size(); ++i) buffer[sizeof(record) + i] = bytes_[i];
    record.header = {wire::RecordKind::kActivity, static_cast<uint8_t>(cells), 0, name};
    record.cupti_version = version_;
    record.bytes = static_cast<uint16_t>(bytes_.size());
    std::memcpy(buffer.data(), &record, sizeof(record));
    return buffer;
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  uint32_t version_;
  std::vector<std::byte> bytes_;
};

}  // namespace tutti::collector::convert::cupti::testing
