#include "collector/conventions/nvtx_payload.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "common/text.h"

namespace tutti::collector::conventions {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxNesting = 8;
constexpr uint64_t kMaxArrayLength = 1024;  // more than fits into a payload of bytes

std::string ToHex(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const std::byte byte : bytes) {
    hex += kDigits[std::to_integer<unsigned>(byte) >> 4];
    hex += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return hex;
}

template <typename Number>
std::optional<Number> Load(std::span<const std::byte> bytes) {
  Number number;
  if (bytes.size() < sizeof(number)) return std::nullopt;
  std::memcpy(&number, bytes.data(), sizeof(number));
  return number;
}

template <typename Number>
std::optional<Json> LoadJson(std::span<const std::byte> bytes) {
  const std::optional<Number> number = Load<Number>(bytes);
  if (!number) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(*number)) return Json(std::isnan(*number) ? "nan" : "inf");
  }
  return Json(*number);
}

// IEEE 754 binary16 to double.
double HalfToDouble(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

std::optional<Json> FloatJson(double value) {
  if (std::isfinite(value)) return Json(value);
  return Json(std::isnan(value) ? "nan" : "inf");
}

std::optional<Json> LoadFloat16(std::span<const std::byte> bytes) {
  const auto bits = Load<uint16_t>(bytes);
  return bits ? FloatJson(HalfToDouble(*bits)) : std::nullopt;
}

std::optional<Json> LoadBfloat16(std::span<const std::byte> bytes) {
  const auto bits = Load<uint16_t>(bytes);
  return bits ? FloatJson(std::bit_cast<float>(static_cast<uint32_t>(*bits) << 16)) : std::nullopt;
}

struct ScalarType {
  std::string_view name;
  uint64_t bytes;
  std::optional<Json> (*load)(std::span<const std::byte>);
};
constexpr ScalarType kScalarTypes[] = {
    {"int8", 1, LoadJson<int8_t>},     {"int16", 2, LoadJson<int16_t>},
    {"int32", 4, LoadJson<int32_t>},   {"int64", 8, LoadJson<int64_t>},
    {"uint8", 1, LoadJson<uint8_t>},   {"uint16", 2, LoadJson<uint16_t>},
    {"uint32", 4, LoadJson<uint32_t>}, {"uint64", 8, LoadJson<uint64_t>},
    {"float16", 2, LoadFloat16},       {"bfloat16", 2, LoadBfloat16},
    {"float32", 4, LoadJson<float>},   {"float64", 8, LoadJson<double>},
    {"byte", 1, LoadJson<uint8_t>},    {"address", 8, LoadJson<uint64_t>},
};

const ScalarType* FindScalar(std::string_view name) {
  for (const ScalarType& type : kScalarTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

std::span<const std::byte> From(std::span<const std::byte> bytes, uint64_t offset) {
  return offset < bytes.size() ? bytes.subspan(offset) : std::span<const std::byte>();
}

std::optional<int64_t> LoadSigned(std::span<const std::byte> bytes, uint64_t width) {
  switch (width) {
    case 1:
      return Load<int8_t>(bytes);
    case 2:
      return Load<int16_t>(bytes);
    case 8:
      return Load<int64_t>(bytes);
    default:
      return Load<int32_t>(bytes);
  }
}

}  // namespace

void PayloadDecoder::Define(uint64_t domain, uint64_t id, PayloadSchema schema) {
  schemas_[{domain, id}] = std::move(schema);
}

// Reads the values of one payload; a value that is not wholly there is absent.
struct PayloadDecoder::Reader {
  const PayloadDecoder& decoder;
  uint64_t domain;

  Json Structure(const PayloadSchema& schema, std::span<const std::byte> bytes, int nesting) const {
    Json object = Json::object();
    for (const PayloadField& field : schema.fields) {
      std::optional<Json> value = FieldValue(field, From(bytes, field.offset), nesting);
      if (value) object[field.name] = std::move(*value);
    }
    return object;
  }

  std::optional<Json> FieldValue(const PayloadField& field, std::span<const std::byte> bytes,
                                 int nesting) const {
    if (field.array_length == 0) return Value(field.type, bytes, nesting);
    if (field.type == "char") return Characters(bytes, field.array_length);
    const ScalarType* scalar = FindScalar(field.type);
    if (scalar == nullptr || field.array_length > kMaxArrayLength) return std::nullopt;
    Json array = Json::array();
    for (uint64_t element = 0; element < field.array_length; ++element) {
      std::optional<Json> value = scalar->load(From(bytes, element * scalar->bytes));
      if (!value) break;
      array.push_back(std::move(*value));
    }
    return array;
  }

  std::optional<Json> Value(std::string_view type, std::span<const std::byte> bytes,
                            int nesting) const {
    constexpr std::string_view kNested = "schema:";
    if (const ScalarType* scalar = FindScalar(type)) return scalar->load(bytes);
    if (type == "char") return Characters(bytes, 1);
    if (type == "string") return Text(bytes);
    if (type.starts_with(kNested)) return Nested(type.substr(kNested.size()), bytes, nesting);
    return std::nullopt;
  }

  std::optional<Json> Nested(std::string_view number, std::span<const std::byte> bytes,
                             int nesting) const {
    uint64_t id = 0;
    std::from_chars(number.data(), number.data() + number.size(), id);
    const auto schema = decoder.schemas_.find({domain, id});
    if (schema == decoder.schemas_.end() || nesting >= kMaxNesting) return std::nullopt;
    if (!schema->second.is_enum) return Structure(schema->second, bytes, nesting + 1);
    const std::optional<int64_t> value = LoadSigned(bytes, schema->second.enum_bytes);
    if (!value) return std::nullopt;
    const auto name = schema->second.enumerators.find(*value);
    if (name == schema->second.enumerators.end()) return Json(*value);
    return Json(name->second);
  }

  static std::optional<Json> Characters(std::span<const std::byte> bytes, uint64_t length) {
    if (bytes.empty()) return std::nullopt;
    std::string text(reinterpret_cast<const char*>(bytes.data()),
                     std::min<uint64_t>(bytes.size(), length));
    return Json(ToStorableText(text.substr(0, text.find('\0'))));
  }

  std::optional<Json> Text(std::span<const std::byte> bytes) const {
    const std::optional<uint64_t> number = Load<uint64_t>(bytes);
    if (!number || !decoder.text_of_) return std::nullopt;
    const std::optional<std::string> text = decoder.text_of_(*number);
    return text ? std::optional<Json>(*text) : std::nullopt;
  }
};

Json PayloadDecoder::Decode(uint64_t domain, uint64_t id, std::span<const std::byte> bytes) const {
  const auto schema = schemas_.find({domain, id});
  if (schema != schemas_.end() && !schema->second.is_enum) {
    return Reader{*this, domain}.Structure(schema->second, bytes, 0);
  }
  Json json = Json::object();
  json["schema_id"] = id;
  json["bytes"] = ToHex(bytes);
  return json;
}

std::string ToText(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tutti::collector::conventions
