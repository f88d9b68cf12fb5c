#include "cli/open_run.h"

#include <filesystem>
#include <fstream>

#include "cli/progress.h"
#include "collector/collector.h"
#include "schema/schema.h"

namespace tutti::cli {
namespace {

// An error if a recording into it goes on that has no file yet.
Status FinishKilledRecordings(const std::string& run) {
  const auto salvaged = collector::Salvage(run);
  if (!salvaged.ok()) {
    Complain(salvaged.status().message());
    return OkStatus();
  }
  for (const std::string& message : salvaged->messages) Complain(message);
  if (!salvaged->is_recording || schema::RunView::Open(run).ok()) return OkStatus();
  return NotFoundError(run +
                       ": a recording into this folder goes on, or is being finished, and no rank "
                       "has a file yet: ask again in some seconds");
}

// A run or one of its files; damaged ones, too, which their readers explain best. What else
// is a database, or anything, the importers know or refuse by name.
bool IsOurs(const std::string& path) {
  std::error_code error;
  if (schema::RunView::Open(path).ok()) return true;
  if (std::filesystem::is_directory(path + "/manifest.d", error)) return true;
  // A pipe would have to be waited for; the importers refuse it.
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::string head(16, '\0');
  std::ifstream(path, std::ios::binary)
      .read(head.data(), static_cast<std::streamsize>(head.size()));
  return head == std::string("SQLite format 3\0", 16) && !collector::IsImportable(path);
}

}  // namespace

Result<std::string> OpenRun(const std::string& run_or_file) {
  std::error_code error;
  // What a link leads to: a run is not finished behind one that may change.
  const std::filesystem::path real = std::filesystem::canonical(run_or_file, error);
  if (!error && std::filesystem::is_directory(real, error)) {
    TUTTI_RETURN_IF_ERROR(FinishKilledRecordings(real.string()));
  }
  if (IsOurs(run_or_file)) return run_or_file;
  collector::ImportOptions options;
  options.progress = ImportProgress();
  TUTTI_ASSIGN_OR_RETURN(const collector::ImportReport report,
                         collector::ImportToCache(run_or_file, options));
  for (const std::string& message : report.messages) Complain(message);
  return report.run_path;
}

}  // namespace tutti::cli
