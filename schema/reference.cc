#include "schema/reference.h"

#include <algorithm>
#include <functional>

#include "schema/catalog.h"
#include "schema/meta_keys.h"
#include "schema/sql.h"

namespace tutti::schema {
namespace {

// Markdown ends a table's cell at '|', and would take '<' for HTML.
std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*') cell += '\\';
    cell += c;
  }
  return cell;
}

// "INTEGER, may be NULL"; a view's computed column has no type.
std::string TypeOf(const CatalogTable& table, const CatalogColumn& column) {
  std::string type = column.type;
  if (column.primary_key) type += ", key";
  if (column.nullable && !table.is_view) type += ", may be NULL";
  return type;
}

std::string MarkdownOf(const CatalogTable& table) {
  std::string text = "### " + table.name + "\n\n" + Cell(table.comment) + "\n\n";
  text += "| column | type | meaning |\n|---|---|---|\n";
  for (const CatalogColumn& column : table.columns) {
    text += "| `" + column.name + "` | " + TypeOf(table, column) + " | " + Cell(column.comment) +
            " |\n";
  }
  return text + "\n";
}

std::string MarkdownOfPart(const std::string& title, const Catalog& catalog) {
  std::string text = "## " + title + "\n\n" + Cell(catalog.introduction) + "\n\n";
  for (const CatalogTable& table : catalog.tables) text += MarkdownOf(table);
  return text;
}

std::string MetaKeysMarkdown() {
  std::string text = "## Keys of meta\n\n| key | meaning |\n|---|---|\n";
  for (const MetaKey& key : MetaKeys()) {
    text += "| `" + std::string(key.key) + "` | " + Cell(key.meaning) + " |\n";
  }
  return text;
}

void ForEachTable(const std::function<void(const CatalogTable&)>& function) {
  for (const Catalog* catalog : {&RawCatalog(), &DerivedCatalog()}) {
    std::ranges::for_each(catalog->tables, function);
  }
}

Result<const CatalogTable*> FindTable(std::string_view name) {
  const CatalogTable* table = RawCatalog().Find(name);
  if (table == nullptr) table = DerivedCatalog().Find(name);
  if (table != nullptr) return table;
  std::string similar;
  ForEachTable([&](const CatalogTable& candidate) {
    if (candidate.name.find(name) == std::string::npos) return;
    similar += (similar.empty() ? "; did you mean " : ", ") + candidate.name;
  });
  return UsageError("no table or view is called " + std::string(name) + similar);
}

std::string Padded(const std::string& text, size_t width) {
  return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

}  // namespace

std::string ReferenceMarkdown() {
  std::string text =
      "# Schema reference\n\n"
      "Made from the comments in `schema/raw.sql` and `schema/derived.sql` by\n"
      "`tutti schema --markdown`; edit those. The files are SQLite databases with\n"
      "`application_id` 0x54757469 and `user_version` " +
      std::to_string(kSchemaVersion) +
      ".\n\n"
      "In `tutti query RUN`, each raw table and its views hold the rows of all ranks, with\n"
      "`rank` and `attempt` as their first columns.\n\n";
  text += MarkdownOfPart("Raw tables", RawCatalog());
  text += MarkdownOfPart("Derived tables", DerivedCatalog());
  return text + MetaKeysMarkdown();
}

std::string ReferenceList() {
  size_t width = 0;
  ForEachTable([&](const CatalogTable& table) { width = std::max(width, table.name.size()); });
  std::string text;
  ForEachTable([&](const CatalogTable& table) {
    text += Padded(table.name, width) + "  " + table.comment + "\n";
  });
  return text;
}

Result<std::string> TableMarkdown(std::string_view name) {
  TUTTI_ASSIGN_OR_RETURN(const CatalogTable* table, FindTable(name));
  return MarkdownOf(*table);
}

Result<std::string> TableText(std::string_view name) {
  TUTTI_ASSIGN_OR_RETURN(const CatalogTable* table, FindTable(name));
  size_t name_width = 0;
  size_t type_width = 0;
  for (const CatalogColumn& column : table->columns) {
    name_width = std::max(name_width, column.name.size());
    type_width = std::max(type_width, TypeOf(*table, column).size());
  }
  std::string text = table->name + ": " + table->comment + "\n";
  for (const CatalogColumn& column : table->columns) {
    text += "  " + Padded(column.name, name_width) + "  " +
            Padded(TypeOf(*table, column), type_width) + "  " + column.comment + "\n";
  }
  return text;
}

Result<std::string> TableSql(std::string_view name) {
  TUTTI_ASSIGN_OR_RETURN(const CatalogTable* table, FindTable(name));
  return "-- " + table->comment + "\n" + table->sql + ";\n";
}

std::vector<std::string> TableNames() {
  std::vector<std::string> names;
  ForEachTable([&](const CatalogTable& table) { names.push_back(table.name); });
  return names;
}

}  // namespace tutti::schema
