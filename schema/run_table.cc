#include "schema/run_table.h"

#include <sqlite3.h>

#include <memory>
#include <optional>
#include <utility>

#include "schema/catalog_text.h"
#include "schema/run_plan.h"
#include "schema/sqlite_error.h"

namespace tutti::schema {
namespace {

constexpr const char* kModule = "tutti_run";
constexpr int64_t kUnknownRows = 1'000;

struct RunTable : sqlite3_vtab {
  RunTable(RunSource& run, const CatalogTable& shape, bool per_rank)
      : sqlite3_vtab{},
        source(run),
        columns(shape, per_rank),
        files(per_rank ? run.files.ranks : run.derived_files) {}

  RunSource& source;
  RunColumns columns;
  const std::vector<RankFile>& files;
  std::vector<const CatalogTable*> needed;    // tables whose shape a file must have
  std::optional<int64_t> rows_per_file = {};  // about; not asked yet
  bool one_attempt = true;
};

// A row of one of the files, or the end of all.
struct RunCursor : sqlite3_vtab_cursor {
  explicit RunCursor(RunTable& opened) : sqlite3_vtab_cursor{}, table(opened) {}
  ~RunCursor() {
    LeaveFile();
    FreeValues();
  }

  int Filter(const char* plan, int count, sqlite3_value** values);
  int Next();
  void Return(sqlite3_context* context, int column);
  bool is_at_end() const { return !statement.has_value(); }

  bool Wants(const RankFile& candidate) const;
  int EnterNextFile();
  Result<bool> EnterFile();
  void LeaveFile();
  void FreeValues();
  int Fail(const Status& status);

