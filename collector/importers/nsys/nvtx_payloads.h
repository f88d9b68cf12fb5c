// Payloads of NVTX events: the bytes in NVTX_EVENTS.binaryData by the schemas in
// NVTX_PAYLOAD_SCHEMA_ENTRIES and NVTX_PAYLOAD_ENUM_ENTRIES.
// Layout of the bytes (Nsight Systems 2026, little-endian): four 64-bit words, domain,
// schema, size and offset of the payload, then the payload. Types are the numbers of
// nvToolsExtPayload.h (NVTX_PAYLOAD_ENTRY_TYPE_…).
// One thread.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "collector/conventions/nvtx_payload.h"
#include "collector/importers/nsys/export_database.h"
#include "common/status.h"
#include "schema/value.h"

namespace tutti::collector::importers::nsys {

class NvtxPayloads {
 public:
  static Result<NvtxPayloads> Read(ExportDatabase& database);

  // |data| is a blob, or text of the bytes or of their hexadecimal digits, as exports of
  // different ages hold them. Absent if they can't be a payload.
  std::optional<nlohmann::ordered_json> Decode(const schema::Value& data) const;

 private:
  NvtxPayloads() : decoder_({}) {}
  Status ReadStructures(ExportDatabase& database);
  Status ReadEnums(ExportDatabase& database);

  conventions::PayloadDecoder decoder_;
};

// Name of a payload's scalar type for PayloadField::type, "" for one that has none.
std::string PayloadTypeName(int64_t type);

}  // namespace tutti::collector::importers::nsys
