// Extended NVTX payloads: bytes laid out by a schema that the program registered ->
// JSON. Both come from the traced process; every offset is checked. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/convert/string_table.h"
#include "common/wire/record.h"

namespace tutti::collector::convert {

class PayloadSchemas {
 public:
  explicit PayloadSchemas(const StringTable& strings) : strings_(strings) {}

  // Later definitions of a schema replace earlier ones.
  void Define(const wire::PayloadSchemaRecord& record);

  // JSON text of one payload: an object of the schema's fields, or {"bytes": hex} where
  // the schema is not known. A payload that was cut has "truncated_bytes" beside the
  // fields that are whole.
  std::string ToJson(const wire::PayloadRecord& record, std::span<const std::byte> data) const;

 private:
  struct Field {
    std::string name;
    std::string type;
    uint64_t offset;
    uint64_t array_length;
  };
  struct Schema {
    bool is_enum = false;
    std::vector<Field> fields;  // of a structure
    std::map<int64_t, std::string> enumerators;
  };
  using Key = std::pair<uint32_t, uint64_t>;  // domain, schema id
  struct Decoder;

  static Schema Parse(std::string_view text, bool is_enum);

  const StringTable& strings_;
  std::map<Key, Schema> schemas_;
};

}  // namespace tutti::collector::convert
