#include "collector/import.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "collector/importers/import_cache.h"
#include "collector/importers/import_jobs.h"
#include "collector/importers/import_manifest.h"
#include "collector/importers/importer.h"
#include "collector/importers/input_file.h"
#include "collector/importers/trace_pool.h"
#include "collector/importers/unread_file.h"
#include "collector/os/files.h"
#include "collector/os/interruption.h"
#include "collector/run/manifest.h"
#include "collector/run/run_directory.h"
#include "collector/run/staged_run.h"
#include "schema/sql.h"

namespace tutti::collector {
namespace {

using importers::Importer;
using importers::InputFile;
using importers::Job;

const Importer* ImporterFor(const InputFile& file) {
  for (const Importer* importer : importers::AllImporters()) {
    if (importer->Recognizes(file)) return importer;
  }
  return nullptr;
}

bool WasNamed(const InputFile& file, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    if (input == file.name) return true;
  }
  return false;
}

// Files that lie beside traces; the first few by name.
std::string LeftOut(const std::vector<std::string>& names) {
  constexpr size_t kMostNamed = 3;
  const bool is_one = names.size() == 1;
  std::string text = std::to_string(names.size()) +
                     (is_one ? " file in the directories is no trace"
                             : " files in the directories are no traces") +
                     " that tutti reads and left out: ";
  for (size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return text + (names.size() > kMostNamed ? ", …" : "");
}

// Files whose events stand by themselves first, then those that add to them.
std::vector<Job> PlanJobs(const importers::InputList& list, const ImportOptions& options,
                          ImportReport& report) {
  std::vector<Job> jobs;
  std::vector<Job> second;
  std::vector<std::string> unknown;
  for (const InputFile& file : list.files) {
    const Importer* importer = ImporterFor(file);
    if (importer != nullptr) {
      (importer->adds_to_traces() ? second : jobs).push_back({&file, importer});
    } else if (WasNamed(file, options.inputs)) {
      report.messages.push_back(importers::WhyNotRead(file));
      ++report.named_unread;
    } else if (!file.damage.empty()) {
      report.messages.push_back(file.damage);  // it may have been a trace
    } else {
      unknown.push_back(file.name);
    }
  }
  if (!unknown.empty()) report.messages.push_back(LeftOut(unknown));
  jobs.insert(jobs.end(), second.begin(), second.end());
  return jobs;
}

// The directory of the new run. One that was not there before goes away again unless it is kept.
class NewRun {
 public:
  explicit NewRun(run::OpenRun opened) : opened_(std::move(opened)) {}
  NewRun(const NewRun&) = delete;
  NewRun& operator=(const NewRun&) = delete;
  ~NewRun() {
    if (kept_ || opened_.replaces) return;
    run::RemoveFinishedRun(path());
    ::unlink((path() + "/" + run::kLockName).c_str());
    if (opened_.created) ::rmdir(path().c_str());
  }

  const std::string& path() const { return opened_.path; }
  void Keep() { kept_ = true; }

 private:
  run::OpenRun opened_;
  bool kept_ = false;
};

Status RefuseRuns(const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    if (os::Exists(input + "/manifest.d")) {
      return UsageError(input + ": a run already; tutti report opens it");
    }
  }
  return OkStatus();
}

Result<run::OpenRun> OpenForImport(const ImportOptions& options) {
  TUTTI_ASSIGN_OR_RETURN(
      run::OpenRun opened,
      run::OpenRunDirectory(
          {.pattern = options.output, .force = options.force, .job = {}, .boot_id = ""},
          [](const char* name) -> const char* { return std::getenv(name); }));
  if (!opened.replaces && !run::ListManifests(opened.path).empty()) {
    return UsageError(opened.path + ": a job is being recorded into it; choose another -o");
  }
  return opened;
}

Status ReadAll(const std::vector<Job>& jobs, const ImportOptions& options,
               importers::TracePool& pool, ImportReport& report) {
  TUTTI_ASSIGN_OR_RETURN(const std::vector<importers::JobOutcome> outcomes,
                         importers::RunJobs(jobs, options, pool));
  for (size_t i = 0; i < jobs.size(); ++i) {
    const importers::JobOutcome& outcome = outcomes[i];
    report.messages.insert(report.messages.end(), outcome.messages.begin(), outcome.messages.end());
    if (outcome.read.ok()) continue;
    report.messages.push_back(outcome.read.message());
    if (WasNamed(*jobs[i].file, options.inputs)) ++report.named_unread;
  }
  return OkStatus();
}

Status NothingRead(const ImportOptions& options, const std::vector<std::string>& messages) {
  if (messages.empty()) return NotFoundError(options.inputs.front() + ": no trace files there");
  std::string text = messages.front();
  if (messages.size() > 1) {
    text += " (and " + std::to_string(messages.size() - 1) + " more could not be read)";
  }
  return BadDataError(text);
}

// What the user wanted is there already, or the import goes under its name now.
Result<ImportReport> MoveIntoCache(ImportReport report, const std::string& entry) {
  if (::rename(report.run_path.c_str(), entry.c_str()) != 0) {
    const int error = errno;
    os::RemoveTree(report.run_path);
    // Another process imported the same at the same time.
    if (error != EEXIST && error != ENOTEMPTY) return os::ErrnoStatus(entry, error);
  }
  report.run_path = entry;
  return report;
}

}  // namespace

