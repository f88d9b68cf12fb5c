#include "collector/drain/conversion_worker.h"

#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

namespace tutti::collector::drain {
namespace {

// How much is converted between two looks at what else there is to do.
constexpr uint64_t kSliceBytes = 4 << 20;

}  // namespace

ConversionWorker::ConversionWorker(rank::ConversionSettings settings)
    : settings_(std::move(settings)), event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  Start();
}

ConversionWorker::~ConversionWorker() { Stop(); }

void ConversionWorker::Start() {
  thread_ = std::thread([this, idle = !expedited_] { Run(idle); });
}

void ConversionWorker::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void ConversionWorker::Progress(uint32_t index, const std::string& spool_name, uint64_t committed) {
  {
    const std::lock_guard lock(mutex_);
    Job& job = jobs_[index];
    job.spool_name = spool_name;
    job.committed = committed;
  }
  wake_.notify_one();
}

void ConversionWorker::Complete(uint32_t index, const std::string& spool_name, uint64_t committed,
                                std::vector<convert::Finding> findings) {
  {
    const std::lock_guard lock(mutex_);
    Job& job = jobs_[index];
    job.spool_name = spool_name;
    job.committed = committed;
    job.complete = true;
    job.findings = std::move(findings);
  }
  wake_.notify_one();
}

// A thread that has become idle can't be raised again without privileges: a new one
// takes its place.
void ConversionWorker::Expedite() {
  if (expedited_) return;
  Stop();
  expedited_ = true;
  stopping_ = false;
  Start();
}

std::vector<ConversionResult> ConversionWorker::TakeResults() {
  uint64_t unused;
  while (::read(event_.get(), &unused, sizeof(unused)) > 0) {
  }
  const std::lock_guard lock(mutex_);
  return std::exchange(results_, {});
}

std::map<uint32_t, ConversionWorker::Job>::iterator ConversionWorker::NextJob() {
  for (auto job = jobs_.begin(); job != jobs_.end(); ++job) {
    if (job->second.complete) return job;
    if (!job->second.failed && job->second.committed > job->second.advanced_to) return job;
  }
  return jobs_.end();
}

void ConversionWorker::Run(bool idle) {
  if (idle) {
    const sched_param none{};
    // Where this is refused the thread still has the drainer's low priority.
    (void)::sched_setscheduler(0, SCHED_IDLE, &none);
  }
  std::unique_lock lock(mutex_);
  for (;;) {
    auto next = jobs_.end();
    wake_.wait(lock, [&] { return stopping_ || (next = NextJob()) != jobs_.end(); });
    if (stopping_) return;
    // Only this thread removes jobs, and map nodes stay where they are.
    const uint32_t index = next->first;
    Job& job = next->second;
    const uint64_t committed = job.committed;
    const bool complete = job.complete;
    lock.unlock();
    Work(index, job, committed, complete);
    lock.lock();
  }
}

void ConversionWorker::Work(uint32_t index, Job& job, uint64_t committed, bool complete) {
  if (!job.conversion) {
    auto opened = rank::RankConversion::Open(settings_, job.spool_name);
    if (opened.ok()) {
      job.conversion = std::move(*opened);
    } else {
      job.failed = true;
      if (complete) Publish({index, opened.status(), {}});
      return;
    }
  }
  const Result<bool> more = job.conversion->Advance(committed, kSliceBytes);
  if (!more.ok()) {
    job.failed = true;
    job.conversion.reset();  // from the start when the recording ends
    CountConverted(job, 0);
    if (complete) Publish({index, more.status(), {}});
    return;
  }
  CountConverted(job, job.conversion->converted_bytes());
  if (*more) return;
  job.advanced_to = committed;
  if (complete) Finish(index, job, committed);
}

void ConversionWorker::CountConverted(Job& job, uint64_t bytes) {
  // Only this thread writes it.
  converted_bytes_.store(converted_bytes() - job.counted_bytes + bytes, std::memory_order_relaxed);
  job.counted_bytes = bytes;
}

void ConversionWorker::Finish(uint32_t index, Job& job, uint64_t committed) {
  Result<rank::RankOutcome> outcome = job.conversion->Finish(committed, job.findings);
  if (!outcome.ok()) return Publish({index, outcome.status(), {}});
  Publish({index, OkStatus(), std::move(*outcome)});
}

void ConversionWorker::Publish(ConversionResult result) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.erase(result.index);
    results_.push_back(std::move(result));
  }
  const uint64_t one = 1;
  // The counter can't be full: it is emptied with the results.
  (void)!::write(event_.get(), &one, sizeof(one));
}

}  // namespace tutti::collector::drain
