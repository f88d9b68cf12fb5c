// How fast rows become a rank's file: schema::TraceWriter against what SQLite can do at
// all with the same rows in the same table, file settings and transactions:
//
//   plain_insert         a prepared one-row INSERT per row
//   virtual_table_limit  one INSERT … SELECT per transaction from a virtual table that does
//                        nothing but read an array
//   trace_writer         Append, commits, and Finalize (which includes the sync to disk)
//
// Rates are rows per second of CPU time, from interleaved repetitions of one run; the
// ratios, of the medians, are printed on standard error (targets: docs/architecture.md).
#include <benchmark/benchmark.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "schema/rows.h"
#include "schema/sql.h"
#include "schema/writer.h"

namespace tutti::schema {
namespace {

namespace fs = std::filesystem;

constexpr size_t kRows = 400'000;
constexpr size_t kRowsPerCommit = 50'000;
constexpr int kRepetitions = 7;

// Operators as a training thread has them: nested, a microsecond apart, 200 names.
std::vector<CpuOpRow> MakeRows() {
  std::vector<CpuOpRow> rows(kRows);
  for (size_t i = 0; i < kRows; ++i) {
    const auto n = static_cast<int64_t>(i);
    rows[i] = {.id = n,
               .tid = 40'000 + n % 4,
               .name_id = n * 7 % 200,
               .scope = n % 3 == 0 ? 1 : 0,
               .begin_ns = 1'764'000'000'000'000'000 + n * 1'000};
    rows[i].end_ns = rows[i].begin_ns + 400 + n % 300;
    rows[i].depth = n % 5;
    if (n % 3 == 0) rows[i].sequence_nr = n / 3;
    rows[i].torch_tid = 1 + n % 4;
  }
  return rows;
}

class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "tutti-bench-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string File() const { return path_ / "rank-00000.sqlite"; }

 private:
  fs::path path_;
};

void Check(int code, const char* what) {
  if (code != SQLITE_OK && code != SQLITE_DONE) {
    throw std::runtime_error(std::string(what) + ": " + sqlite3_errstr(code));
  }
}

void Execute(sqlite3* database, const std::string& sql) {
  Check(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), sql.c_str());
}

// A connection set as the writer sets its own, with the raw tables.
sqlite3* OpenAsTheWriterDoes(const std::string& path) {
  sqlite3* database = nullptr;
  Check(sqlite3_open_v2(path.c_str(), &database,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr),
        "open");
  Execute(database,
          "PRAGMA page_size=16384; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
          "PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY");
  Execute(database, std::string(RawSql()));
  return database;
}

void BindOptional(sqlite3_stmt* insert, int parameter, const std::optional<int64_t>& value) {
  if (value) {
    sqlite3_bind_int64(insert, parameter, *value);
  } else {
    sqlite3_bind_null(insert, parameter);
  }
}

void InsertOneByOne(sqlite3* database, const CpuOpRow* begin, const CpuOpRow* end) {
  sqlite3_stmt* insert = nullptr;
  Check(sqlite3_prepare_v2(database,
                           "INSERT INTO cpu_op VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13)",
                           -1, &insert, nullptr),
        "prepare");
  for (const CpuOpRow* row = begin; row != end; ++row) {
    sqlite3_bind_int64(insert, 1, row->id);
    sqlite3_bind_int64(insert, 2, row->tid);
    sqlite3_bind_int64(insert, 3, row->name_id);
    sqlite3_bind_int64(insert, 4, row->scope);
    sqlite3_bind_int64(insert, 5, row->begin_ns);
    BindOptional(insert, 6, row->end_ns);
    sqlite3_bind_int64(insert, 7, row->depth);
    BindOptional(insert, 8, row->sequence_nr);
    BindOptional(insert, 9, row->torch_tid);
    BindOptional(insert, 10, row->forward_tid);
    sqlite3_bind_int64(insert, 11, row->shapes_id);
    BindOptional(insert, 12, row->end_tid);
    BindOptional(insert, 13, row->external_id);
    Check(sqlite3_step(insert), "insert");
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
}

// The least that a virtual table over rows in memory can be.
struct BareTable : sqlite3_vtab {
  const CpuOpRow** range;  // [0] first row, [1] behind the last
};
struct BareCursor : sqlite3_vtab_cursor {
  const CpuOpRow* row;
  const CpuOpRow* end;
};

void ReturnOptional(sqlite3_context* context, const std::optional<int64_t>& value) {
  if (value) sqlite3_result_int64(context, *value);
}

int BareColumn(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column) {
  const CpuOpRow& row = *static_cast<BareCursor*>(cursor)->row;
  switch (column) {
    case 0:
      sqlite3_result_int64(context, row.id);
      break;
    case 1:
      sqlite3_result_int64(context, row.tid);
      break;
    case 2:
      sqlite3_result_int64(context, row.name_id);
      break;
    case 3:
      sqlite3_result_int64(context, row.scope);
      break;
    case 4:
      sqlite3_result_int64(context, row.begin_ns);
      break;
    case 5:
      ReturnOptional(context, row.end_ns);
      break;
    case 6:
      sqlite3_result_int64(context, row.depth);
      break;
    case 7:
      ReturnOptional(context, row.sequence_nr);
      break;
    case 8:
      ReturnOptional(context, row.torch_tid);
      break;
    case 9:
      ReturnOptional(context, row.forward_tid);
      break;
    case 10:
      sqlite3_result_int64(context, row.shapes_id);
      break;
    case 11:
      ReturnOptional(context, row.end_tid);
      break;
    default:
      ReturnOptional(context, row.external_id);
      break;
  }
  return SQLITE_OK;
}

sqlite3_module BareModule() {
  sqlite3_module module{};
  module.xConnect = [](sqlite3* database, void* range, int, const char* const*,
                       sqlite3_vtab** table, char**) {
    *table = new BareTable{{}, static_cast<const CpuOpRow**>(range)};
    return sqlite3_declare_vtab(database, "CREATE TABLE t(a,b,c,d,e,f,g,h,i,j,k,l,m)");
  };
  module.xBestIndex = [](sqlite3_vtab*, sqlite3_index_info*) { return SQLITE_OK; };
  module.xDisconnect = [](sqlite3_vtab* table) {
    delete static_cast<BareTable*>(table);
    return SQLITE_OK;
  };
  module.xOpen = [](sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) {
    const CpuOpRow** range = static_cast<BareTable*>(table)->range;
    *cursor = new BareCursor{{}, range[0], range[1]};
    return SQLITE_OK;
  };
  module.xClose = [](sqlite3_vtab_cursor* cursor) {
    delete static_cast<BareCursor*>(cursor);
    return SQLITE_OK;
  };
  module.xFilter = [](sqlite3_vtab_cursor*, int, const char*, int, sqlite3_value**) {
    return SQLITE_OK;
  };
  module.xNext = [](sqlite3_vtab_cursor* cursor) {
    ++static_cast<BareCursor*>(cursor)->row;
    return SQLITE_OK;
  };
  module.xEof = [](sqlite3_vtab_cursor* cursor) {
    const auto* bare = static_cast<BareCursor*>(cursor);
    return bare->row == bare->end ? 1 : 0;
  };
  module.xColumn = BareColumn;
  module.xRowid = [](sqlite3_vtab_cursor*, sqlite3_int64* id) {
    *id = 0;
    return SQLITE_OK;
  };
  return module;
}

void InsertFromBareTable(sqlite3* database, const CpuOpRow* begin, const CpuOpRow* end) {
  static const sqlite3_module module = BareModule();
  const CpuOpRow* range[] = {begin, end};
  Check(sqlite3_create_module(database, "bare", &module, range), "module");
  Execute(database, "INSERT INTO cpu_op SELECT * FROM bare");
}

using InsertRows = void (*)(sqlite3*, const CpuOpRow* begin, const CpuOpRow* end);

// With either way: the file made, filled by transactions, its log emptied.
void WithSqlite(benchmark::State& state, InsertRows insert, const std::vector<CpuOpRow>* rows) {
  for (auto _ : state) {
    state.PauseTiming();
    const Folder folder;
    state.ResumeTiming();
    sqlite3* database = OpenAsTheWriterDoes(folder.File());
    for (size_t first = 0; first < rows->size(); first += kRowsPerCommit) {
      Execute(database, "BEGIN");
      insert(database, rows->data() + first, rows->data() + first + kRowsPerCommit);
      Execute(database, "COMMIT");
    }
    Execute(database, "PRAGMA wal_checkpoint(TRUNCATE)");
    Check(sqlite3_close(database), "close");
    state.PauseTiming();
    state.counters["bytes_per_row"] =
        static_cast<double>(fs::file_size(folder.File())) / static_cast<double>(rows->size());
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(rows->size()));
}

void WithTraceWriter(benchmark::State& state, const std::vector<CpuOpRow>* rows) {
  for (auto _ : state) {
    state.PauseTiming();
    const Folder folder;
    state.ResumeTiming();
    std::unique_ptr<TraceWriter> writer = *TraceWriter::Create(folder.File());
    for (const CpuOpRow& row : *rows) {
      if (!writer->Append(row).ok()) throw std::runtime_error("append");
    }
    if (!writer->Finalize().ok()) throw std::runtime_error("finalize");
    state.PauseTiming();
    state.counters["bytes_per_row"] =
        static_cast<double>(fs::file_size(folder.File())) / static_cast<double>(rows->size());
    writer.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(rows->size()));
}

// Prints as usual, and keeps the median rate of each benchmark.
class RateKeeper : public benchmark::ConsoleReporter {
 public:
  RateKeeper() : ConsoleReporter(OO_Tabular) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      const auto rate = run.counters.find("items_per_second");
      if (run.aggregate_name == "median" && rate != run.counters.end()) {
        rates[run.run_name.function_name] = rate->second;
      }
    }
  }
  std::map<std::string, double> rates;
};

