#include "schema/run_view.h"

#include <filesystem>
#include <utility>

#include "schema/catalog.h"
#include "schema/reader.h"
#include "schema/rows.h"
#include "schema/run_table.h"
#include "schema/trace_file.h"

namespace tutti::schema {
namespace {

namespace fs = std::filesystem;

// Rank and attempt as the trace itself tells them.
Status ReadIdentity(Database& database, RankFile& file) {
  TUTTI_RETURN_IF_ERROR(CheckTable(database, *RawCatalog().Find("process")));
  TUTTI_ASSIGN_OR_RETURN(const std::vector<ProcessRow> processes,
                         ReadAll<ProcessRow>(database, "LIMIT 1"));
  if (processes.empty()) return OkStatus();
  file.rank = processes.front().rank;
  file.attempt = processes.front().attempt;
  return OkStatus();
}

// A file by itself: what it is, its content tells.
Result<RunFileSet> DescribeFile(const std::string& path) {
  TUTTI_ASSIGN_OR_RETURN(Database database, Database::OpenReadOnly(path, {.quick_check = false}));
  TUTTI_RETURN_IF_ERROR(CheckIdentity(database));
  RunFileSet files;
  if (CheckTable(database, *DerivedCatalog().Find("run_meta")).ok()) {
    files.derived = path;
    return files;
  }
  RankFile file = RankFileFromName(path).value_or(RankFile{.path = path});
  if (!file.rank.has_value()) TUTTI_RETURN_IF_ERROR(ReadIdentity(database, file));
  files.ranks.push_back(std::move(file));
  std::error_code error;
  if (fs::exists(path + ".run.sqlite", error)) files.derived = path + ".run.sqlite";
  return files;
}

Status MakeTables(Database& database, const RunFileSet& files) {
  if (!files.ranks.empty()) {
    for (const CatalogTable& table : RawCatalog().tables) {
      TUTTI_RETURN_IF_ERROR(MakeRunTable(database, table.name));
    }
  }
  if (!files.derived.empty()) {
    for (const CatalogTable& table : DerivedCatalog().tables) {
      TUTTI_RETURN_IF_ERROR(MakeRunTable(database, table.name));
    }
  }
  return OkStatus();
}

}  // namespace

RunView::RunView(std::unique_ptr<RunSource> source, Database database)
    : source_(std::move(source)), database_(std::move(database)) {}

RunView::~RunView() = default;
RunView::RunView(RunView&&) noexcept = default;

Result<RunView> RunView::Open(const std::string& run_or_file, RunViewOptions options) {
  std::error_code error;
  const bool is_folder = fs::is_directory(run_or_file, error);
  Result<RunFileSet> files = is_folder ? FindRunFiles(run_or_file) : DescribeFile(run_or_file);
  if (!files.ok()) return files.status();
  auto source = std::make_unique<RunSource>(std::move(files).value(), options.max_idle_files);
  TUTTI_ASSIGN_OR_RETURN(Database database, Database::OpenMemory());
  TUTTI_RETURN_IF_ERROR(database.Execute("PRAGMA trusted_schema=ON; PRAGMA temp_store=MEMORY"));
  TUTTI_RETURN_IF_ERROR(RegisterRunTables(database, *source));
  TUTTI_RETURN_IF_ERROR(MakeTables(database, source->files));
  TUTTI_RETURN_IF_ERROR(database.Execute("PRAGMA query_only=ON"));
  database.LimitValues();
  database.RestrictToReading(/*allow_recursive=*/true);
  return RunView(std::move(source), std::move(database));
}

const RunFileSet& RunView::files() const { return source_->files; }
size_t RunView::open_files() const { return source_->pool.open_files(); }

}  // namespace tutti::schema
