#include "tracer/sources/nvtx/schema_types.h"

#include <cstdio>
#include <iterator>

namespace tutti::tracer::nvtx {
namespace {

struct PredefinedType {
  uint64_t type;
  const char* name;
  uint8_t bytes;
  uint8_t alignment;
};

template <typename Type>
constexpr PredefinedType Row(uint64_t type, const char* name) {
  return {type, name, sizeof(Type), alignof(Type)};
}

// Sizes are those of the platform that the program and we were built for.
constexpr PredefinedType kTypes[] = {
    Row<char>(NVTX_PAYLOAD_ENTRY_TYPE_CHAR, "char"),
    Row<unsigned char>(NVTX_PAYLOAD_ENTRY_TYPE_UCHAR, "uint8"),
    Row<short>(NVTX_PAYLOAD_ENTRY_TYPE_SHORT, "int16"),
    Row<unsigned short>(NVTX_PAYLOAD_ENTRY_TYPE_USHORT, "uint16"),
    Row<int>(NVTX_PAYLOAD_ENTRY_TYPE_INT, "int32"),
    Row<unsigned>(NVTX_PAYLOAD_ENTRY_TYPE_UINT, "uint32"),
    Row<long>(NVTX_PAYLOAD_ENTRY_TYPE_LONG, "int64"),
    Row<unsigned long>(NVTX_PAYLOAD_ENTRY_TYPE_ULONG, "uint64"),
    Row<long long>(NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG, "int64"),
    Row<unsigned long long>(NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG, "uint64"),
    Row<int8_t>(NVTX_PAYLOAD_ENTRY_TYPE_INT8, "int8"),
    Row<uint8_t>(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "uint8"),
    Row<int16_t>(NVTX_PAYLOAD_ENTRY_TYPE_INT16, "int16"),
    Row<uint16_t>(NVTX_PAYLOAD_ENTRY_TYPE_UINT16, "uint16"),
    Row<int32_t>(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "int32"),
    Row<uint32_t>(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "uint32"),
    Row<int64_t>(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "int64"),
    Row<uint64_t>(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "uint64"),
    Row<float>(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "float32"),
    Row<double>(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "float64"),
    Row<long double>(NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE, nullptr),
    Row<size_t>(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "uint64"),
    Row<void*>(NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS, "address"),
    Row<wchar_t>(NVTX_PAYLOAD_ENTRY_TYPE_WCHAR, "uint32"),
    Row<char>(NVTX_PAYLOAD_ENTRY_TYPE_CHAR8, "char"),
    Row<char16_t>(NVTX_PAYLOAD_ENTRY_TYPE_CHAR16, "uint16"),
    Row<char32_t>(NVTX_PAYLOAD_ENTRY_TYPE_CHAR32, "uint32"),
    Row<uint8_t>(NVTX_PAYLOAD_ENTRY_TYPE_BYTE, "byte"),
    {NVTX_PAYLOAD_ENTRY_TYPE_INT128, nullptr, 16, 16},
    {NVTX_PAYLOAD_ENTRY_TYPE_UINT128, nullptr, 16, 16},
    {NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16, "float16", 2, 2},
    {NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32, "float32", 4, 4},
    {NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64, "float64", 8, 8},
    {NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128, nullptr, 16, 16},
    {NVTX_PAYLOAD_ENTRY_TYPE_BF16, "bfloat16", 2, 2},
    {NVTX_PAYLOAD_ENTRY_TYPE_TF32, nullptr, 4, 4},
    {NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, "uint32", 4, 4},
    {NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, "uint32", 4, 4},
    {NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID, "uint64", 8, 8},
    {NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32, "uint32", 4, 4},
    {NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT64, "uint64", 8, 8},
    {NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32, "uint32", 4, 4},
    {NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64, "uint64", 8, 8},
    {NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR, nullptr, 0, 1},
};

constexpr uint64_t kArrayMask = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE |
                                NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED |
                                NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX;
// Flags by which a field is a pointer or an offset to the data, not the data.
constexpr uint64_t kIndirectMask = NVTX_PAYLOAD_ENTRY_FLAG_POINTER |
                                   NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE |
                                   NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE;

const PredefinedType* FindType(uint64_t type) noexcept {
  for (const PredefinedType& row : kTypes) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

FieldType MakeType(const char* name, uint64_t bytes, uint64_t alignment,
                   StringForm string = StringForm::kNone) noexcept {
  FieldType type{};
  std::snprintf(type.name, sizeof(type.name), "%s", name);
  type.bytes = bytes;
  type.alignment = alignment;
  type.string = string;
  return type;
}

FieldType MakeNumberedType(const char* prefix, uint64_t number, uint64_t bytes,
                           uint64_t alignment) noexcept {
  FieldType type = MakeType("", bytes, alignment);
  std::snprintf(type.name, sizeof(type.name), "%s:%llu", prefix,
                static_cast<unsigned long long>(number));
  return type;
}

bool IsCString(uint64_t type) noexcept {
  return type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING || type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;
}

// A C string is a pointer, unless it has a length and then stands in the payload itself.
FieldType CStringType(const nvtxPayloadSchemaEntry_t& entry) noexcept {
  const uint64_t array = entry.flags & kArrayMask;
  const bool fixed = array == 0 || array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
  if (fixed && entry.arrayOrUnionDetail == 0) {
    return MakeType("string", sizeof(char*), alignof(char*), StringForm::kPointer);
  }
  FieldType type = MakeType("char", 0, 1);
  if (fixed && (entry.flags & kIndirectMask) == 0) {
    type.bytes = type.array_length = entry.arrayOrUnionDetail;
    type.string = StringForm::kEmbedded;
  }
  return type;
}

FieldType ElementType(const Domain& domain, const nvtxPayloadSchemaEntry_t& entry) noexcept {
  if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE) {
    return MakeType("string", sizeof(void*), alignof(void*), StringForm::kRegistered);
  }
  if (const PredefinedType* known = FindType(entry.type)) {
    return known->name != nullptr
               ? MakeType(known->name, known->bytes, known->alignment)
               : MakeNumberedType("nvtx", entry.type, known->bytes, known->alignment);
  }
  if (entry.type < NVTX_PAYLOAD_SCHEMA_ID_STATIC_START) {
    return MakeNumberedType("nvtx", entry.type, 0, 1);
  }
  const Schema* nested = FindSchema(domain, entry.type);
  const uint64_t bytes = nested != nullptr ? nested->payload_bytes : 0;
  // An enumeration is aligned as the integer it is; of a nested struct only the size is known.
  const bool integer = nested != nullptr && nested->is_enum && bytes != 0;
  return MakeNumberedType("schema", entry.type, bytes, integer ? bytes : 1);
}

}  // namespace

uint64_t PredefinedTypeBytes(uint64_t type) noexcept {
  const PredefinedType* known = FindType(type);
  return known != nullptr ? known->bytes : 0;
}

FieldType TypeOf(const Domain& domain, const nvtxPayloadSchemaEntry_t& entry) noexcept {
  if (IsCString(entry.type)) return CStringType(entry);
  if ((entry.flags & kIndirectMask) != 0) {
    return MakeType("address", sizeof(void*), alignof(void*));
  }
  FieldType type = ElementType(domain, entry);
  const uint64_t array = entry.flags & kArrayMask;
  if (array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE) {
    type.array_length = entry.arrayOrUnionDetail;
    type.bytes *= entry.arrayOrUnionDetail;
    type.string = StringForm::kNone;
  } else if (array != 0) {
    type.bytes = 0;  // as long as the data say
    type.string = StringForm::kNone;
  }
  return type;
}

int64_t FieldCursor::Place(uint64_t given, const FieldType& type) noexcept {
  uint64_t offset = given;
  if (given == 0) {
    if (!end_known_) return -1;
    uint64_t alignment = type.alignment != 0 ? type.alignment : 1;
    if (pack_alignment_ != 0 && alignment > pack_alignment_) alignment = pack_alignment_;
    offset = (end_ + alignment - 1) / alignment * alignment;
  }
  end_known_ = type.bytes != 0;
  end_ = offset + type.bytes;
  return offset <= INT32_MAX ? static_cast<int64_t>(offset) : -1;
}

}  // namespace tutti::tracer::nvtx
