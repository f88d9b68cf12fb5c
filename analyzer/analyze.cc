#include "analyzer/analyze.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "analyzer/decisions.h"
#include "analyzer/pass.h"
#include "analyzer/run_context.h"
#include "analyzer/run_files.h"
#include "analyzer/runner.h"
#include "analyzer/sources_hash.h"
#include "common/text.h"
#include "schema/reader.h"
#include "schema/sql.h"
#include "schema/trace_file.h"

namespace tutti::analyzer {
namespace {

constexpr int kMostSearches = 5;  // of the run's files, for one analysis

// Changes with the sources of the analyzer and the derived tables: older analyses are made
// anew, and nobody can forget to say so.
std::string AnalyzerVersion() { return std::string(kSourcesHash); }

// Deletes what a failed analysis leaves behind.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target)
      : path_(target + "." + std::to_string(getpid()) + ".tmp") {
    Remove();
  }
  ~TemporaryFile() { Remove(); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

  Status MoveTo(const std::string& target) const {
    if (std::rename(path_.c_str(), target.c_str()) == 0) return OkStatus();
    return IoError(target + ": " + std::strerror(errno));
  }

 private:
  void Remove() const {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  std::string path_;
};

Status MakeTables(schema::Database& derived) {
  TUTTI_RETURN_IF_ERROR(
      // Nobody else sees the file before it is synced as a whole and renamed. First of all: what
      // is written before would be synced, too.
      derived.Execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY"
                      "; PRAGMA locking_mode = EXCLUSIVE; PRAGMA application_id = " +
                      std::to_string(schema::kApplicationId) +
                      "; PRAGMA user_version = " + std::to_string(schema::kSchemaVersion)));
  return derived.Execute(std::string(schema::DerivedSql()));
}

Status SyncToDisk(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return IoError(path + ": " + std::strerror(errno));
  const bool synced = fsync(file) == 0;
  const int error = errno;
  close(file);
  return synced ? OkStatus() : IoError(path + ": " + std::strerror(error));
}

struct Attempt {
  Status status;
  std::optional<size_t> failed_file;  // leave it out and try again
};

Attempt RunAllPasses(const std::string& path, const RunFiles& files, const Decisions& decisions,
                     const AnalyzeOptions& options) {
  Result<schema::Database> derived = schema::Database::Create(path);
  if (!derived.ok()) return {derived.status(), {}};
  if (const Status made = MakeTables(*derived); !made.ok()) return {made, {}};
  RunContext context(*derived, files, decisions.options);
  Status status = RunPasses(AllPasses(), context, options.progress, options.team);
  if (status.ok()) {
    status = context.Write(std::vector<schema::RunMetaRow>{{"analyzer.version", AnalyzerVersion()},
                                                           {"analyzer.options", decisions.key}});
  }
  return {status, context.failed_file()};
}

bool HasMeta(schema::Database& analysis, const char* key, const std::string& expected) {
  const Result<std::string> value = analysis.QueryOne<std::string>(
      "SELECT value FROM run_meta WHERE key = '" + std::string(key) + "'");
  return value.ok() && *value == expected;
}

// Whether the analysis at `path` is of exactly these files by this analyzer, as decided.
bool IsCurrent(const std::string& path, const RunFiles& files, const Decisions& decisions) {
  Result<schema::Database> analysis = schema::Database::OpenReadOnly(path, {.quick_check = false});
  if (!analysis.ok()) return false;
  if (!HasMeta(*analysis, "analyzer.version", AnalyzerVersion()) ||
      !HasMeta(*analysis, "analyzer.options", decisions.key)) {
    return false;
  }
  const auto inputs = schema::ReadAll<schema::InputFileRow>(*analysis, "ORDER BY id");
  if (!inputs.ok() || inputs->size() != files.traces.size()) return false;
  for (size_t i = 0; i < files.traces.size(); ++i) {
    const schema::InputFileRow& input = (*inputs)[i];
    const TraceFile& file = files.traces[i];
    if (input.path != file.name || input.bytes != file.bytes || input.mtime_ns != file.mtime_ns) {
      return false;
    }
  }
  return true;
}

// A recorder renames a rank's file when it is complete, and may do so meanwhile.
bool AnyHasGone(const RunFiles& files) {
  return std::ranges::any_of(files.traces, [](const TraceFile& file) {
    std::error_code ignored;
    return !std::filesystem::exists(file.path, ignored);
  });
}

bool HasDerivedTables(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  return schema::OpenRunFile(path, {.quick_check = false}).ok();
}

}  // namespace

Result<Analysis> Analyze(const std::string& run_or_file, const AnalyzeOptions& options) {
  TUTTI_ASSIGN_OR_RETURN(RunFiles files, FindRunFiles(run_or_file));
  TUTTI_ASSIGN_OR_RETURN(const Decisions decisions, DecisionsOf(options));
  const std::string target = options.output.empty() ? files.analysis : options.output;
  for (int searches = 1;;) {
    const TemporaryFile temporary(target);
    const Attempt attempt = RunAllPasses(temporary.path(), files, decisions, options);
    if (AnyHasGone(files) && searches++ < kMostSearches) {
      TUTTI_ASSIGN_OR_RETURN(files, FindRunFiles(run_or_file));
      continue;
    }
    if (attempt.status.ok()) {
      TUTTI_RETURN_IF_ERROR(SyncToDisk(temporary.path()));
      TUTTI_RETURN_IF_ERROR(temporary.MoveTo(target));
      return Analysis{target, true};
    }
    if (!attempt.failed_file || !files.traces[*attempt.failed_file].unusable_because.empty()) {
      return attempt.status;
    }
    files.traces[*attempt.failed_file].unusable_because = attempt.status.message();
  }
}

Result<Analysis> EnsureAnalyzed(const std::string& run_or_file, const AnalyzeOptions& options) {
  if (HasDerivedTables(run_or_file)) return Analysis{run_or_file, false};
  TUTTI_ASSIGN_OR_RETURN(const RunFiles files, FindRunFiles(run_or_file));
  const std::string target = options.output.empty() ? files.analysis : options.output;
  TUTTI_ASSIGN_OR_RETURN(const Decisions decisions, DecisionsOf(options));
  if (IsCurrent(target, files, decisions)) return Analysis{target, false};
  return Analyze(run_or_file, options);
}

}  // namespace tutti::analyzer
