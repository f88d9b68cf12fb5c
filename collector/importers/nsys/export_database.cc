#include "collector/importers/nsys/export_database.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

namespace tutti::collector::importers::nsys {
namespace {

constexpr size_t kMostTables = 2'000;  // a complete export has about 250
constexpr size_t kMostMeta = 10'000;
constexpr const char* kAdvice =
    "export the report again: nsys export --type sqlite -o FILE.sqlite FILE.nsys-rep";

char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

bool IsWordCharacter(char c) {
  const char upper = Upper(c);
  return (upper >= 'A' && upper <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Past the quoted text that begins at |at|; doubled quotes stand for themselves.
size_t SkipQuoted(std::string_view sql, size_t at) {
  const char close = sql[at] == '[' ? ']' : sql[at];
  for (++at; at < sql.size(); ++at) {
    if (sql[at] != close) continue;
    if (close == ']' || at + 1 >= sql.size() || sql[at + 1] != close) return at + 1;
    ++at;
  }
  return at;
}

size_t SkipUntil(std::string_view sql, size_t at, std::string_view end) {
  const size_t found = sql.find(end, at);
  return found == std::string_view::npos ? sql.size() : found + end.size();
}

// Bare words of |sql| in order, upper case: no comments, strings or quoted names.
std::vector<std::string> BareWords(std::string_view sql) {
  std::vector<std::string> words;
  size_t at = 0;
  while (at < sql.size()) {
    const std::string_view rest = sql.substr(at);
    if (rest.starts_with("--")) {
      at = SkipUntil(sql, at, "\n");
    } else if (rest.starts_with("/*")) {
      at = SkipUntil(sql, at + 2, "*/");
    } else if (std::string_view("'\"`[").find(sql[at]) != std::string_view::npos) {
      at = SkipQuoted(sql, at);
    } else if (IsWordCharacter(sql[at])) {
      std::string word;
      while (at < sql.size() && IsWordCharacter(sql[at])) word += Upper(sql[at++]);
      words.push_back(std::move(word));
    } else {
      ++at;
    }
  }
  return words;
}

// 1 for |base| itself, N for base_VN, 0 for anything else.
int VersionOf(std::string_view name, std::string_view base) {
  if (SameName(name, base)) return 1;
  if (name.size() < base.size() + 3 || !SameName(name.substr(0, base.size()), base)) return 0;
  const std::string_view suffix = name.substr(base.size());
  if (suffix[0] != '_' || Upper(suffix[1]) != 'V') return 0;
  int version = 0;
  const auto [end, error] =
      std::from_chars(suffix.data() + 2, suffix.data() + suffix.size(), version);
  if (error != std::errc() || end != suffix.data() + suffix.size()) return 0;
  return version >= 2 ? version : 0;
}

bool LooksLikeExport(const std::vector<ExportTable>& tables) {
  return std::any_of(tables.begin(), tables.end(), [](const ExportTable& table) {
    return table.name == "StringIds" || table.name == "META_DATA_EXPORT" ||
           table.name == "EXPORT_META_DATA" || table.name.starts_with("CUPTI_ACTIVITY_KIND_") ||
           table.name.starts_with("NVTX_EVENTS") || table.name.starts_with("OSRT_");
  });
}

std::chrono::milliseconds BudgetFor(const std::string& path, const ReadBudget& budget) {
  std::error_code error;
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(path, error));
  if (error) return budget.fixed;
  return budget.fixed + std::chrono::milliseconds(bytes / (budget.bytes_per_second / 1000));
}

}  // namespace

bool SameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Upper(x) == Upper(y); });
}

std::string Quoted(std::string_view identifier) {
  std::string quoted = "\"";
  for (const char c : identifier) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

TableSql ScanTableSql(std::string_view sql) {
  TableSql facts;
  const std::vector<std::string> words = BareWords(sql);
  facts.is_virtual = words.size() > 1 && words[1] == "VIRTUAL";
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "CHECK") facts.has_check = true;
    if (words[i] == "WITHOUT" && i + 1 < words.size() && words[i + 1] == "ROWID") {
      facts.is_without_rowid = true;
    }
  }
  return facts;
}

const ExportColumn* ExportTable::Find(std::string_view column) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const ExportColumn& c) { return SameName(c.name, column); });
  return found == columns.end() ? nullptr : &*found;
}

Result<ExportDatabase> ExportDatabase::Open(const std::string& path, ReadBudget budget) {
  TUTTI_ASSIGN_OR_RETURN(schema::Database connection,
                         schema::Database::OpenReadOnly(path, {.quick_check = false}));
  connection.SetDeadline(BudgetFor(path, budget));
  ExportDatabase database(std::move(connection));
  TUTTI_RETURN_IF_ERROR(database.ReadCatalog());
  if (database.tables_.empty() && database.views_.empty()) {
    return BadDataError(path + ": an empty database; " + kAdvice);
  }
  if (!LooksLikeExport(database.tables_)) {
    return BadDataError(path +
                        ": an SQLite database, but no export of Nsight Systems (no StringIds, "
                        "CUPTI_ACTIVITY_KIND_… or NVTX_EVENTS table)");
  }
  TUTTI_RETURN_IF_ERROR(database.CheckPages());
  TUTTI_RETURN_IF_ERROR(database.ReadMeta());
  return database;
}

