#include "schema/statement.h"

#include <sqlite3.h>

#include "schema/sqlite_error.h"

namespace tutti::schema {
namespace {

std::string_view TextOf(sqlite3_stmt* statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  if (text == nullptr) return {};
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement, column))};
}

std::string_view NameOfStoredType(int type) {
  switch (type) {
    case SQLITE_INTEGER:
      return "INTEGER";
    case SQLITE_FLOAT:
      return "REAL";
    case SQLITE_TEXT:
      return "TEXT";
    case SQLITE_BLOB:
      return "BLOB";
    default:
      return "NULL";
  }
}

std::string_view NameOfKind(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::kInteger:
      return "INTEGER";
    case ColumnKind::kReal:
      return "REAL";
    case ColumnKind::kText:
      return "TEXT";
    case ColumnKind::kAny:
      return "a value";
  }
  return "";
}

bool Fits(int stored_type, ColumnKind kind, bool nullable) {
  if (stored_type == SQLITE_NULL) return nullable;
  switch (kind) {
    case ColumnKind::kInteger:
      return stored_type == SQLITE_INTEGER;
    case ColumnKind::kReal:
      return stored_type == SQLITE_FLOAT;
    case ColumnKind::kText:
      return stored_type == SQLITE_TEXT;
    case ColumnKind::kAny:
      return true;
  }
  return false;
}

Status CheckBind(sqlite3_stmt* statement, int code) {
  return code == SQLITE_OK ? OkStatus() : ErrorOf(sqlite3_db_handle(statement), code);
}

// Assigns to a field of type T, or std::optional<T> where the column may be NULL.
template <typename T>
void Assign(bool nullable, void* field, T value) {
  if (nullable) {
    *static_cast<std::optional<T>*>(field) = std::move(value);
  } else {
    *static_cast<T*>(field) = std::move(value);
  }
}

void AssignNull(ColumnKind kind, void* field) {
  switch (kind) {
    case ColumnKind::kInteger:
      static_cast<std::optional<int64_t>*>(field)->reset();
      break;
    case ColumnKind::kReal:
      static_cast<std::optional<double>*>(field)->reset();
      break;
    case ColumnKind::kText:
      static_cast<std::optional<std::string>*>(field)->reset();
      break;
    case ColumnKind::kAny:
      static_cast<NullableValue*>(field)->reset();
      break;
  }
}

}  // namespace

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(statement_, other.statement_);
  return *this;
}

Status Statement::Bind(int parameter, int64_t value) {
  return CheckBind(statement_, sqlite3_bind_int64(statement_, parameter, value));
}

Status Statement::Bind(int parameter, double value) {
  return CheckBind(statement_, sqlite3_bind_double(statement_, parameter, value));
}

Status Statement::Bind(int parameter, std::string_view text) {
  return CheckBind(statement_, sqlite3_bind_text64(statement_, parameter, text.data(), text.size(),
                                                   SQLITE_TRANSIENT, SQLITE_UTF8));
}

Status Statement::BindNull(int parameter) {
  return CheckBind(statement_, sqlite3_bind_null(statement_, parameter));
}

Status Statement::Bind(int parameter, const NullableValue& value) {
  if (!value.has_value()) return BindNull(parameter);
  if (const auto* number = std::get_if<int64_t>(&*value)) return Bind(parameter, *number);
  if (const auto* real = std::get_if<double>(&*value)) return Bind(parameter, *real);
  if (const auto* text = std::get_if<std::string>(&*value)) {
    return Bind(parameter, std::string_view(*text));
  }
  const std::string& bytes = std::get<Blob>(*value).bytes;
  return CheckBind(statement_, sqlite3_bind_blob64(statement_, parameter, bytes.data(),
                                                   bytes.size(), SQLITE_TRANSIENT));
}

Result<bool> Statement::Step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return ErrorOf(sqlite3_db_handle(statement_), code);
}

Status Statement::Run() {
  Result<bool> row = Step();
  while (row.ok() && *row) row = Step();
  Reset();
  return row.status();
}

void Statement::Reset() { sqlite3_reset(statement_); }

int Statement::column_count() const { return sqlite3_column_count(statement_); }

std::string Statement::column_name(int column) const {
  const char* name = sqlite3_column_name(statement_, column);
  return name == nullptr ? "" : name;
}

std::string Statement::declared_type(int column) const {
  const char* type = sqlite3_column_decltype(statement_, column);
  return type == nullptr ? "" : type;
}

NullableValue Statement::GetAny(int column) const {
  switch (sqlite3_column_type(statement_, column)) {
    case SQLITE_INTEGER:
      return Value(static_cast<int64_t>(sqlite3_column_int64(statement_, column)));
    case SQLITE_FLOAT:
      return Value(sqlite3_column_double(statement_, column));
    case SQLITE_TEXT:
      return Value(std::string(TextOf(statement_, column)));
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
      const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
      return Value(Blob{bytes == nullptr ? std::string() : std::string(bytes, size)});
    }
    default:
      return std::nullopt;
  }
}

bool Statement::ReadField(int column, ColumnKind kind, bool nullable, void* field) const {
  const int type = sqlite3_column_type(statement_, column);
  if (!Fits(type, kind, nullable)) return false;
  if (type == SQLITE_NULL) {
    AssignNull(kind, field);
    return true;
  }
  switch (kind) {
    case ColumnKind::kInteger:
      Assign<int64_t>(nullable, field, sqlite3_column_int64(statement_, column));
      break;
    case ColumnKind::kReal:
      Assign<double>(nullable, field, sqlite3_column_double(statement_, column));
      break;
    case ColumnKind::kText:
      Assign<std::string>(nullable, field, std::string(TextOf(statement_, column)));
      break;
    case ColumnKind::kAny:
      Assign<Value>(nullable, field, *GetAny(column));
      break;
  }
  return true;
}

bool Statement::ReadRow(const RowLayout& layout, void* row) const {
  int column = 0;
  for (const ColumnBinding& binding : layout.columns) {
    void* field = static_cast<std::byte*>(row) + binding.offset;
    if (!ReadField(column++, binding.kind, binding.nullable, field)) return false;
  }
  return true;
}

Status Statement::ReadError(const RowLayout& layout) const {
  int column = 0;
  for (const ColumnBinding& binding : layout.columns) {
    if (!Fits(sqlite3_column_type(statement_, column), binding.kind, binding.nullable)) {
      return TypeError(column, std::string(layout.table) + "." + std::string(binding.name),
                       binding.kind);
    }
    ++column;
  }
  return OkStatus();
}

Status Statement::TypeError(int column, std::string_view name, ColumnKind expected) const {
  const std::string found(NameOfStoredType(sqlite3_column_type(statement_, column)));
  return BadDataError(PrefixOf(sqlite3_db_handle(statement_)) + std::string(name) + " holds " +
                      found + " where " + std::string(NameOfKind(expected)) + " belongs");
}

}  // namespace tutti::schema
