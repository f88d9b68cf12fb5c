// Values of dynamic type: columns declared ANY, parameters and results of free SQL.
// Value types; safe to move between threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace tutti::schema {

// Bytes that are not text. Tutti's own tables hold none; files of others may.
struct Blob {
  std::string bytes;
  friend bool operator==(const Blob&, const Blob&) = default;
};

// A value that is not NULL: INTEGER, REAL, TEXT (UTF-8) or BLOB.
using Value = std::variant<int64_t, double, std::string, Blob>;

// A value or NULL.
using NullableValue = std::optional<Value>;

}  // namespace tutti::schema