  RunTable& table;
  std::string plan_text;
  RunPlan plan;
  std::string sql;                       // for one file
  std::vector<sqlite3_value*> compared;  // what the terms of the plan compare with; owned
  size_t next_file = 0;
  const RankFile* file = nullptr;
  PooledFile* open_file = nullptr;
  std::optional<Statement> statement;  // on open_file, at a row
  sqlite3_int64 row_number = 0;
};

// Only numbers are compared here; what else SQL can compare rank and attempt with is left
// to SQLite, which looks at every row again.
bool Holds(std::optional<int64_t> number, const std::string& op, sqlite3_value* value) {
  const int type = sqlite3_value_type(value);
  if (type == SQLITE_NULL) return false;
  if (type != SQLITE_INTEGER) return true;
  if (!number.has_value()) return false;
  const int64_t other = sqlite3_value_int64(value);
  if (op == "=") return *number == other;
  if (op == "<") return *number < other;
  if (op == "<=") return *number <= other;
  if (op == ">") return *number > other;
  if (op == ">=") return *number >= other;
  return *number != other;
}

bool RunCursor::Wants(const RankFile& candidate) const {
  for (size_t i = 0; i < plan.terms.size(); ++i) {
    const RunTerm& term = plan.terms[i];
    if (table.columns.column(term.column) != nullptr) continue;  // the file's SQLite compares
    const bool is_rank = term.column == RunColumns::kRank;
    const std::optional<int64_t> number = is_rank ? candidate.rank : candidate.attempt;
    if (!Holds(number, term.op, compared[i])) return false;
  }
  return true;
}

void RunCursor::FreeValues() {
  for (sqlite3_value* value : compared) sqlite3_value_free(value);
  compared.clear();
}

void RunCursor::LeaveFile() {
  if (statement.has_value()) open_file->GiveBack(sql, *std::exchange(statement, std::nullopt));
  if (open_file != nullptr) table.source.pool.Release(std::exchange(open_file, nullptr));
}

int RunCursor::Fail(const Status& status) {
  LeaveFile();
  sqlite3_free(table.zErrMsg);
  table.zErrMsg = sqlite3_mprintf("%s", status.message().c_str());
  // Codes that sqlite_error.cc turns into a Status with just this message.
  return status.code() == StatusCode::kIo ? SQLITE_PROTOCOL : SQLITE_CONSTRAINT_VTAB;
}

// Opens `file` and goes to its first row; false if it has none.
Result<bool> RunCursor::EnterFile() {
  TUTTI_ASSIGN_OR_RETURN(open_file, table.source.pool.Acquire(file->path));
  TUTTI_RETURN_IF_ERROR(open_file->Check(table.needed));
  TUTTI_ASSIGN_OR_RETURN(statement, open_file->Take(sql));
  int parameter = 0;
  for (size_t i = 0; i < plan.terms.size(); ++i) {
    if (table.columns.column(plan.terms[i].column) == nullptr) continue;
    sqlite3_bind_value(statement->handle(), ++parameter, compared[i]);
  }
  return statement->Step();
}

int RunCursor::EnterNextFile() {
  while (next_file < table.files.size()) {
    file = &table.files[next_file++];
    if (!Wants(*file)) continue;
    const Result<bool> found = EnterFile();
    if (!found.ok()) return Fail(found.status());
    if (*found) return SQLITE_OK;
    LeaveFile();
  }
  return SQLITE_OK;
}

int RunCursor::Filter(const char* new_plan, int count, sqlite3_value** values) {
  LeaveFile();
  FreeValues();
  if (plan_text != new_plan) {
    plan_text = new_plan;
    plan = RunPlan::FromText(plan_text);
    sql = plan.Sql(table.columns);
  }
  for (int i = 0; i < count; ++i) compared.push_back(sqlite3_value_dup(values[i]));
  next_file = 0;
  return EnterNextFile();
}

int RunCursor::Next() {
  ++row_number;
  const Result<bool> found = statement->Step();
  if (!found.ok()) return Fail(found.status());
  if (*found) return SQLITE_OK;
  LeaveFile();
  return EnterNextFile();
}

void RunCursor::Return(sqlite3_context* context, int column) {
  if (table.columns.column(column) != nullptr) {
    const int inner = column - (table.columns.per_rank ? RunColumns::kOwnColumns : 0);
    sqlite3_result_value(context, sqlite3_column_value(statement->handle(), inner));
  } else if (column == RunColumns::kAttempt) {
    sqlite3_result_int64(context, file->attempt);
  } else if (file->rank.has_value()) {
    sqlite3_result_int64(context, *file->rank);
  }
}

// About how many rows a file has, by the first file. Only the plan depends on it.
int64_t EstimateRows(RunTable& table) {
  if (table.rows_per_file.has_value()) return *table.rows_per_file;
  table.rows_per_file = kUnknownRows;
  if (table.files.empty() || table.needed.empty()) return kUnknownRows;
  Result<PooledFile*> file = table.source.pool.Acquire(table.files.front().path);
  if (!file.ok()) return kUnknownRows;
  if ((*file)->Check(table.needed).ok()) {
    Result<Statement> last =
        (*file)->Take("SELECT max(rowid) FROM main.\"" + table.needed.front()->name + "\"");
    if (last.ok() && last->Step().ok()) {
      table.rows_per_file = last->Get<int64_t>(0).ok() ? *last->Get<int64_t>(0) : 0;
    }
  }
  table.source.pool.Release(*file);
  return *table.rows_per_file;
}

int Connect(sqlite3* database, void* run, int, const char* const* arguments, sqlite3_vtab** result,
            char** error) {
  constexpr int kTableName = 2;
  const std::string name = arguments[kTableName];
  const bool per_rank = RawCatalog().Find(name) != nullptr;
  const Catalog& catalog = per_rank ? RawCatalog() : DerivedCatalog();
  const CatalogTable* shape = catalog.Find(name);
  if (shape == nullptr) {
    *error = sqlite3_mprintf("no table %s in the schema", name.c_str());
    return SQLITE_ERROR;
  }
  auto table = std::make_unique<RunTable>(*static_cast<RunSource*>(run), *shape, per_rank);
  for (const std::string& source : TablesOf(shape->is_view ? shape->select : "FROM " + name)) {
    if (const CatalogTable* needed = catalog.Find(source)) table->needed.push_back(needed);
  }
  for (const RankFile& file : table->files) {
    table->one_attempt = table->one_attempt && file.attempt == table->files.front().attempt;
  }
  const int code = sqlite3_declare_vtab(database, table->columns.Declaration().c_str());
  if (code == SQLITE_OK) *result = table.release();
  return code;
}

int Disconnect(sqlite3_vtab* table) {
  delete static_cast<RunTable*>(table);
  return SQLITE_OK;
}

int BestIndex(sqlite3_vtab* base, sqlite3_index_info* info) {
  auto& table = *static_cast<RunTable*>(base);
  const RunPlan plan = ChoosePlan(table.columns, static_cast<int64_t>(table.files.size()),
                                  EstimateRows(table), table.one_attempt, info);
  info->idxStr = sqlite3_mprintf("%s", plan.ToText().c_str());
  info->needToFreeIdxStr = 1;
  return info->idxStr == nullptr ? SQLITE_NOMEM : SQLITE_OK;
}

int Open(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) {
  *cursor = new RunCursor(*static_cast<RunTable*>(table));
  return SQLITE_OK;
}

int Close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<RunCursor*>(cursor);
  return SQLITE_OK;
}

int Filter(sqlite3_vtab_cursor* cursor, int, const char* plan, int count, sqlite3_value** values) {
  return static_cast<RunCursor*>(cursor)->Filter(plan, count, values);
}

int Next(sqlite3_vtab_cursor* cursor) { return static_cast<RunCursor*>(cursor)->Next(); }

int Eof(sqlite3_vtab_cursor* cursor) {
  return static_cast<RunCursor*>(cursor)->is_at_end() ? 1 : 0;
}

int Column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column) {
  static_cast<RunCursor*>(cursor)->Return(context, column);
  return SQLITE_OK;
}

int RowId(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
  *id = static_cast<RunCursor*>(cursor)->row_number;
  return SQLITE_OK;
}

const sqlite3_module& Module() {
  static const sqlite3_module module = [] {
    sqlite3_module functions{};
    functions.iVersion = 1;
    functions.xCreate = Connect;
    functions.xConnect = Connect;
    functions.xBestIndex = BestIndex;
    functions.xDisconnect = Disconnect;
    functions.xDestroy = Disconnect;
    functions.xOpen = Open;
    functions.xClose = Close;
    functions.xFilter = Filter;
    functions.xNext = Next;
    functions.xEof = Eof;
    functions.xColumn = Column;
    functions.xRowid = RowId;
    return functions;
  }();
  return module;
}

}  // namespace

Status RegisterRunTables(Database& database, RunSource& source) {
  const int code =
      sqlite3_create_module_v2(database.handle(), kModule, &Module(), &source, nullptr);
  return code == SQLITE_OK ? OkStatus() : ErrorOf(database.handle(), code);
}

Status MakeRunTable(Database& database, const std::string& table) {
  return database.Execute("CREATE VIRTUAL TABLE \"" + table + "\" USING " + kModule);
}

}  // namespace tutti::schema
