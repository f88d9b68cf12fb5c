// Extended NVTX payloads: bytes laid out by a schema that the program registered ->
// JSON. Schemas and bytes come from elsewhere; every offset is checked. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::collector::conventions {

struct PayloadField {
  std::string name;
  // "int8" … "uint64", "float16" … "float64", "bfloat16", "byte", "address", "char",
  // "string" (64-bit number of a registered string) or "schema:N" (structure or enum N).
  std::string type;
  uint64_t offset = 0;        // in bytes from the structure's start
  uint64_t array_length = 0;  // 0: one value
};

struct PayloadSchema {
  bool is_enum = false;
  uint64_t enum_bytes = 4;           // of an enum's values: 1, 2, 4 or 8
  std::vector<PayloadField> fields;  // of a structure
  std::map<int64_t, std::string> enumerators;
};

class PayloadDecoder {
 public:
  // Text of a registered string; absent if there is none of that number.
  using TextOf = std::function<std::optional<std::string>(uint64_t)>;

  // |text_of| may be empty: fields of type "string" are then absent.
  explicit PayloadDecoder(TextOf text_of) : text_of_(std::move(text_of)) {}

  // Later definitions of a schema replace earlier ones.
  void Define(uint64_t domain, uint64_t id, PayloadSchema schema);

  // An object of the schema's fields that are wholly there, or {"schema_id", "bytes": hex}
  // where the schema is not known.
  nlohmann::ordered_json Decode(uint64_t domain, uint64_t id,
                                std::span<const std::byte> bytes) const;

 private:
  using Key = std::pair<uint64_t, uint64_t>;  // domain, schema id
  struct Reader;

  TextOf text_of_;
  std::map<Key, PayloadSchema> schemas_;
};

// One line of JSON; bytes that are not UTF-8 become U+FFFD.
std::string ToText(const nlohmann::ordered_json& json);

}  // namespace tutti::collector::conventions
