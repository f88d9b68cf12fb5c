#include "analyzer/run_files.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "schema/run_files.h"

namespace tutti::analyzer {
namespace {

namespace fs = std::filesystem;

void AddSizeAndTime(const fs::path& path, TraceFile& file) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  if (error) return;  // no log beside it, or gone meanwhile: opening it will tell
  file.bytes += static_cast<int64_t>(bytes);
  const fs::file_time_type time = fs::last_write_time(path, error);
  if (error) return;
  const auto since_epoch = std::chrono::file_clock::to_sys(time).time_since_epoch();
  file.mtime_ns = std::max<int64_t>(
      file.mtime_ns, std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count());
}

TraceFile Describe(const schema::RankFile& rank_file, const fs::path& folder) {
  TraceFile file;
  file.path = rank_file.path;
  file.name = fs::path(rank_file.path).lexically_relative(folder).string();
  file.is_part = rank_file.is_part;
  file.attempt = rank_file.attempt;
  file.rank = rank_file.rank;
  AddSizeAndTime(rank_file.path, file);
  AddSizeAndTime(rank_file.path + "-wal", file);
  return file;
}

}  // namespace

Result<RunFiles> FindRunFiles(const std::string& run_or_file) {
  const fs::path path(run_or_file);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return NotFoundError(run_or_file + ": no such file or folder");
  RunFiles files;
  if (!fs::is_directory(status)) {
    files.analysis = run_or_file + ".run.sqlite";
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    schema::RankFile single = schema::RankFileFromName(run_or_file).value_or(schema::RankFile{});
    single.path = run_or_file;
    files.traces.push_back(Describe(single, folder));
    return files;
  }
  TUTTI_ASSIGN_OR_RETURN(const schema::RunFileSet found, schema::FindRunFiles(run_or_file));
  files.analysis = (path / "run.sqlite").string();
  for (const schema::RankFile& rank_file : found.ranks) {
    files.traces.push_back(Describe(rank_file, path));
  }
  return files;
}

}  // namespace tutti::analyzer
