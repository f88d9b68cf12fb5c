#include "schema/migration.h"

#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "schema/reader.h"
#include "schema/run_files.h"
#include "schema/trace_file.h"
#include "schema/writer.h"

namespace tutti::schema {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFromKey = "migrated.from_version";
// What the new file says of itself.
const std::set<std::string> kOwnKeys = {"file.kind", "schema.version", "file.complete", kFromKey};

template <typename Row>
Status CopyTable(Database& database, TraceWriter& writer) {
  return ForEach<Row>(database, "", [&](const Row& row) { return writer.Append(row); });
}

template <>
Status CopyTable<MetaRow>(Database& database, TraceWriter& writer) {
  return ForEach<MetaRow>(database, "", [&](const MetaRow& row) {
    return kOwnKeys.contains(row.key) ? OkStatus() : writer.Append(row);
  });
}

template <typename... Rows>
Status CopyTables(Database& database, TraceWriter& writer, std::tuple<Rows...>) {
  Status status;
  const auto copy = [&](auto&& one) {
    status = one();
    return status.ok();
  };
  (copy([&] { return CopyTable<Rows>(database, writer); }) && ...);
  return status;
}

Result<MigratedFile> CopyRankFile(const std::string& path, const std::string& output) {
  TUTTI_ASSIGN_OR_RETURN(Database database, OpenRankFile(path));
  MigratedFile file;
  TUTTI_ASSIGN_OR_RETURN(file.from_version, database.QueryOne<int64_t>("PRAGMA user_version"));
  TUTTI_ASSIGN_OR_RETURN(
      const int64_t complete,
      database.QueryOne<int64_t>("SELECT count(*) FROM meta WHERE key = 'file.complete'"));
  if (complete == 0) return UsageError(path + ": not complete; tutti report finishes a recording");
  TUTTI_ASSIGN_OR_RETURN(const std::unique_ptr<TraceWriter> writer, TraceWriter::Create(output));
  TUTTI_RETURN_IF_ERROR(CopyTables(database, *writer, AllRawRows{}));
  TUTTI_RETURN_IF_ERROR(writer->Append(MetaRow{kFromKey, std::to_string(file.from_version)}));
  TUTTI_RETURN_IF_ERROR(writer->Commit());
  file.rows = writer->committed_rows();
  if (const int64_t refused = writer->rejected_rows(); refused > 0) {
    return BadDataError(path + ": " + std::to_string(refused) +
                        " rows that a trace can't have (tutti query shows them)");
  }
  TUTTI_RETURN_IF_ERROR(writer->Finalize());
  if (writer->lost_rows() > 0) return IoError(output + ": no space left");
  return file;
}

// What a copy is not to have: what belongs to recording, and what is derived.
bool IsLeftOut(const std::string& name) {
  return name.starts_with('.') || name.starts_with("run.sqlite") || RankFileFromName(name);
}

// Everything but rank files; symbolic links stay links.
Status CopyOthers(const fs::path& run, const fs::path& output, const std::set<std::string>& mine) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(run, error)) {
    const std::string name = entry.path().filename().string();
    if (IsLeftOut(name) || mine.contains(name)) continue;
    fs::copy(entry.path(), output / name,
             fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
    if (error) break;
  }
  return error ? IoError(run.string() + ": " + error.message()) : OkStatus();
}

Status Migrate(const fs::path& run, const fs::path& output, const std::string& below,
               std::vector<MigratedFile>& files) {
  TUTTI_ASSIGN_OR_RETURN(const RunFileSet set, FindRunFiles(run.string()));
  std::set<std::string> mine = {"dumps"};
  std::error_code error;
  fs::create_directories(output, error);
  for (const RankFile& rank : set.ranks) {
    const std::string name = fs::path(rank.path).lexically_relative(run).string();
    if (rank.is_part) return UsageError(rank.path + ": not complete; tutti report finishes it");
    if (const fs::path folder = fs::path(name).parent_path(); !folder.empty()) {
      mine.insert(folder.string());
      fs::create_directories(output / folder, error);
    }
    TUTTI_ASSIGN_OR_RETURN(MigratedFile file, CopyRankFile(rank.path, (output / name).string()));
    file.file = below + name;
    files.push_back(std::move(file));
  }
  TUTTI_RETURN_IF_ERROR(CopyOthers(run, output, mine));
  std::error_code no_dumps;
  for (const fs::directory_entry& dump : fs::directory_iterator(run / "dumps", no_dumps)) {
    const std::string name = "dumps/" + dump.path().filename().string();
    TUTTI_RETURN_IF_ERROR(Migrate(dump.path(), output / name, below + name + "/", files));
  }
  return OkStatus();
}

}  // namespace

Result<std::vector<MigratedFile>> MigrateRun(const std::string& run, const std::string& output) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(output, error))) {
    return UsageError(output + " is there already: give another -o");
  }
  const fs::path place = fs::absolute(output, error).lexically_normal();
  const fs::path named = place.has_filename() ? place : place.parent_path();
  const fs::path part = named.parent_path() / ("." + named.filename().string() + ".migrating");
  fs::remove_all(part, error);
  std::vector<MigratedFile> files;
  Status status = Migrate(run, part, "", files);
  if (status.ok()) {
    fs::rename(part, named, error);
    if (error) status = IoError(output + ": " + error.message());
  }
  if (!status.ok()) {
    fs::remove_all(part, error);
    return status;
  }
  return files;
}

}  // namespace tutti::schema