void PrintRatios(const std::map<std::string, double>& rates) {
  if (rates.size() < 3) return;  // --benchmark_filter left some out
  const double writer = rates.at("trace_writer");
  std::fprintf(stderr,
               "trace_writer %.2f M rows/s = %.2f x virtual-table limit (target >= 0.70), "
               "%.2f x plain inserts\n",
               writer / 1e6, writer / rates.at("virtual_table_limit"),
               writer / rates.at("plain_insert"));
}

int Main(int argc, char** argv) {
  // Before the user's own flags, so that those win.
  std::vector<char*> arguments(argv, argv + argc);
  std::string interleave = "--benchmark_enable_random_interleaving=true";
  std::string repetitions = "--benchmark_repetitions=" + std::to_string(kRepetitions);
  arguments.insert(arguments.begin() + 1, {interleave.data(), repetitions.data()});
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  const std::vector<CpuOpRow> rows = MakeRows();
  benchmark::RegisterBenchmark("plain_insert", WithSqlite, InsertOneByOne, &rows);
  benchmark::RegisterBenchmark("virtual_table_limit", WithSqlite, InsertFromBareTable, &rows);
  benchmark::RegisterBenchmark("trace_writer", WithTraceWriter, &rows);
  if (std::any_of(argv, argv + argc,
                  [](std::string_view flag) { return flag.starts_with("--benchmark_format="); })) {
    benchmark::RunSpecifiedBenchmarks();  // for a program, which makes its own ratios
    return 0;
  }
  RateKeeper reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  PrintRatios(reporter.rates);
  return 0;
}

}  // namespace
}  // namespace tutti::schema

int main(int argc, char** argv) { return tutti::schema::Main(argc, argv); }
