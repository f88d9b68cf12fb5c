// Layouts of extended payloads that programs register: written into the trace as text that
// needs no NVTX header to read (wire::PayloadSchemaRecord), and kept for finding messages
// and strings in payloads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/sources/nvtx/registry.h"

namespace tutti::tracer::nvtx {

// How a string stands in a payload.
enum class StringForm : uint8_t {
  kNone,
  kPointer,     // const char*
  kRegistered,  // nvtxStringHandle_t
  kEmbedded,    // |length| bytes, zero-terminated if shorter
};

struct StringField {
  StringForm form = StringForm::kNone;
  uint32_t offset = 0;
  uint32_t length = 0;
};

inline constexpr uint32_t kMaxStringFields = 16;

struct Schema {
  Schema* next;
  Domain* domain;
  uint64_t id;
  bool is_enum;
  uint64_t payload_bytes;  // 0 not fixed
  RegisteredText name;
  RegisteredText text;    // as PayloadSchemaRecord::text
  StringField message;    // the field that names the event, if any
  uint32_t string_count;  // pointers and handles, which are replaced by string indices
  StringField strings[kMaxStringFields];
};

// Registers a schema or an enumeration under the id that |attributes| give, |chained_id| if
// that is not 0, or else a new one, which is returned; 0 on bad attributes. A rank writes it
// at once.
uint64_t RegisterSchema(Domain& domain, const nvtxPayloadSchemaAttr_t* attributes,
                        uint64_t chained_id) noexcept;
uint64_t RegisterEnum(Domain& domain, const nvtxPayloadEnumAttr_t* attributes,
                      uint64_t chained_id) noexcept;

// The latest schema of that id in |domain|, or in another domain if it has none; nullptr if
// there is none.
const Schema* FindSchema(const Domain& domain, uint64_t id) noexcept;

// Bytes of a predefined NVTX type, 0 if it has no fixed size.
uint64_t PredefinedTypeBytes(uint64_t type) noexcept;

// Writes everything that was registered before the process became a rank.
void EmitSchemas() noexcept;

}  // namespace tutti::tracer::nvtx
