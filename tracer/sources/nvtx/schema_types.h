// NVTX's payload types in words and sizes, and the alignment rules by which fields without
// an offset are laid out (nvToolsExtPayload.h, "Types of entries in a payload schema").
#pragma once

#include <cstdint>

#include "tracer/sources/nvtx/schema.h"

namespace tutti::tracer::nvtx {

struct FieldType {
  char name[32];          // as PayloadSchemaRecord names it
  uint64_t bytes;         // of the whole field, 0 unknown
  uint64_t alignment;     // natural, 1 if unknown
  uint64_t array_length;  // 0 not an array
  StringForm string;
};

// Type of an entry of a schema that is being registered in |domain|.
FieldType TypeOf(const Domain& domain, const nvtxPayloadSchemaEntry_t& entry) noexcept;

// Places fields one after another.
class FieldCursor {
 public:
  // |pack_alignment| caps the alignment of fields, 0 does not.
  explicit FieldCursor(uint64_t pack_alignment) noexcept : pack_alignment_(pack_alignment) {}

  // Offset of the next field: |given| if it is not 0, else by alignment; -1 where it depends
  // on a field before it whose size is not known.
  int64_t Place(uint64_t given, const FieldType& type) noexcept;

 private:
  uint64_t pack_alignment_;
  uint64_t end_ = 0;
  bool end_known_ = true;
};

}  // namespace tutti::tracer::nvtx
