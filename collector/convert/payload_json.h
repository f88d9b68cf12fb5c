// Extended NVTX payloads as the tracer hands them on: schemas in the text form of
// wire::PayloadSchemaRecord, payloads as bytes -> JSON. Both come from the traced
// process. One thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "collector/conventions/nvtx_payload.h"
#include "collector/convert/string_table.h"
#include "common/wire/record.h"

namespace tutti::collector::convert {

class PayloadSchemas {
 public:
  // |strings| must outlive this.
  explicit PayloadSchemas(const StringTable& strings);

  // Later definitions of a schema replace earlier ones.
  void Define(const wire::PayloadSchemaRecord& record);

  // JSON text of one payload: an object of the schema's fields, or {"bytes": hex} where
  // the schema is not known. A payload that was cut has "truncated_bytes" beside the
  // fields that are whole.
  std::string ToJson(const wire::PayloadRecord& record, std::span<const std::byte> data) const;

 private:
  const StringTable& strings_;
  conventions::PayloadDecoder decoder_;
};

}  // namespace tutti::collector::convert
