// An Nsight Systems export (`nsys export --type sqlite`) as a database of tables that may
// or may not be there: which tables, which columns, which version wrote them.
//
// The file is hostile until proven otherwise. Beyond what schema::Database::OpenReadOnly
// refuses: virtual tables and views are no tables here, generated columns are no columns,
// a file with a CHECK constraint is refused (SQLite would run its expression), and all
// reading together has a deadline that grows with the file's size.
// Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "schema/database.h"

namespace tutti::collector::importers::nsys {

struct ExportColumn {
  std::string name;            // as the file spells it
  bool is_row_number = false;  // INTEGER PRIMARY KEY: looked up without a scan
};

struct ExportTable {
  std::string name;  // as the file spells it
  bool has_rowid = true;
  std::vector<ExportColumn> columns;

  // Names of columns are compared as SQLite does, without case.
  const ExportColumn* Find(std::string_view column) const;
  bool Has(std::string_view column) const { return Find(column) != nullptr; }
};

// Time for all reading of a file together: a fixed part and one that grows with it. An
// honest file is read many times faster.
struct ReadBudget {
  std::chrono::milliseconds fixed{std::chrono::minutes(2)};
  int64_t bytes_per_second = 500'000;
};

class ExportDatabase {
 public:
  // kBadData with one plain line if the file is no database, damaged, or no export.
  static Result<ExportDatabase> Open(const std::string& path, ReadBudget budget = {});

  // The table called |base|, or the newest of base, base_V2, base_V3, … that the file
  // has. Null if it has none.
  const ExportTable* Find(std::string_view base) const;
  const std::vector<ExportTable>& tables() const { return tables_; }
  // Views named like a table of an export: someone put them there.
  const std::vector<std::string>& views() const { return views_; }

  // Values of META_DATA_EXPORT (EXPORT_META_DATA in old exports) and META_DATA_CAPTURE:
  // the first of a name, empty if there is none.
  std::string Meta(const std::string& name) const;
  // All values of one name, e.g. of 'PROCESS_0:ENVIRONMENT_VARIABLE'.
  std::vector<std::string> MetaValues(const std::string& name) const;
  // '3.25.0'; empty where the file doesn't tell.
  std::string SchemaVersion() const;

  // Tables that were read, so that the others can be told.
  void NoteRead(const ExportTable& table) { read_.insert(table.name); }
  bool WasRead(const ExportTable& table) const { return read_.contains(table.name); }

  schema::Database& connection() { return connection_; }

 private:
  explicit ExportDatabase(schema::Database connection) : connection_(std::move(connection)) {}
  Status ReadCatalog();
  Status ReadColumns(ExportTable& table);
  Status CheckPages();
  Status ReadMeta();

  schema::Database connection_;
  std::vector<ExportTable> tables_;
  std::vector<std::string> views_;
  std::multimap<std::string, std::string> meta_;
  std::set<std::string> read_;
};

// What the text of a CREATE TABLE says, as far as it matters here. For tests.
struct TableSql {
  bool has_check = false;
  bool is_without_rowid = false;
  bool is_virtual = false;
};
TableSql ScanTableSql(std::string_view sql);

// "x" as a quoted SQL identifier.
std::string Quoted(std::string_view identifier);

// SQLite's comparison of names: ASCII letters without case.
bool SameName(std::string_view a, std::string_view b);

}  // namespace tutti::collector::importers::nsys
