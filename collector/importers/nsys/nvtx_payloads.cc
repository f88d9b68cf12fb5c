#include "collector/importers/nsys/nvtx_payloads.h"

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "collector/importers/nsys/table_cursor.h"

namespace tutti::collector::importers::nsys {
namespace {

constexpr int64_t kFirstSchemaId = int64_t{1} << 24;  // NVTX_PAYLOAD_SCHEMA_ID_STATIC_START
constexpr int64_t kArrayKindShift = 4;                // of NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_…
constexpr int64_t kArrayKindMask = 7;
constexpr int64_t kFixedSizeArray = 1;
constexpr size_t kHeaderBytes = 32;

using SchemaKey = std::pair<int64_t, int64_t>;  // domain, schema

struct TypeName {
  int64_t type;
  const char* name;
  uint64_t bytes;
};
constexpr TypeName kTypes[] = {
    {1, "char", 1},     {2, "uint8", 1},    {3, "int16", 2},    {4, "uint16", 2},
    {5, "int32", 4},    {6, "uint32", 4},   {7, "int64", 8},    {8, "uint64", 8},
    {9, "int64", 8},    {10, "uint64", 8},  {11, "int8", 1},    {12, "uint8", 1},
    {13, "int16", 2},   {14, "uint16", 2},  {15, "int32", 4},   {16, "uint32", 4},
    {17, "int64", 8},   {18, "uint64", 8},  {19, "float32", 4}, {20, "float64", 8},
    {22, "uint64", 8},  {23, "address", 8}, {25, "char", 1},    {32, "byte", 1},
    {42, "float16", 2}, {43, "float32", 4}, {44, "float64", 8}, {50, "bfloat16", 2},
    {68, "uint32", 4},  {69, "uint32", 4},  {70, "uint64", 8},  {71, "uint32", 4},
    {72, "uint64", 8},  {73, "uint32", 4},  {74, "uint64", 8},
};

const TypeName* FindType(int64_t type) {
  for (const TypeName& known : kTypes) {
    if (known.type == type) return &known;
  }
  return nullptr;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The bytes that |hex| spells; absent if it spells none.
std::optional<std::string> FromHex(std::string_view hex) {
  if (hex.starts_with("0x") || hex.starts_with("0X")) hex.remove_prefix(2);
  if (hex.empty() || hex.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int high = HexDigit(hex[i]);
    const int low = HexDigit(hex[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

std::optional<std::string> BytesOf(const schema::Value& data) {
  if (const auto* blob = std::get_if<schema::Blob>(&data)) return blob->bytes;
  const auto* text = std::get_if<std::string>(&data);
  if (text == nullptr) return std::nullopt;
  if (auto bytes = FromHex(*text)) return bytes;
  return *text;
}

uint64_t WordAt(const std::string& bytes, size_t at) {
  uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof(word));
  return word;
}

enum EntryColumn : size_t { kDomain, kSchema, kFlags, kType, kName, kDetail, kOffset };

// An entry as a field. |next_offset| is where it lies if the entry doesn't say.
conventions::PayloadField FieldOf(TableCursor& row, uint64_t next_offset) {
  conventions::PayloadField field;
  const int64_t type = row.Int(kType).value_or(0);
  field.name = row.Text(kName).value_or("");
  field.type = type >= kFirstSchemaId ? "schema:" + std::to_string(type) : PayloadTypeName(type);
  const auto offset = row.Int(kOffset);
  field.offset = offset && *offset >= 0 ? static_cast<uint64_t>(*offset) : next_offset;
  const int64_t array = (row.Int(kFlags).value_or(0) >> kArrayKindShift) & kArrayKindMask;
  const auto length = row.Int(kDetail);
  if (array == kFixedSizeArray && length && *length > 0) {
    field.array_length = static_cast<uint64_t>(*length);
  }
  return field;
}

}  // namespace

std::string PayloadTypeName(int64_t type) {
  const TypeName* known = FindType(type);
  return known == nullptr ? "" : known->name;
}

Result<NvtxPayloads> NvtxPayloads::Read(ExportDatabase& database) {
  NvtxPayloads payloads;
  TUTTI_RETURN_IF_ERROR(payloads.ReadStructures(database));
  TUTTI_RETURN_IF_ERROR(payloads.ReadEnums(database));
  return payloads;
}

// Each process registers its schemas, so exports repeat them: of entries with one index
// the first counts.
Status NvtxPayloads::ReadStructures(ExportDatabase& database) {
  const ExportTable* table = database.Find("NVTX_PAYLOAD_SCHEMA_ENTRIES");
  if (table == nullptr || !table->Has("domainId") || !table->Has("schemaId") ||
      !table->Has("idx")) {
    return OkStatus();
  }
  TUTTI_ASSIGN_OR_RETURN(TableCursor row,
                         TableCursor::Open(database, *table,
                                           {"domainId", "schemaId", "flags", "type", "name",
                                            "arrayOrUnionDetail", "offset", "idx"},
                                           "ORDER BY domainId, schemaId, idx"));
  constexpr size_t kIndex = kOffset + 1;
  std::map<SchemaKey, conventions::PayloadSchema> schemas;
  std::map<SchemaKey, int64_t> last_index;
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool more, row.Next());
    if (!more) break;
    const auto domain = row.Int(kDomain);
    const auto id = row.Int(kSchema);
    const auto index = row.Int(kIndex);
    if (!domain || !id || !index) continue;
    const SchemaKey key{*domain, *id};
    const auto [last, is_first] = last_index.try_emplace(key, *index);
    if (!is_first && last->second == *index) continue;
    last->second = *index;
    conventions::PayloadSchema& schema = schemas[key];
    uint64_t next_offset = 0;
    if (!schema.fields.empty()) next_offset = schema.fields.back().offset + sizeof(uint64_t);
    schema.fields.push_back(FieldOf(row, next_offset));
  }
  for (auto& [key, schema] : schemas) {
    decoder_.Define(static_cast<uint64_t>(key.first), static_cast<uint64_t>(key.second),
                    std::move(schema));
  }
  return OkStatus();
}

Status NvtxPayloads::ReadEnums(ExportDatabase& database) {
  std::map<SchemaKey, conventions::PayloadSchema> enums;
  const ExportTable* table = database.Find("NVTX_PAYLOAD_ENUM_ENTRIES");
  if (table == nullptr) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(
      TableCursor row,
      TableCursor::Open(database, *table, {"domainId", "schemaId", "idx", "name", "value"}));
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool more, row.Next());
    if (!more) break;
    const auto domain = row.Int(0);
    const auto id = row.Int(1);
    auto value = row.Int(4);
    if (!value) value = row.Int(2);  // exports leave out the value 0
    const auto name = row.Text(3);
    if (domain && id && value && name) enums[{*domain, *id}].enumerators.emplace(*value, *name);
  }
  if (const ExportTable* sizes = database.Find("NVTX_PAYLOAD_ENUMS"); sizes != nullptr) {
    TUTTI_ASSIGN_OR_RETURN(TableCursor size,
                           TableCursor::Open(database, *sizes, {"domainId", "schemaId", "size"}));
    while (true) {
      TUTTI_ASSIGN_OR_RETURN(const bool more, size.Next());
      if (!more) break;
      const auto entry = enums.find({size.Int(0).value_or(0), size.Int(1).value_or(0)});
      const int64_t bytes = size.Int(2).value_or(0);
      if (entry != enums.end() && bytes > 0) {
        entry->second.enum_bytes = static_cast<uint64_t>(bytes);
      }
    }
  }
  for (auto& [key, schema] : enums) {
    schema.is_enum = true;
    decoder_.Define(static_cast<uint64_t>(key.first), static_cast<uint64_t>(key.second),
                    std::move(schema));
  }
  return OkStatus();
}

std::optional<nlohmann::ordered_json> NvtxPayloads::Decode(const schema::Value& data) const {
  const std::optional<std::string> bytes = BytesOf(data);
  if (!bytes || bytes->size() < kHeaderBytes) return std::nullopt;
  const uint64_t domain = WordAt(*bytes, 0);
  const uint64_t id = WordAt(*bytes, 8);
  const uint64_t size = WordAt(*bytes, 16);
  const uint64_t offset = WordAt(*bytes, 24);
  if (offset < kHeaderBytes || offset > bytes->size() || size > bytes->size() - offset) {
    return std::nullopt;
  }
  const auto* payload = reinterpret_cast<const std::byte*>(bytes->data()) + offset;
  return decoder_.Decode(domain, id, {payload, size});
}

}  // namespace tutti::collector::importers::nsys
