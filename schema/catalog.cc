#include "schema/catalog.h"

#include <cctype>
#include <cstdlib>
#include <utility>

#include "schema/catalog_text.h"
#include "schema/database.h"
#include "schema/sql.h"

namespace tutti::schema {
namespace {

Result<std::vector<CatalogColumn>> ReadColumns(Database& database, const std::string& table) {
  TUTTI_ASSIGN_OR_RETURN(Statement info,
                         database.Prepare("SELECT name, type, \"notnull\" = 0 AND pk = 0, pk > 0 "
                                          "FROM pragma_table_info(?1) ORDER BY cid"));
  TUTTI_RETURN_IF_ERROR(info.BindAll(table));
  std::vector<CatalogColumn> columns;
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, info.Step());
    if (!found) return columns;
    CatalogColumn& column = columns.emplace_back();
    TUTTI_ASSIGN_OR_RETURN(column.name, info.Get<std::string>(0));
    TUTTI_ASSIGN_OR_RETURN(column.type, info.Get<std::string>(1));
    TUTTI_ASSIGN_OR_RETURN(const int64_t nullable, info.Get<int64_t>(2));
    TUTTI_ASSIGN_OR_RETURN(const int64_t key, info.Get<int64_t>(3));
    column.nullable = nullable != 0;
    column.primary_key = key != 0;
  }
}

// A column that refers to another means what that one means.
Status InheritFromReferences(Database& database, const Catalog& catalog, CatalogTable& table) {
  TUTTI_ASSIGN_OR_RETURN(
      Statement keys,
      database.Prepare("SELECT \"from\", \"table\", \"to\" FROM pragma_foreign_key_list(?1) "
                       "WHERE \"to\" IS NOT NULL"));
  TUTTI_RETURN_IF_ERROR(keys.BindAll(table.name));
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, keys.Step());
    if (!found) return OkStatus();
    TUTTI_ASSIGN_OR_RETURN(const std::string from, keys.Get<std::string>(0));
    TUTTI_ASSIGN_OR_RETURN(const std::string target, keys.Get<std::string>(1));
    TUTTI_ASSIGN_OR_RETURN(const std::string to, keys.Get<std::string>(2));
    const CatalogTable* other = catalog.Find(target);
    const CatalogColumn* same = other == nullptr ? nullptr : other->Find(to);
    if (same == nullptr) continue;
    for (CatalogColumn& column : table.columns) {
      if (column.name == from && column.comment.empty()) column.comment = same->comment;
    }
  }
}

void InheritComments(const Catalog& catalog, CatalogTable& view) {
  for (CatalogColumn& column : view.columns) {
    if (!column.comment.empty()) continue;
    for (const std::string& source : TablesOf(view.select)) {
      const CatalogTable* table = catalog.Find(source);
      const CatalogColumn* same = table == nullptr ? nullptr : table->Find(column.name);
      if (same == nullptr || same->comment.empty()) continue;
      column.comment = same->comment;
      break;
    }
  }
}

Catalog Embedded(std::string_view sql) {
  Result<Catalog> catalog = ReadCatalog(sql);
  // The embedded text is the same on every run and tested, so this can't be a user's fault.
  if (!catalog.ok()) std::abort();
  return std::move(catalog).value();
}

}  // namespace

const CatalogColumn* CatalogTable::Find(std::string_view column) const {
  for (const CatalogColumn& candidate : columns) {
    if (candidate.name == column) return &candidate;
  }
  return nullptr;
}

const CatalogTable* Catalog::Find(std::string_view table) const {
  for (const CatalogTable& candidate : tables) {
    if (candidate.name == table) return &candidate;
  }
  return nullptr;
}

Result<Catalog> ReadCatalog(std::string_view sql) {
  TUTTI_ASSIGN_OR_RETURN(Database database, Database::OpenMemory());
  TUTTI_RETURN_IF_ERROR(database.Execute(std::string(sql)));
  Catalog catalog;
  for (const SqlPiece& piece : SplitSql(sql)) {
    if (piece.sql.empty()) {
      if (catalog.introduction.empty()) catalog.introduction = piece.comment;
      continue;
    }
    CatalogTable table;
    table.name = CreatedName(piece.sql);
    table.comment = piece.comment;
    table.sql = piece.sql;
    TUTTI_ASSIGN_OR_RETURN(table.columns, ReadColumns(database, table.name));
    table.select = SelectOf(piece.sql);
    table.is_view = !table.select.empty();
    AddColumnComments(table);
    TUTTI_RETURN_IF_ERROR(InheritFromReferences(database, catalog, table));
    if (table.is_view) InheritComments(catalog, table);
    catalog.tables.push_back(std::move(table));
  }
  return catalog;
}

const Catalog& RawCatalog() {
  static const Catalog catalog = Embedded(RawSql());
  return catalog;
}

const Catalog& DerivedCatalog() {
  static const Catalog catalog = Embedded(DerivedSql());
  return catalog;
}

}  // namespace tutti::schema
