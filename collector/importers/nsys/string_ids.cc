#include "collector/importers/nsys/string_ids.h"

#include <utility>

#include "collector/importers/nsys/table_cursor.h"

namespace tutti::collector::importers::nsys {

Result<StringIds> StringIds::Open(ExportDatabase& database) {
  StringIds strings;
  const ExportTable* table = database.Find("StringIds");
  if (table == nullptr || !table->Has("id") || !table->Has("value")) return strings;
  if (table->Find("id")->is_row_number) {
    TUTTI_ASSIGN_OR_RETURN(
        schema::Statement lookup,
        database.connection().Prepare("SELECT value FROM " + Quoted(table->name) +
                                      " WHERE id = ?1 AND typeof(value) = 'text'"));
    strings.lookup_.emplace(std::move(lookup));
    return strings;
  }
  TUTTI_RETURN_IF_ERROR(strings.ReadAll(database, *table));
  return strings;
}

Status StringIds::ReadAll(ExportDatabase& database, const ExportTable& table) {
  TUTTI_ASSIGN_OR_RETURN(TableCursor rows, TableCursor::Open(database, table, {"id", "value"}));
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) return OkStatus();
    const std::optional<int64_t> id = rows.Int(0);
    std::optional<std::string> text = rows.Text(1);
    if (id && text) texts_.try_emplace(*id, std::move(*text));
  }
}

Result<std::optional<std::string>> StringIds::Find(int64_t id) {
  if (!lookup_) {
    const auto found = texts_.find(id);
    return found == texts_.end() ? std::optional<std::string>() : std::optional(found->second);
  }
  lookup_->Reset();
  TUTTI_RETURN_IF_ERROR(lookup_->Bind(1, id));
  TUTTI_ASSIGN_OR_RETURN(const bool found, lookup_->Step());
  if (!found) return std::optional<std::string>();
  TUTTI_ASSIGN_OR_RETURN(std::string text, lookup_->Get<std::string>(0));
  lookup_->Reset();
  return std::optional<std::string>(std::move(text));
}

}  // namespace tutti::collector::importers::nsys
