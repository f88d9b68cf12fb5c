#include "schema/trace_file.h"

#include <cstdint>
#include <map>
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

// What a file holds: of each name 'table', 'view', 'virtual' or 'shadow', as SQLite parsed it.
struct Contents {
  int64_t version = 0;
  std::map<std::string, std::string> kinds;
};

// All names at once: each such PRAGMA compiles every view of the file anew.
Result<Contents> ReadContents(Database& database) {
  Contents contents;
  TUTTI_ASSIGN_OR_RETURN(contents.version, database.QueryOne<int64_t>("PRAGMA user_version"));
  TUTTI_ASSIGN_OR_RETURN(Statement list, database.Prepare("PRAGMA main.table_list"));
  constexpr int kSchema = 0;
  constexpr int kName = 1;
  constexpr int kType = 2;
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, list.Step());
    if (!found) return contents;
    TUTTI_ASSIGN_OR_RETURN(const std::string schema, list.Get<std::string>(kSchema));
    TUTTI_ASSIGN_OR_RETURN(std::string name, list.Get<std::string>(kName));
    TUTTI_ASSIGN_OR_RETURN(std::string kind, list.Get<std::string>(kType));
    if (schema == "main") contents.kinds.emplace(std::move(name), std::move(kind));
  }
}

// The table as a file of this version has it.
Status CheckStored(Database& database, const CatalogTable& table, const Contents& contents) {
  const auto found = contents.kinds.find(table.name);
  if (found == contents.kinds.end()) {
    return BadDataError(database.path() + ": table " + table.name + " is missing");
  }
  if (found->second != "table") {
    return BadDataError(database.path() + ": " + table.name + " is a " + found->second +
                        " where a table belongs; not read");
  }
  TUTTI_ASSIGN_OR_RETURN(const std::set<std::string> columns, StoredColumns(database, table.name));
  for (const CatalogColumn& column : table.columns) {
    if (columns.contains(column.name) || IsNewer(table.name, column.name, contents.version)) {
      continue;
    }
    return BadDataError(database.path() + ": table " + table.name + " has no stored column " +
                        column.name + "; not read");
  }
  return OkStatus();
}

Status CheckAgainst(Database& database, const CatalogTable& table, const Contents& contents) {
  if (!IsNewer(table.name, "", contents.version)) {
    TUTTI_RETURN_IF_ERROR(CheckStored(database, table, contents));
  }
  return AddMissing(database, table, contents.version);
}

Status CheckTables(Database& database, const Catalog& catalog) {
  TUTTI_ASSIGN_OR_RETURN(const Contents contents, ReadContents(database));
  for (const CatalogTable& table : catalog.tables) {
    if (!table.is_view) TUTTI_RETURN_IF_ERROR(CheckAgainst(database, table, contents));
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
  TUTTI_ASSIGN_OR_RETURN(const Contents contents, ReadContents(database));
  return CheckAgainst(database, table, contents);
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