Status ExportDatabase::ReadCatalog() {
  TUTTI_ASSIGN_OR_RETURN(
      schema::Statement rows,
      connection_.Prepare(
          "SELECT type, name, coalesce(sql, '') FROM sqlite_schema "
          "WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite^_%' ESCAPE '^' "
          "ORDER BY rowid"));
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) break;
    TUTTI_ASSIGN_OR_RETURN(const std::string type, rows.Get<std::string>(0));
    TUTTI_ASSIGN_OR_RETURN(std::string name, rows.Get<std::string>(1));
    TUTTI_ASSIGN_OR_RETURN(const std::string sql, rows.Get<std::string>(2));
    const TableSql facts = ScanTableSql(sql);
    if (tables_.size() + views_.size() >= kMostTables) {
      return BadDataError(connection_.path() + ": more than " + std::to_string(kMostTables) +
                          " tables; no export of Nsight Systems has that many");
    }
    if (type == "view" || facts.is_virtual) {
      views_.push_back(std::move(name));
      continue;
    }
    if (facts.has_check) {
      return BadDataError(connection_.path() + ": table " + name +
                          " has a CHECK constraint, which no export of Nsight Systems has");
    }
    tables_.push_back({std::move(name), !facts.is_without_rowid, {}});
  }
  for (ExportTable& table : tables_) TUTTI_RETURN_IF_ERROR(ReadColumns(table));
  return OkStatus();
}

Status ExportDatabase::ReadColumns(ExportTable& table) {
  TUTTI_ASSIGN_OR_RETURN(schema::Statement rows,
                         connection_.Prepare("PRAGMA table_xinfo(" + Quoted(table.name) + ")"));
  int keys = 0;
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) break;
    TUTTI_ASSIGN_OR_RETURN(std::string name, rows.Get<std::string>(1));
    TUTTI_ASSIGN_OR_RETURN(const std::string type, rows.Get<std::string>(2));
    TUTTI_ASSIGN_OR_RETURN(const int64_t key, rows.Get<int64_t>(5));
    TUTTI_ASSIGN_OR_RETURN(const int64_t hidden, rows.Get<int64_t>(6));
    if (key > 0) ++keys;
    if (hidden != 0) continue;  // generated: reading it would run an expression
    table.columns.push_back({std::move(name), key == 1 && SameName(type, "INTEGER")});
  }
  if (keys == 1 && table.has_rowid) return OkStatus();
  for (ExportColumn& column : table.columns) column.is_row_number = false;
  return OkStatus();
}

Status ExportDatabase::CheckPages() {
  TUTTI_ASSIGN_OR_RETURN(const std::string verdict,
                         connection_.QueryOne<std::string>("PRAGMA quick_check(1)"));
  if (verdict == "ok") return OkStatus();
  return BadDataError(connection_.path() + ": the database is damaged (" + verdict + "); " +
                      kAdvice);
}

Status ExportDatabase::ReadMeta() {
  for (const char* base : {"META_DATA_EXPORT", "EXPORT_META_DATA", "META_DATA_CAPTURE"}) {
    const ExportTable* table = Find(base);
    if (table == nullptr || !table->Has("name") || !table->Has("value")) continue;
    TUTTI_ASSIGN_OR_RETURN(
        schema::Statement rows,
        connection_.Prepare("SELECT name, value FROM " + Quoted(table->name) +
                            " WHERE typeof(name) = 'text' AND typeof(value) = 'text' LIMIT " +
                            std::to_string(kMostMeta)));
    while (true) {
      TUTTI_ASSIGN_OR_RETURN(const bool more, rows.Step());
      if (!more) break;
      TUTTI_ASSIGN_OR_RETURN(std::string name, rows.Get<std::string>(0));
      TUTTI_ASSIGN_OR_RETURN(std::string value, rows.Get<std::string>(1));
      meta_.emplace(std::move(name), std::move(value));
    }
  }
  return OkStatus();
}

const ExportTable* ExportDatabase::Find(std::string_view base) const {
  const ExportTable* newest = nullptr;
  int newest_version = 0;
  for (const ExportTable& table : tables_) {
    const int version = VersionOf(table.name, base);
    if (version <= newest_version) continue;
    newest = &table;
    newest_version = version;
  }
  return newest;
}

std::string ExportDatabase::Meta(const std::string& name) const {
  const auto found = meta_.lower_bound(name);
  return found == meta_.end() || found->first != name ? "" : found->second;
}

std::vector<std::string> ExportDatabase::MetaValues(const std::string& name) const {
  std::vector<std::string> values;
  const auto [begin, end] = meta_.equal_range(name);
  for (auto entry = begin; entry != end; ++entry) values.push_back(entry->second);
  return values;
}

std::string ExportDatabase::SchemaVersion() const { return Meta("EXPORT_SCHEMA_VERSION"); }

}  // namespace tutti::collector::importers::nsys
