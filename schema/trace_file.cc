#include "schema/trace_file.h"

#include <cstdint>
#include <set>

#include "schema/additions.h"
#include "schema/sql.h"

namespace tutti::schema {
namespace {

// Table names below come from the embedded SQL, so they may be put into statements. The
// PRAGMAs rather than their table-valued functions, whose names a file could take.

// The columns of the table that are stored, not computed.
Result<std::set<std::string>> StoredColumns(Database& database, const std::string& table) {
  TUTTI_ASSIGN_OR_RETURN(Statement info,
                         database.Prepare("PRAGMA main.table_xinfo(\"" + table + "\")"));
  constexpr int kName = 1;
  constexpr int kHidden = 6;
  std::set<std::string> columns;
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, info.Step());
    if (!found) return columns;
    TUTTI_ASSIGN_OR_RETURN(const int64_t hidden, info.Get<int64_t>(kHidden));
    TUTTI_ASSIGN_OR_RETURN(std::string name, info.Get<std::string>(kName));
    if (hidden == 0) columns.insert(std::move(name));
  }
}

// 'table', 'view', 'virtual' or 'shadow' as SQLite parsed it; '' where there is none.
Result<std::string> KindOfTable(Database& database, const std::string& table) {
  TUTTI_ASSIGN_OR_RETURN(Statement info,
                         database.Prepare("PRAGMA main.table_list(\"" + table + "\")"));
  constexpr int kType = 2;
  TUTTI_ASSIGN_OR_RETURN(const bool found, info.Step());
  if (!found) return std::string();
  return info.Get<std::string>(kType);
}

// The table as a file of this version has it.
Status CheckStored(Database& database, const CatalogTable& table, int64_t version) {
  TUTTI_ASSIGN_OR_RETURN(const std::string kind, KindOfTable(database, table.name));
  if (kind.empty()) return BadDataError(database.path() + ": table " + table.name + " is missing");
  if (kind != "table") {
    return BadDataError(database.path() + ": " + table.name + " is a " + kind +
                        " where a table belongs; not read");
  }
  TUTTI_ASSIGN_OR_RETURN(const std::set<std::string> columns, StoredColumns(database, table.name));
  for (const CatalogColumn& column : table.columns) {
    if (columns.contains(column.name) || IsNewer(table.name, column.name, version)) continue;
    return BadDataError(database.path() + ": table " + table.name + " has no stored column " +
                        column.name + "; not read");
  }
  return OkStatus();
}

Status CheckTables(Database& database, const Catalog& catalog) {
  for (const CatalogTable& table : catalog.tables) {
    if (!table.is_view) TUTTI_RETURN_IF_ERROR(CheckTable(database, table));
  }
  return OkStatus();
}

}  // namespace

Status CheckIdentity(Database& database) {
  TUTTI_ASSIGN_OR_RETURN(const int64_t id, database.QueryOne<int64_t>("PRAGMA application_id"));
  if (id != kApplicationId) {
    return BadDataError(database.path() + ": a database, but not one of tutti's traces");
  }
  TUTTI_ASSIGN_OR_RETURN(const int64_t version, database.QueryOne<int64_t>("PRAGMA user_version"));
  const std::string mine = std::to_string(kSchemaVersion);
  if (version > kSchemaVersion) {
    return BadDataError(database.path() + ": schema version " + std::to_string(version) +
                        ", this build reads up to " + mine + "; a newer tutti is needed");
  }
  if (version < 1) {
    return BadDataError(database.path() + ": schema version " + std::to_string(version) +
                        " does not exist");
  }
  return OkStatus();
}

Status CheckTable(Database& database, const CatalogTable& table) {
  TUTTI_ASSIGN_OR_RETURN(const int64_t version, database.QueryOne<int64_t>("PRAGMA user_version"));
  if (!IsNewer(table.name, "", version)) {
    TUTTI_RETURN_IF_ERROR(CheckStored(database, table, version));
  }
  return AddMissing(database, table, version);
}

Result<Database> OpenRankFile(const std::string& path, ReadOptions options) {
  TUTTI_ASSIGN_OR_RETURN(Database database, Database::OpenReadOnly(path, options));
  TUTTI_RETURN_IF_ERROR(CheckIdentity(database));
  TUTTI_RETURN_IF_ERROR(CheckTables(database, RawCatalog()));
  return database;
}

Result<Database> OpenRunFile(const std::string& path, ReadOptions options) {
  TUTTI_ASSIGN_OR_RETURN(Database database, Database::OpenReadOnly(path, options));
  TUTTI_RETURN_IF_ERROR(CheckIdentity(database));
  TUTTI_RETURN_IF_ERROR(CheckTables(database, DerivedCatalog()));
  return database;
}

}  // namespace tutti::schema
