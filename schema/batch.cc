#include "schema/batch.h"

#include <sqlite3.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "common/text.h"
#include "schema/field_of.h"
#include "schema/sqlite_error.h"

namespace tutti::schema {

// What the virtual table reads; empty between two calls of Insert.
struct BatchSource {
  const RowLayout& layout;
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
};

namespace {

struct Table : sqlite3_vtab {
  const BatchSource* source;
};

struct Cursor : sqlite3_vtab_cursor {
  const BatchSource* source;
  const std::byte* row;
};

void ReturnText(sqlite3_context* context, const std::string& text) {
  if (IsStorableText(text)) {
    // The row outlives the statement, so SQLite need not copy.
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  } else {
    const std::string fixed = ToStorableText(text);
    sqlite3_result_text64(context, fixed.data(), fixed.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
}

void ReturnValue(sqlite3_context* context, const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    sqlite3_result_int64(context, *number);
  } else if (const auto* real = std::get_if<double>(&value)) {
    sqlite3_result_double(context, *real);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    ReturnText(context, *text);
  } else {
    const std::string& bytes = std::get<Blob>(value).bytes;
    sqlite3_result_blob64(context, bytes.data(), bytes.size(), SQLITE_STATIC);
  }
}

int Connect(sqlite3* database, void* source, int, const char* const*, sqlite3_vtab** result,
            char**) {
  auto* table = new Table{{}, static_cast<const BatchSource*>(source)};
  *result = table;
  std::string declaration;
  for (const ColumnBinding& column : table->source->layout.columns) {
    declaration += (declaration.empty() ? "CREATE TABLE rows(\"" : ", \"");
    declaration += std::string(column.name) + "\"";
  }
  return sqlite3_declare_vtab(database, (declaration + ")").c_str());
}

int Disconnect(sqlite3_vtab* table) {
  delete static_cast<Table*>(table);
  return SQLITE_OK;
}

// There is one way to read the rows: from the first to the last.
int BestIndex(sqlite3_vtab*, sqlite3_index_info*) { return SQLITE_OK; }

int Open(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) {
  *cursor = new Cursor{{}, static_cast<Table*>(table)->source, nullptr};
  return SQLITE_OK;
}

int Close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

int Filter(sqlite3_vtab_cursor* base, int, const char*, int, sqlite3_value**) {
  auto* cursor = static_cast<Cursor*>(base);
  cursor->row = cursor->source->begin;
  return SQLITE_OK;
}

int Next(sqlite3_vtab_cursor* base) {
  auto* cursor = static_cast<Cursor*>(base);
  cursor->row += cursor->source->layout.row_bytes;
  return SQLITE_OK;
}

int Eof(sqlite3_vtab_cursor* base) {
  const auto* cursor = static_cast<Cursor*>(base);
  return cursor->row == cursor->source->end ? 1 : 0;
}

int Column(sqlite3_vtab_cursor* base, sqlite3_context* context, int index) {
  const auto* cursor = static_cast<Cursor*>(base);
  const ColumnBinding& column = cursor->source->layout.columns[static_cast<size_t>(index)];
  switch (column.kind) {
    case ColumnKind::kInteger:
      if (const auto* number = FieldOf<int64_t>(column, cursor->row)) {
        sqlite3_result_int64(context, *number);
      }
      break;
    case ColumnKind::kReal:
      if (const auto* real = FieldOf<double>(column, cursor->row)) {
        sqlite3_result_double(context, *real);
      }
      break;
    case ColumnKind::kText:
      if (const auto* text = FieldOf<std::string>(column, cursor->row)) ReturnText(context, *text);
      break;
    case ColumnKind::kAny:
      if (const auto* value = FieldOf<Value>(column, cursor->row)) ReturnValue(context, *value);
      break;
  }
  return SQLITE_OK;  // no result set: NULL
}

int RowId(sqlite3_vtab_cursor* base, sqlite3_int64* id) {
  const auto* cursor = static_cast<Cursor*>(base);
  *id = (cursor->row - cursor->source->begin) /
        static_cast<ptrdiff_t>(cursor->source->layout.row_bytes);
  return SQLITE_OK;
}

// No xCreate: the table needs no CREATE VIRTUAL TABLE and leaves nothing in the file.
const sqlite3_module& Module() {
  static const sqlite3_module module = [] {
    sqlite3_module functions{};
    functions.iVersion = 1;
    functions.xConnect = Connect;
    functions.xBestIndex = BestIndex;
    functions.xDisconnect = Disconnect;
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

std::string Quoted(std::string_view name) { return "\"" + std::string(name) + "\""; }

std::string ColumnList(const RowLayout& layout) {
  std::string list;
  for (const ColumnBinding& column : layout.columns) {
    if (!list.empty()) list += ", ";
    list += Quoted(column.name);
  }
  return list;
}

// " ON CONFLICT (key) DO UPDATE SET a = excluded.a, …": a later row replaces the earlier.
Result<std::string> ReplaceClause(Database& database, const RowLayout& layout) {
  TUTTI_ASSIGN_OR_RETURN(Statement keys,
                         database.Prepare("SELECT name FROM pragma_table_info(?1, 'main') "
                                          "WHERE pk > 0 ORDER BY pk"));
  TUTTI_RETURN_IF_ERROR(keys.Bind(1, layout.table));
  std::string key_list;
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, keys.Step());
    if (!found) break;
    TUTTI_ASSIGN_OR_RETURN(const std::string name, keys.Get<std::string>(0));
    key_list += (key_list.empty() ? "" : ", ") + Quoted(name);
  }
  std::string assignments;
  for (const ColumnBinding& column : layout.columns) {
    assignments += (assignments.empty() ? "" : ", ") + Quoted(column.name) + " = excluded." +
                   Quoted(column.name);
  }
  return " WHERE true ON CONFLICT (" + key_list + ") DO UPDATE SET " + assignments;
}

std::string UniqueModuleName(std::string_view table) {
  static std::atomic<uint64_t> next{0};
  return "tutti_batch_" + std::string(table) + "_" + std::to_string(next.fetch_add(1));
}

}  // namespace

RawInserter::RawInserter(Database& database, const RowLayout& layout)
    : connection_(database.handle()),
      module_(UniqueModuleName(layout.table)),
      source_(std::make_unique<BatchSource>(BatchSource{layout})) {}

RawInserter::~RawInserter() {
  statement_.reset();
  sqlite3_create_module_v2(connection_, module_.c_str(), nullptr, nullptr, nullptr);
}

Result<std::unique_ptr<RawInserter>> RawInserter::Make(Database& database,
                                                       const RowLayout& layout) {
  std::unique_ptr<RawInserter> inserter(new RawInserter(database, layout));
  TUTTI_RETURN_IF_ERROR(inserter->Prepare(database, layout));
  return inserter;
}

Status RawInserter::Prepare(Database& database, const RowLayout& layout) {
  const int code =
      sqlite3_create_module_v2(connection_, module_.c_str(), &Module(), source_.get(), nullptr);
  if (code != SQLITE_OK) return ErrorOf(connection_, code);
  std::string sql = "INSERT OR IGNORE INTO main." + Quoted(layout.table) + " (" +
                    ColumnList(layout) + ") SELECT * FROM " + Quoted(module_);
  if (layout.keyed) {
    TUTTI_ASSIGN_OR_RETURN(const std::string replace, ReplaceClause(database, layout));
    sql += replace;
  }
  TUTTI_ASSIGN_OR_RETURN(statement_, database.Prepare(sql));
  return OkStatus();
}

Result<int64_t> RawInserter::Insert(const void* rows, size_t count) {
  if (count == 0) return int64_t{0};
  source_->begin = static_cast<const std::byte*>(rows);
  source_->end = source_->begin + count * source_->layout.row_bytes;
  const Status status = statement_->Run();
  source_->begin = source_->end = nullptr;
  TUTTI_RETURN_IF_ERROR(status);
  return static_cast<int64_t>(count) - sqlite3_changes64(connection_);
}

}  // namespace tutti::schema
