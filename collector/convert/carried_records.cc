#include "collector/convert/carried_records.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "collector/convert/cupti/activity_layout.h"

namespace tutti::collector::convert {
namespace {

using wire::RecordKind;

uint64_t HashOf(std::span<const std::byte> bytes) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100000001b3;
  return hash;
}

// Of CUPTI's records, those that describe what others name by a number.
bool DescribesGpu(std::span<const std::byte> data) {
  uint32_t kind = 0;
  if (data.size() < sizeof(kind)) return false;
  std::memcpy(&kind, data.data(), sizeof(kind));
  using cupti::ActivityKind;
  return kind == static_cast<uint32_t>(ActivityKind::kDevice) ||
         kind == static_cast<uint32_t>(ActivityKind::kContext) ||
         kind == static_cast<uint32_t>(ActivityKind::kStream);
}

// What a record is the newest of; absent if nothing refers to it.
std::optional<std::pair<uint64_t, uint64_t>> Identity(uint32_t ring, const RecordView& record) {
  switch (record.header.kind) {
    case RecordKind::kThread:
      return std::pair<uint64_t, uint64_t>(ring, 0);
    case RecordKind::kThreadName:
      return std::pair<uint64_t, uint64_t>(record.As<wire::ThreadNameRecord>().tid, 0);
    case RecordKind::kCommunicator:
      return std::pair<uint64_t, uint64_t>(record.As<wire::CommunicatorRecord>().communicator, 0);
    case RecordKind::kNcclCommunicator:
      return std::pair(record.As<wire::NcclCommunicatorRecord>().hash, uint64_t{0});
    case RecordKind::kPayloadSchema: {
      const auto schema = record.As<wire::PayloadSchemaRecord>();
      return std::pair<uint64_t, uint64_t>(schema.schema_id, schema.domain);
    }
    case RecordKind::kNote: {
      const auto note = record.As<wire::NoteRecord>();
      return std::pair<uint64_t, uint64_t>(note.header.name,
                                           (uint64_t{note.source} << 32) | note.detail);
    }
    case RecordKind::kActivity: {
      const auto data = record.bytes.subspan(sizeof(wire::ActivityRecord));
      if (!DescribesGpu(data)) return std::nullopt;
      return std::pair(HashOf(data), uint64_t{0});
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

bool IsCarried(RecordKind kind) {
  switch (kind) {
    case RecordKind::kThread:
    case RecordKind::kThreadName:
    case RecordKind::kCommunicator:
    case RecordKind::kNcclCommunicator:
    case RecordKind::kPayloadSchema:
    case RecordKind::kNote:
    case RecordKind::kActivity:
      return true;
    default:
      return false;
  }
}

bool IsEvent(RecordKind kind) {
  return kind != RecordKind::kThread && kind != RecordKind::kLoss &&
         kind != RecordKind::kThreadName && kind != RecordKind::kNcclCommunicator;
}

void CarriedRecords::Take(uint32_t ring, const RecordView& record, bool count) {
  if (count && IsEvent(record.header.kind)) ++events_;
  const auto identity = Identity(ring, record);
  if (!identity) return;
  const Key key{static_cast<uint8_t>(record.header.kind), identity->first, identity->second};
  const auto known = records_.find(key);
  if (known == records_.end() && records_.size() >= kMostRecords) return;
  Carried& carried = known == records_.end() ? records_[key] : known->second;
  carried.order = next_order_++;
  carried.ring = ring;
  carried.cells.assign(record.bytes.begin(), record.bytes.end());
}

void CarriedRecords::Look(uint32_t ring, std::span<const std::byte> cells) {
  DecodeCounts counts;
  DecodeCells(cells, counts, [&](const RecordView& record) { Take(ring, record, true); });
}

void CarriedRecords::LookCarried(std::span<const std::byte> payload) {
  ForEachCarried(payload, [&](uint32_t ring, std::span<const std::byte> cells) {
    DecodeCounts counts;
    DecodeCells(cells, counts, [&](const RecordView& record) { Take(ring, record, false); });
  });
}

std::string CarriedRecords::Payload() const {
  std::vector<const Carried*> ordered;
  for (const auto& [key, carried] : records_) ordered.push_back(&carried);
  std::ranges::sort(ordered, {}, &Carried::order);
  std::string payload;
  for (const Carried* carried : ordered) {
    const spool::CarriedHeader header{
        carried->ring, static_cast<uint32_t>(carried->cells.size() / wire::kCellBytes)};
    payload.append(reinterpret_cast<const char*>(&header), sizeof(header));
    payload.append(reinterpret_cast<const char*>(carried->cells.data()), carried->cells.size());
  }
  return payload;
}

}  // namespace tutti::collector::convert