int ImportInterruptedBy() { return os::Interruption::Signal(); }

Result<ImportReport> Import(const ImportOptions& options) {
  const os::Interruption interruption;
  ImportReport report;
  TUTTI_RETURN_IF_ERROR(RefuseRuns(options.inputs));
  TUTTI_ASSIGN_OR_RETURN(const importers::InputList list, importers::ListInputs(options.inputs));
  report.messages = list.unreadable;
  report.named_unread = list.named_unreadable;
  const std::vector<Job> jobs = PlanJobs(list, options, report);
  if (jobs.empty()) return NothingRead(options, report.messages);
  TUTTI_ASSIGN_OR_RETURN(run::OpenRun opened, OpenForImport(options));
  NewRun run(std::move(opened));
  report.run_path = run.path();
  TUTTI_ASSIGN_OR_RETURN(run::StagedRun staged, run::StagedRun::Begin(run.path()));
  importers::TracePool pool(staged.work_path());
  TUTTI_RETURN_IF_ERROR(ReadAll(jobs, options, pool, report));
  ::malloc_trim(0);  // what the threads of the files needed; an analysis may follow
  if (pool.empty()) return NothingRead(options, report.messages);
  TUTTI_ASSIGN_OR_RETURN(report.traces, pool.Publish(staged.path()));
  TUTTI_RETURN_IF_ERROR(
      importers::WriteImportManifest(report.traces, options.command, staged.path()));
  TUTTI_RETURN_IF_ERROR(os::Interruption::Check());
  TUTTI_RETURN_IF_ERROR(staged.Publish());
  run.Keep();
  return report;
}

bool IsImportable(const std::string& path) {
  const auto list = importers::ListInputs({path});
  if (!list.ok()) return false;
  return std::any_of(list->files.begin(), list->files.end(),
                     [](const InputFile& file) { return ImporterFor(file) != nullptr; });
}

Result<ImportReport> ImportToCache(const std::string& path, const ImportOptions& options) {
  TUTTI_ASSIGN_OR_RETURN(const std::string directory, importers::ImportCacheDirectory());
  TUTTI_ASSIGN_OR_RETURN(const std::string key, importers::ImportCacheKey(path));
  const std::string entry = directory + "/" + key;
  if (importers::TouchImport(entry)) return ImportReport{.run_path = entry};
  importers::RemoveOldImports(directory);
  ImportOptions private_options = options;
  private_options.inputs = {path};
  private_options.output = directory + "/" + os::RandomHex(8) + std::string(importers::kUnfinished);
  TUTTI_ASSIGN_OR_RETURN(ImportReport report, Import(private_options));
  return MoveIntoCache(std::move(report), entry);
}

}  // namespace tutti::collector
