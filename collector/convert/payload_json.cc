#include "collector/convert/payload_json.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "common/text.h"

namespace tutti::collector::convert {
namespace {

template <typename Number>
Number ParseNumber(std::string_view text) {
  Number number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The text before |separator|, removed with the separator from |rest|.
std::string_view TakeUntil(std::string_view& rest, char separator) {
  const size_t at = std::min(rest.find(separator), rest.size());
  const std::string_view head = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return head;
}

conventions::PayloadSchema Parse(std::string_view text, bool is_enum) {
  conventions::PayloadSchema schema;
  schema.is_enum = is_enum;
  while (!text.empty()) {
    std::string_view line = TakeUntil(text, '\n');
    const std::string name = ToStorableText(TakeUntil(line, '\t'));
    if (is_enum) {
      schema.enumerators[ParseNumber<int64_t>(line)] = name;
      continue;
    }
    const std::string type(TakeUntil(line, '\t'));
    const auto offset = ParseNumber<uint64_t>(TakeUntil(line, '\t'));
    schema.fields.push_back({name, type, offset, ParseNumber<uint64_t>(line)});
  }
  return schema;
}

std::optional<std::string> TextOf(const StringTable& strings, uint64_t index) {
  if (index > UINT32_MAX) return std::nullopt;
  return std::string(strings.TextOf(static_cast<uint32_t>(index)));
}

}  // namespace

PayloadSchemas::PayloadSchemas(const StringTable& strings)
    : strings_(strings), decoder_([&strings](uint64_t index) { return TextOf(strings, index); }) {}

void PayloadSchemas::Define(const wire::PayloadSchemaRecord& record) {
  const bool is_enum = (record.header.flags & wire::kPayloadEnum) != 0;
  decoder_.Define(record.domain, record.schema_id, Parse(strings_.TextOf(record.text), is_enum));
}

std::string PayloadSchemas::ToJson(const wire::PayloadRecord& record,
                                   std::span<const std::byte> data) const {
  nlohmann::ordered_json json = decoder_.Decode(record.domain, record.schema_id, data);
  if (record.total_bytes > record.bytes) {
    json["truncated_bytes"] = record.total_bytes - record.bytes;
  }
  return conventions::ToText(json);
}

}  // namespace tutti::collector::convert
