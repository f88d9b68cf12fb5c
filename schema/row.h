// How a C++ struct stands for a row of a table. Each row type says once, with
// TUTTI_ROW, which table it belongs to and what its columns are; batch inserts
// (batch.h), typed reads (reader.h) and the check against the SQL all use that.
//
//   struct BatchRow {
//     int64_t id = 0;                          // INTEGER NOT NULL or PRIMARY KEY
//     std::optional<int64_t> samples = {};     // INTEGER that may be NULL
//     TUTTI_ROW(BatchRow, "batch", id, samples)
//   };
//
// The columns are listed in the table's order. Fields have the columns' names and
// one of these types, or std::optional of one where the column may be NULL:
// int64_t (INTEGER), double (REAL), std::string (TEXT), Value (ANY).
// TUTTI_KEYED_ROW is for tables whose rows describe a thing that changes while the
// trace is written (a thread gets a name): a later row replaces the earlier one with
// the same primary key.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "schema/each_field.h"
#include "schema/value.h"

namespace tutti::schema {

enum class ColumnKind : uint8_t { kInteger, kReal, kText, kAny };

// Where a column lives in its struct.
struct ColumnBinding {
  std::string_view name;
  ColumnKind kind;
  bool nullable;  // the field is a std::optional
  size_t offset;  // of the field in the struct, in bytes
};

// Everything the store needs to know about a row type; lives as long as the program.
struct RowLayout {
  std::string_view table;
  bool keyed;        // a later row replaces an earlier one with its primary key
  size_t row_bytes;  // sizeof the struct: distance of rows in a vector
  std::span<const ColumnBinding> columns;
};

namespace internal {

template <typename Row, typename Field>
struct NamedField {
  std::string_view name;
  Field Row::*member;
};

template <typename Field>
struct Unwrapped {
  using Type = Field;
  static constexpr bool kNullable = false;
};
template <typename Field>
struct Unwrapped<std::optional<Field>> {
  using Type = Field;
  static constexpr bool kNullable = true;
};

template <typename Field>
constexpr ColumnKind KindOf() {
  using Type = typename Unwrapped<Field>::Type;
  if constexpr (std::is_same_v<Type, int64_t>) {
    return ColumnKind::kInteger;
  } else if constexpr (std::is_same_v<Type, double>) {
    return ColumnKind::kReal;
  } else if constexpr (std::is_same_v<Type, std::string>) {
    return ColumnKind::kText;
  } else {
    static_assert(std::is_same_v<Type, Value>, "not a type that a column can have");
    return ColumnKind::kAny;
  }
}

template <typename Row, typename Field>
ColumnBinding BindingOf(const Row& row, const NamedField<Row, Field>& field) {
  const auto* base = reinterpret_cast<const std::byte*>(&row);
  const auto* place = reinterpret_cast<const std::byte*>(&(row.*field.member));
  return {field.name, KindOf<Field>(), Unwrapped<Field>::kNullable,
          static_cast<size_t>(place - base)};
}

}  // namespace internal

// The layout of a row type. Thread-safe; computed on first use.
template <typename Row>
const RowLayout& LayoutOf() {
  static const auto bindings = std::apply(
      [](const auto&... field) {
        const Row row{};
        return std::array{internal::BindingOf(row, field)...};
      },
      Row::Columns());
  static const RowLayout layout{Row::kTable, Row::kKeyed, sizeof(Row), bindings};
  return layout;
}

}  // namespace tutti::schema

#define TUTTI_NAMED_FIELD(Type, field) \
  ::tutti::schema::internal::NamedField<Type, decltype(Type::field)> { #field, &Type::field }
#define TUTTI_ROW_OF_KIND(Type, table, keyed, ...)                             \
  static constexpr std::string_view kTable = table;                            \
  static constexpr bool kKeyed = keyed;                                        \
  static constexpr auto Columns() {                                            \
    return std::tuple{TUTTI_EACH_FIELD(TUTTI_NAMED_FIELD, Type, __VA_ARGS__)}; \
  }

#define TUTTI_ROW(Type, table, ...) TUTTI_ROW_OF_KIND(Type, table, false, __VA_ARGS__)
#define TUTTI_KEYED_ROW(Type, table, ...) TUTTI_ROW_OF_KIND(Type, table, true, __VA_ARGS__)
