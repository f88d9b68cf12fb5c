#include "collector/importers/nsys/table_cursor.h"

#include "collector/os/interruption.h"

namespace tutti::collector::importers::nsys {

Result<TableCursor> TableCursor::Open(ExportDatabase& database, const ExportTable& table,
                                      const std::vector<std::string_view>& columns,
                                      std::string_view suffix) {
  std::string sql = "SELECT ";
  sql += table.has_rowid ? "rowid" : "0";
  std::vector<int> place;
  int next = 1;
  for (const std::string_view name : columns) {
    const ExportColumn* column = table.Find(name);
    place.push_back(column == nullptr ? -1 : next++);
    if (column != nullptr) sql += ", " + Quoted(column->name);
  }
  sql += " FROM " + Quoted(table.name) + " " + std::string(suffix);
  TUTTI_ASSIGN_OR_RETURN(schema::Statement statement, database.connection().Prepare(sql));
  database.NoteRead(table);
  return TableCursor(std::move(statement), table.name, std::move(place), table.has_rowid);
}

Result<bool> TableCursor::Next() {
  damaged_ = false;
  TUTTI_RETURN_IF_ERROR(os::Interruption::Check());
  TUTTI_ASSIGN_OR_RETURN(const bool more, statement_.Step());
  if (!more) return false;
  ++rowid_;
  if (!has_rowid_) return true;
  // A column may be called "rowid" and hold anything.
  const Result<int64_t> rowid = statement_.Get<int64_t>(0);
  if (rowid.ok()) rowid_ = *rowid;
  return true;
}

std::optional<int64_t> TableCursor::Int(size_t column) {
  if (place_[column] < 0) return std::nullopt;
  const Result<std::optional<int64_t>> value =
      statement_.Get<std::optional<int64_t>>(place_[column]);
  if (value.ok()) return *value;
  damaged_ = true;
  return std::nullopt;
}

std::optional<double> TableCursor::Number(size_t column) {
  const schema::NullableValue value = Any(column);
  if (!value) return std::nullopt;
  if (const auto* number = std::get_if<int64_t>(&*value)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<double>(&*value)) return *number;
  damaged_ = true;
  return std::nullopt;
}

std::optional<std::string> TableCursor::Text(size_t column) {
  if (place_[column] < 0) return std::nullopt;
  Result<std::optional<std::string>> value =
      statement_.Get<std::optional<std::string>>(place_[column]);
  if (value.ok()) return std::move(*value);
  damaged_ = true;
  return std::nullopt;
}

schema::NullableValue TableCursor::Any(size_t column) {
  if (place_[column] < 0) return std::nullopt;
  return statement_.GetAny(place_[column]);
}

}  // namespace tutti::collector::importers::nsys
