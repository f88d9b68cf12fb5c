// A field of a row that is known by its binding only. For the schema folder only.
#pragma once

#include <cstddef>
#include <optional>

#include "schema/row.h"

namespace tutti::schema {

// The field as a T, or null where it is an empty std::optional<T>.
template <typename T>
const T* FieldOf(const ColumnBinding& column, const std::byte* row) {
  const void* field = row + column.offset;
  if (!column.nullable) return static_cast<const T*>(field);
  const auto* optional = static_cast<const std::optional<T>*>(field);
  return optional->has_value() ? &**optional : nullptr;
}

}  // namespace tutti::schema
