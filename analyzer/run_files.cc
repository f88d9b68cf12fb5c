#include "analyzer/run_files.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <tuple>

namespace tutti::analyzer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTracePrefix = "rank-";
constexpr std::string_view kAttemptPrefix = "attempt-";

// The number between `prefix` and the first character that is no digit.
std::optional<int64_t> NumberAfter(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end == name.data()) return std::nullopt;
  return number;
}

void AddSizeAndTime(const fs::path& path, TraceFile& file) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  if (error) return;  // no log beside it, or gone meanwhile: opening it will tell
  file.bytes += static_cast<int64_t>(bytes);
  const fs::file_time_type time = fs::last_write_time(path, error);
  if (error) return;
  const auto system_time = std::chrono::file_clock::to_sys(time).time_since_epoch();
  file.mtime_ns = std::max<int64_t>(
      file.mtime_ns, std::chrono::duration_cast<std::chrono::nanoseconds>(system_time).count());
}

TraceFile Describe(const fs::path& path, const fs::path& folder, int64_t attempt) {
  TraceFile file;
  file.path = path.string();
  file.name = path.lexically_relative(folder).string();
  file.is_part = path.extension() == ".part";
  file.attempt = attempt;
  file.rank = NumberAfter(kTracePrefix, path.filename().string());
  AddSizeAndTime(path, file);
  AddSizeAndTime(path.string() + "-wal", file);
  return file;
}

bool IsTrace(const fs::directory_entry& entry) {
  std::error_code error;
  if (!entry.is_regular_file(error)) return false;
  const std::string name = entry.path().filename().string();
  return name.starts_with(kTracePrefix) &&
         (name.ends_with(".sqlite") || name.ends_with(".sqlite.part"));
}

Status CollectFrom(const fs::path& folder, const fs::path& run, int64_t attempt, RunFiles& files) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (IsTrace(entry)) files.traces.push_back(Describe(entry.path(), run, attempt));
    const std::optional<int64_t> later =
        NumberAfter(kAttemptPrefix, entry.path().filename().string());
    std::error_code no_folder;
    if (attempt == 0 && later && *later > 0 && entry.is_directory(no_folder)) {
      TUTTI_RETURN_IF_ERROR(CollectFrom(entry.path(), run, *later, files));
    }
  }
  if (error) return IoError(folder.string() + ": " + error.message());
  return OkStatus();
}

// A finished file replaces the part file that it was made from.
void DropReplacedParts(std::vector<TraceFile>& traces) {
  std::erase_if(traces, [&](const TraceFile& part) {
    return part.is_part && std::any_of(traces.begin(), traces.end(), [&](const TraceFile& f) {
             return f.name + ".part" == part.name;
           });
  });
}

}  // namespace

Result<RunFiles> FindRunFiles(const std::string& run_or_file) {
  const fs::path path(run_or_file);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return NotFoundError(run_or_file + ": no such file or folder");
  RunFiles files;
  if (!fs::is_directory(status)) {
    files.folder = path.has_parent_path() ? path.parent_path().string() : ".";
    files.analysis = run_or_file + ".run.sqlite";
    files.traces.push_back(Describe(path, files.folder, 0));
    return files;
  }
  files.folder = run_or_file;
  files.analysis = (path / "run.sqlite").string();
  TUTTI_RETURN_IF_ERROR(CollectFrom(path, path, 0, files));
  DropReplacedParts(files.traces);
  std::sort(files.traces.begin(), files.traces.end(), [](const TraceFile& a, const TraceFile& b) {
    return std::tie(a.attempt, a.name) < std::tie(b.attempt, b.name);
  });
  if (files.traces.empty()) {
    return NotFoundError(run_or_file + ": no trace in this folder (rank-*.sqlite)");
  }
  return files;
}

}  // namespace tutti::analyzer
