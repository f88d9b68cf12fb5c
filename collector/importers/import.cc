#include "collector/import.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "collector/importers/import_cache.h"
#include "collector/importers/import_manifest.h"
#include "collector/importers/importer.h"
#include "collector/importers/input_file.h"
#include "collector/importers/trace_pool.h"
#include "collector/os/files.h"
#include "collector/os/proc.h"
#include "collector/run/run_directory.h"

namespace tutti::collector {
namespace {

using importers::Importer;
using importers::InputFile;

struct Job {
  const InputFile* file;
  const Importer* importer;
};

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

// Files whose events stand by themselves first, then those that add to them.
std::vector<Job> PlanJobs(const importers::InputList& list, const ImportOptions& options,
                          std::vector<std::string>& messages) {
  std::vector<Job> jobs;
  std::vector<Job> second;
  size_t unknown = 0;
  for (const InputFile& file : list.files) {
    const Importer* importer = ImporterFor(file);
    if (importer != nullptr) {
      (importer->adds_to_traces() ? second : jobs).push_back({&file, importer});
    } else if (WasNamed(file, options.inputs)) {
      messages.push_back(file.name + (file.bytes == 0
                                          ? ": the file is empty"
                                          : ": not in a format that tutti reads (PyTorch "
                                            "profiler JSON, Nsight Systems SQLite, NCCL flight "
                                            "recorder, memory snapshot)"));
    } else {
      ++unknown;
    }
  }
  if (unknown > 0) {
    messages.push_back(std::to_string(unknown) +
                       " files in the directories are no traces that "
                       "tutti reads; they were left out");
  }
  jobs.insert(jobs.end(), second.begin(), second.end());
  return jobs;
}

// A run directory that goes away again unless it is kept.
class NewRun {
 public:
  explicit NewRun(run::OpenRun opened) : opened_(std::move(opened)) {}
  NewRun(const NewRun&) = delete;
  NewRun& operator=(const NewRun&) = delete;
  ~NewRun() {
    os::RemoveTree(work_path());
    ::rmdir((path() + "/.spool").c_str());
    if (kept_) return;
    for (const std::string& name : os::ListDirectory(path())) os::RemoveTree(path() + "/" + name);
    if (opened_.created) ::rmdir(path().c_str());
  }

  const std::string& path() const { return opened_.path; }
  std::string work_path() const { return path() + "/.spool/import"; }
  void Keep() { kept_ = true; }

 private:
  run::OpenRun opened_;
  bool kept_ = false;
};

Status RunJobs(const std::vector<Job>& jobs, const ImportOptions& options,
               importers::TracePool& pool, std::vector<std::string>& messages) {
  bool is_second = false;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const Job& job = jobs[i];
    // Ranks of the traces that later files add to must be known.
    if (job.importer->adds_to_traces() && !std::exchange(is_second, true)) pool.Assign();
    if (options.progress) options.progress(job.file->name, i, jobs.size());
    pool.BeginFile(*job.importer);
    const Status read = job.importer->Import(*job.file, pool);
    if (!read.ok()) messages.push_back(read.message());
    TUTTI_RETURN_IF_ERROR(pool.FileDone(read.ok()));
  }
  pool.Assign();
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

Result<ImportReport> Import(const ImportOptions& options) {
  ImportReport report;
  TUTTI_ASSIGN_OR_RETURN(const importers::InputList list, importers::ListInputs(options.inputs));
  report.messages = list.unreadable;
  const std::vector<Job> jobs = PlanJobs(list, options, report.messages);
  if (jobs.empty()) return NothingRead(options, report.messages);
  TUTTI_ASSIGN_OR_RETURN(
      run::OpenRun opened,
      run::OpenRunDirectory(
          {.pattern = options.output, .force = options.force, .job = {}, .boot_id = ""},
          [](const char* name) -> const char* { return std::getenv(name); }));
  NewRun run(std::move(opened));
  report.run_path = run.path();
  TUTTI_RETURN_IF_ERROR(os::MakeDirectories(run.work_path()));
  importers::TracePool pool(run.work_path());
  TUTTI_RETURN_IF_ERROR(RunJobs(jobs, options, pool, report.messages));
  if (pool.empty()) return NothingRead(options, report.messages);
  TUTTI_ASSIGN_OR_RETURN(report.traces, pool.Publish(run.path()));
  TUTTI_RETURN_IF_ERROR(importers::WriteImportManifest(report, options.command));
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
  private_options.output = directory + "/" + os::RandomHex(8) + ".new";
  TUTTI_ASSIGN_OR_RETURN(ImportReport report, Import(private_options));
  return MoveIntoCache(std::move(report), entry);
}

}  // namespace tutti::collector
