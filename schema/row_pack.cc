#include "schema/row_pack.h"

#include <sqlite3.h>

#include <bit>
#include <cstring>
#include <optional>
#include <variant>

#include "common/text.h"
#include "schema/field_of.h"
#include "schema/sqlite_error.h"

namespace tutti::schema {
namespace {

constexpr char kNull = 'n';
constexpr char kInteger = 'i';
constexpr char kReal = 'r';
constexpr char kText = 't';
constexpr char kBlob = 'b';

void AppendNumber(std::string& bytes, int64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

void AppendText(std::string& bytes, std::string_view text) {
  AppendNumber(bytes, static_cast<int64_t>(text.size()));
  bytes.append(text);
}

void AppendValue(std::string& bytes, int64_t number) {
  bytes += kInteger;
  AppendNumber(bytes, number);
}

void AppendValue(std::string& bytes, double real) {
  bytes += kReal;
  AppendNumber(bytes, std::bit_cast<int64_t>(real));
}

void AppendValue(std::string& bytes, const std::string& text) {
  bytes += kText;
  AppendText(bytes, IsStorableText(text) ? text : ToStorableText(text));
}

void AppendValue(std::string& bytes, const Blob& blob) {
  bytes += kBlob;
  AppendText(bytes, blob.bytes);
}

void AppendField(std::string& bytes, const ColumnBinding& column, const std::byte* row) {
  switch (column.kind) {
    case ColumnKind::kInteger:
      if (const auto* number = FieldOf<int64_t>(column, row)) return AppendValue(bytes, *number);
      break;
    case ColumnKind::kReal:
      if (const auto* real = FieldOf<double>(column, row)) return AppendValue(bytes, *real);
      break;
    case ColumnKind::kText:
      if (const auto* text = FieldOf<std::string>(column, row)) return AppendValue(bytes, *text);
      break;
    case ColumnKind::kAny:
      if (const auto* any = FieldOf<Value>(column, row)) {
        return std::visit([&](const auto& held) { AppendValue(bytes, held); }, *any);
      }
      break;
  }
  bytes += kNull;
}

// INSERT INTO table (a, b) VALUES (?, ?) of what comes next.
Result<std::string> InsertStatement(Unpacker& bytes, int64_t& columns) {
  TUTTI_ASSIGN_OR_RETURN(const std::string_view table, bytes.Text());
  TUTTI_ASSIGN_OR_RETURN(columns, bytes.Number());
  std::string names;
  std::string places;
  for (int64_t i = 0; i < columns; ++i) {
    TUTTI_ASSIGN_OR_RETURN(const std::string_view name, bytes.Text());
    names += (i == 0 ? "\"" : ", \"") + std::string(name) + "\"";
    places += i == 0 ? "?" : ", ?";
  }
  return "INSERT INTO \"" + std::string(table) + "\" (" + names + ") VALUES (" + places + ")";
}

}  // namespace

void Packer::Add(int64_t number) { AppendNumber(bytes_, number); }

void Packer::Add(std::string_view text) { AppendText(bytes_, text); }

void Packer::AddRows(const RowLayout& layout, const void* rows, size_t count) {
  Add(layout.table);
  Add(static_cast<int64_t>(layout.columns.size()));
  for (const ColumnBinding& column : layout.columns) Add(column.name);
  Add(static_cast<int64_t>(count));
  const auto* row = static_cast<const std::byte*>(rows);
  for (size_t i = 0; i < count; ++i, row += layout.row_bytes) {
    for (const ColumnBinding& column : layout.columns) AppendField(bytes_, column, row);
  }
}

Result<std::string_view> Unpacker::Take(size_t count) {
  if (count > rest_.size()) return BadDataError("packed rows end too early");
  const std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

Result<int64_t> Unpacker::Number() {
  TUTTI_ASSIGN_OR_RETURN(const std::string_view bytes, Take(sizeof(int64_t)));
  int64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof(number));
  return number;
}

Result<std::string_view> Unpacker::Text() {
  TUTTI_ASSIGN_OR_RETURN(const int64_t size, Number());
  return Take(static_cast<size_t>(size));
}

Status Unpacker::BindTo(Statement& statement, int parameter) {
  TUTTI_ASSIGN_OR_RETURN(const std::string_view kind, Take(1));
  if (kind[0] == kNull) return statement.BindNull(parameter);
  if (kind[0] == kText || kind[0] == kBlob) {
    TUTTI_ASSIGN_OR_RETURN(const std::string_view bytes, Text());
    if (kind[0] == kText) return statement.Bind(parameter, bytes);
    return statement.Bind(parameter, NullableValue(Blob{std::string(bytes)}));
  }
  TUTTI_ASSIGN_OR_RETURN(const int64_t number, Number());
  if (kind[0] == kReal) return statement.Bind(parameter, std::bit_cast<double>(number));
  return statement.Bind(parameter, number);
}

Result<int64_t> InsertPacked(Database& database, std::string_view packed) {
  Unpacker bytes(packed);
  int64_t inserted = 0;
  while (!bytes.at_end()) {
    int64_t columns = 0;
    TUTTI_ASSIGN_OR_RETURN(const std::string sql, InsertStatement(bytes, columns));
    TUTTI_ASSIGN_OR_RETURN(const int64_t count, bytes.Number());
    TUTTI_ASSIGN_OR_RETURN(Statement statement, database.Prepare(sql));
    for (int64_t i = 0; i < count; ++i) {
      for (int column = 1; column <= columns; ++column) {
        TUTTI_RETURN_IF_ERROR(bytes.BindTo(statement, column));
      }
      TUTTI_RETURN_IF_ERROR(statement.Run());
    }
    inserted += count;
  }
  return inserted;
}

Result<std::string> ImageOf(Database& database) {
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(database.handle(), "main", &size, 0);
  if (bytes == nullptr) return IoError("no memory for an image of the derived tables");
  std::string image(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  sqlite3_free(bytes);
  return image;
}

Status LoadImage(Database& database, std::string_view image) {
  auto* bytes = static_cast<unsigned char*>(sqlite3_malloc64(image.size()));
  if (bytes == nullptr) return IoError("no memory for an image of the derived tables");
  std::memcpy(bytes, image.data(), image.size());
  const auto size = static_cast<sqlite3_int64>(image.size());
  // SQLite frees the bytes, also when this fails.
  const int code =
      sqlite3_deserialize(database.handle(), "main", bytes, size, size,
                          SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
  return code == SQLITE_OK ? OkStatus() : ErrorOf(database.handle(), code);
}

}  // namespace tutti::schema
