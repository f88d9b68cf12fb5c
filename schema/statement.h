// One prepared SQL statement: bind, step, read columns by type.
//
// A read says what type it expects and fails when the stored one differs, because
// SQLite itself would convert silently, and a file from elsewhere may hold anything.
// Not thread-safe: a statement belongs to the thread that uses its Database.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "common/status.h"
#include "schema/row.h"
#include "schema/value.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tutti::schema {

class Statement {
 public:
  // Takes ownership of `statement`. Made by Database::Prepare.
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  ~Statement();
  Statement(Statement&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  Statement& operator=(Statement&& other) noexcept;

  // Parameters are numbered from 1. Text is copied.
  Status Bind(int parameter, int64_t value);
  Status Bind(int parameter, double value);
  Status Bind(int parameter, std::string_view text);
  Status Bind(int parameter, const std::string& text) {
    return Bind(parameter, std::string_view(text));
  }
  Status Bind(int parameter, const char* text) { return Bind(parameter, std::string_view(text)); }
  Status Bind(int parameter, const NullableValue& value);
  Status BindNull(int parameter);
  template <typename T>
  Status Bind(int parameter, const std::optional<T>& value) {
    return value.has_value() ? Bind(parameter, *value) : BindNull(parameter);
  }
  // Binds parameters 1, 2, … in turn.
  template <typename... Values>
  Status BindAll(const Values&... values);

  // True: a row is there to be read. False: no more rows.
  Result<bool> Step();
  // Steps a statement that returns no rows, then resets it.
  Status Run();
  // Makes the statement ready to be stepped again; bindings stay.
  void Reset();

  int column_count() const;
  std::string column_name(int column) const;
  // As declared in the table that the column comes from; empty for expressions.
  std::string declared_type(int column) const;

  // The column of the current row, numbered from 0. T is int64_t, double, std::string,
  // Value, or std::optional of one; anything else stored there is kBadData.
  template <typename T>
  Result<T> Get(int column) const;
  NullableValue GetAny(int column) const;

  // Fills a row struct from columns 0…n-1, which must be those of its layout in
  // order. False if one has an unexpected type; ReadError then says which.
  bool ReadRow(const RowLayout& layout, void* row) const;
  Status ReadError(const RowLayout& layout) const;

  sqlite3_stmt* handle() const { return statement_; }

 private:
  bool ReadField(int column, ColumnKind kind, bool nullable, void* field) const;
  Status TypeError(int column, std::string_view name, ColumnKind expected) const;

  sqlite3_stmt* statement_ = nullptr;
};

template <typename... Values>
Status Statement::BindAll(const Values&... values) {
  Status status;
  [[maybe_unused]] int parameter = 0;
  [[maybe_unused]] const auto bind = [&](const auto& value) {
    using T = std::decay_t<decltype(value)>;
    ++parameter;
    if (!status.ok()) return;
    if constexpr (std::is_integral_v<T>) {
      status = Bind(parameter, static_cast<int64_t>(value));
    } else {
      status = Bind(parameter, value);
    }
  };
  (bind(values), ...);
  return status;
}

template <typename T>
Result<T> Statement::Get(int column) const {
  constexpr ColumnKind kKind = internal::KindOf<T>();
  T value{};
  if (!ReadField(column, kKind, internal::Unwrapped<T>::kNullable, &value)) {
    return TypeError(column, column_name(column), kKind);
  }
  return value;
}

}  // namespace tutti::schema
