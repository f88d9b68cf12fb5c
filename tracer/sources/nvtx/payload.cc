#include "tracer/sources/nvtx/payload.h"

#include <cstring>

#include "tracer/sources/nvtx/schema.h"

namespace tutti::tracer::nvtx {
namespace {

bool IsCStringType(uint64_t schema_id) noexcept {
  return schema_id == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING ||
         schema_id == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;
}

// Programs may leave the size to the tool (SIZE_MAX). 0 if it can't be known.
uint64_t PayloadBytes(const nvtxPayloadData_t& payload, const Schema* schema) noexcept {
  if (payload.payload == nullptr) return 0;
  if (payload.size != SIZE_MAX) return payload.size;
  if (schema != nullptr) return schema->payload_bytes;
  if (IsCStringType(payload.schemaId)) {
    return std::strlen(static_cast<const char*>(payload.payload));
  }
  return PredefinedTypeBytes(payload.schemaId);
}

// Index of the string that |field| of |data| holds or refers to.
uint32_t FieldString(Entry& entry, const std::byte* data, const StringField& field) noexcept {
  const std::byte* at = data + field.offset;
  switch (field.form) {
    case StringForm::kPointer: {
      const char* text;
      std::memcpy(&text, at, sizeof(uint64_t));
      return text != nullptr ? entry.Intern(text, std::strlen(text)) : wire::kNoString;
    }
    case StringForm::kRegistered: {
      nvtxStringHandle_t handle;
      std::memcpy(&handle, at, sizeof(uint64_t));
      String* string = StringOf(handle);
      return string != nullptr ? string->text.Index(entry) : wire::kNoString;
    }
    case StringForm::kEmbedded: {
      const auto* text = reinterpret_cast<const char*>(at);
      return entry.InternText({text, strnlen(text, field.length)});
    }
    case StringForm::kNone:
      break;
  }
  return wire::kNoString;
}

bool Fits(const StringField& field, uint64_t bytes) noexcept {
  const uint64_t field_bytes =
      field.form == StringForm::kEmbedded ? field.length : sizeof(uint64_t);
  return field.form != StringForm::kNone && field.offset + field_bytes <= bytes;
}

void EmitPayload(Entry& entry, Domain& domain, const nvtxPayloadData_t& payload,
                 uint64_t event_ticks) noexcept {
  const Schema* schema = FindSchema(domain, payload.schemaId);
  const uint64_t total_bytes = PayloadBytes(payload, schema);
  const uint64_t bytes =
      total_bytes < wire::kMaxPayloadBytes ? total_bytes : wire::kMaxPayloadBytes;
  const auto cells = static_cast<uint8_t>(
      (sizeof(wire::PayloadRecord) + bytes + wire::kCellBytes - 1) / wire::kCellBytes);
  const wire::PayloadRecord record{
      .header = HeaderOf(wire::RecordKind::kPayload, wire::kNoString, 0, cells),
      .schema_id = payload.schemaId,
      .event_ticks = event_ticks,
      .bytes = static_cast<uint32_t>(bytes),
      .total_bytes = static_cast<uint32_t>(total_bytes < UINT32_MAX ? total_bytes : UINT32_MAX),
      .domain = domain.name.Index(entry),
      .reserved0 = 0};
  alignas(wire::PayloadRecord) std::byte buffer[wire::kMaxRecordCells * wire::kCellBytes];
  std::memset(buffer + (cells - 1) * wire::kCellBytes, 0, wire::kCellBytes);
  std::memcpy(buffer, &record, sizeof(record));
  std::byte* data = buffer + sizeof(record);
  if (bytes != 0) std::memcpy(data, payload.payload, bytes);
  for (uint32_t i = 0; schema != nullptr && i < schema->string_count; ++i) {
    if (!Fits(schema->strings[i], bytes)) continue;
    const uint64_t index = FieldString(entry, data, schema->strings[i]);
    std::memcpy(data + schema->strings[i].offset, &index, sizeof(index));
  }
  entry.EmitCells(buffer, cells);
}

}  // namespace

void EmitPayloads(Entry& entry, Domain& domain, const Event& event, uint64_t event_ticks) noexcept {
  for (size_t i = 0; i < event.payload_count; ++i) {
    EmitPayload(entry, domain, event.payloads[i], event_ticks);
  }
}

uint32_t PayloadMessage(Entry& entry, Domain& domain, const Event& event) noexcept {
  for (size_t i = 0; i < event.payload_count; ++i) {
    const nvtxPayloadData_t& payload = event.payloads[i];
    const Schema* schema = FindSchema(domain, payload.schemaId);
    if (schema != nullptr && Fits(schema->message, PayloadBytes(payload, schema))) {
      return FieldString(entry, static_cast<const std::byte*>(payload.payload), schema->message);
    }
  }
  return wire::kNoString;
}

}  // namespace tutti::tracer::nvtx
