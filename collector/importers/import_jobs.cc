#include "collector/importers/import_jobs.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "collector/importers/file_traces.h"
#include "collector/os/interruption.h"
#include "common/parallel.h"

namespace tutti::collector::importers {
namespace {

// Each file takes some 150 MiB while it is imported, and the disk no more at once.
constexpr size_t kMostThreads = 8;

// One job under way or done.
struct Work {
  std::optional<FileTraces> traces;
  Status read;
  Status written;  // not ok: the import can't go on
};

void RunOne(const Job& job, size_t number, TracePool& pool, Work& work) {
  work.traces.emplace(pool, *job.importer, number);
  work.read = job.importer->Import(*job.file, *work.traces);
  work.written = os::Interruption::Check();
  if (work.written.ok()) work.written = work.traces->Close(work.read.ok());
}

// The jobs of one kind: each is taken by the next free thread.
class JobQueue {
 public:
  JobQueue(std::span<const Job> jobs, size_t first_number, size_t all, TracePool& pool,
           const ImportProgress& progress)
      : jobs_(jobs),
        first_(first_number),
        all_(all),
        pool_(pool),
        progress_(progress),
        work_(jobs.size()) {}

  void Run() {
    const size_t processors = std::thread::hardware_concurrency();
    const auto run_one = [this](size_t i) {
      if (failed_) return;
      Announce(i);
      RunOne(jobs_[i], first_ + i, pool_, work_[i]);
      if (!work_[i].written.ok()) failed_ = true;
    };
    ParallelFor(jobs_.size(), run_one, std::min(processors, kMostThreads));
  }

  // In the order of the jobs.
  Status Collect(std::vector<JobOutcome>& outcomes) {
    for (Work& work : work_) {
      TUTTI_RETURN_IF_ERROR(work.written);
      if (!work.traces) return os::Interruption::Check();  // left out: an earlier one failed
      work.traces->MoveToPool();
      outcomes.push_back({work.read, work.traces->messages()});
    }
    return OkStatus();
  }

 private:
  void Announce(size_t i) {
    if (!progress_) return;
    const std::lock_guard lock(mutex_);
    progress_(jobs_[i].file->name, first_ + announced_++, all_);
  }

  std::span<const Job> jobs_;
  size_t first_;
  size_t all_;
  TracePool& pool_;
  const ImportProgress& progress_;
  std::vector<Work> work_;
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  size_t announced_ = 0;
};

}  // namespace

Result<std::vector<JobOutcome>> RunJobs(const std::vector<Job>& jobs, const ImportOptions& options,
                                        TracePool& pool) {
  const std::span<const Job> all(jobs);
  const auto adds = [](const Job& job) { return job.importer->adds_to_traces(); };
  const auto alone = static_cast<size_t>(std::ranges::find_if(jobs, adds) - jobs.begin());
  std::vector<JobOutcome> outcomes;
  JobQueue first(all.first(alone), 0, jobs.size(), pool, options.progress);
  first.Run();
  TUTTI_RETURN_IF_ERROR(first.Collect(outcomes));
  TUTTI_ASSIGN_OR_RETURN(std::vector<std::string> copies, pool.DropCopies());
  TUTTI_ASSIGN_OR_RETURN(std::vector<std::string> joined, pool.JoinWindows());
  TUTTI_ASSIGN_OR_RETURN(std::vector<std::string> placed, pool.PlaceReplicas());
  for (std::vector<std::string>* lines : {&copies, &joined, &placed}) {
    if (!lines->empty()) std::ranges::move(*lines, std::back_inserter(outcomes.back().messages));
  }
  if (options.assume_rank) pool.AssumeRanks(*options.assume_rank);
  if (const std::string why = pool.WhySeveralRuns(); !why.empty()) return BadDataError(why);
  // Ranks of the traces that later files add to must be known.
  pool.Assign();
  for (size_t i = alone; i < jobs.size(); ++i) {
    JobQueue one(all.subspan(i, 1), i, jobs.size(), pool, options.progress);
    one.Run();
    TUTTI_RETURN_IF_ERROR(one.Collect(outcomes));
  }
  pool.Assign();
  return outcomes;
}

}  // namespace tutti::collector::importers
