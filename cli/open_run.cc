#include "cli/open_run.h"

#include <filesystem>

#include "cli/progress.h"
#include "collector/collector.h"
#include "schema/schema.h"

namespace tutti::cli {
namespace {

void FinishKilledRecordings(const std::string& run) {
  const auto salvaged = collector::Salvage(run);
  if (!salvaged.ok()) return Complain(salvaged.status().message());
  for (const std::string& message : salvaged->messages) Complain(message);
}

bool IsTrace(const std::string& path) { return schema::RunView::Open(path).ok(); }

}  // namespace

Result<std::string> OpenRun(const std::string& run_or_file) {
  std::error_code error;
  if (std::filesystem::is_directory(run_or_file, error)) FinishKilledRecordings(run_or_file);
  // What is neither is told best by those who would read it.
  if (IsTrace(run_or_file) || !collector::IsImportable(run_or_file)) return run_or_file;
  collector::ImportOptions options;
  options.progress = ImportProgress();
  TUTTI_ASSIGN_OR_RETURN(const collector::ImportReport report,
                         collector::ImportToCache(run_or_file, options));
  for (const std::string& message : report.messages) Complain(message);
  return report.run_path;
}

}  // namespace tutti::cli
