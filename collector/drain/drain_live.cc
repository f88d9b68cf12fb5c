// DrainLoop: follows the steps of running processes, for metrics and for `tutti record --live`,
// which keeps the newest in a rolling window of files and dumps it.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "collector/clock/clock_reading.h"
#include "collector/drain/drain_loop.h"
#include "collector/spool/series.h"

namespace tutti::collector::drain {
namespace {

constexpr int64_t kLiveIntervalNs = 250'000'000;
constexpr int64_t kRecentNs = 5'000'000'000;
constexpr int64_t kLineEveryNs = 60'000'000'000;

}  // namespace

void DrainLoop::OpenMetrics() {
  std::unique_ptr<live::MetricsPort> port;
  if (settings_.metrics_listener >= 0) {
    auto opened = live::MetricsPort::Open(settings_.metrics_listener);
    if (opened.ok()) port = std::move(*opened);
    if (!opened.ok()) Say("no metrics at a port: " + opened.status().message());
  }
  if (settings_.metrics_path.empty() && port == nullptr) return;
  metrics_.emplace(settings_.metrics_path, std::move(port), settings_.metrics_every_ns);
}

void DrainLoop::TendSteps(int64_t now_ns) {
  if (!follower_ || now_ns < next_steps_ns_) return;
  next_steps_ns_ = now_ns + (dumps_ ? kLiveIntervalNs : settings_.metrics_every_ns);
  LookAtSteps();
  TellAlarms(now_ns);
  if (dumps_) TendWindows(now_ns);
  if (metrics_ && metrics_->IsDue(now_ns)) WriteMetrics(now_ns);
}

void DrainLoop::LookAtSteps() {
  for (const auto& [index, process] : processes_) LookAtSteps(index, process);
}

void DrainLoop::LookAtSteps(uint32_t index, const Process& process) {
  const uint64_t committed = process.drainer.spool().committed_bytes();
  const uint64_t ended = process.window ? process.window->ended_bytes() : 0;
  follower_->Look(index, process.file_name, process.drainer.process(), committed,
                  committed + ended);
}

int64_t DrainLoop::StepsOf(uint32_t index) const {
  const live::StepTimes* steps = follower_->StepsOf(index);
  return steps == nullptr ? 0 : steps->steps();
}

// Slow steps at most one a minute; hangs are told once each anyway.
void DrainLoop::TellAlarms(int64_t now_ns) {
  for (const live::Alarm& alarm : follower_->TakeAlarms(now_ns)) {
    const bool is_slow = alarm.kind == live::Alarm::Kind::kSlowStep;
    if (!is_slow || now_ns >= next_line_ns_) Say(alarm.text);
    if (is_slow && now_ns >= next_line_ns_) next_line_ns_ = now_ns + kLineEveryNs;
    if (dumps_) dumps_->OnAlarm(alarm, StepsOf(alarm.process), now_ns);
  }
}

void DrainLoop::WriteMetrics(int64_t now_ns) {
  std::optional<live::DumpCounts> dumps;
  if (dumps_) dumps = dumps_->counts();
  const Status status = metrics_->Write(follower_->ranks(), dumps, now_ns);
  if (!status.ok() && !std::exchange(said_no_metrics_, true)) {
    Say("no metrics: " + status.message());
  }
}

void DrainLoop::TendWindows(int64_t now_ns) {
  for (auto& [index, process] : processes_) {
    const uint64_t bytes = process.drainer.spool().committed_bytes();
    const int64_t steps = StepsOf(index) - process.steps_before;
    if (process.window->IsFull(bytes, steps)) StartFile(index, process);
    // What a dump is wanted of stays until it is made.
    const int64_t recent_ns =
        dumps_->wanted() ? INT64_MIN : now_ns - kRecentNs - settings_.flush_ns;
    const auto expired = process.window->Expire(process.drainer.spool().committed_bytes(),
                                                StepsOf(index) - process.steps_before, recent_ns);
    for (const live::Window::File& file : expired) RemoveFile(file);
  }
  dumps_->Look(now_ns);
  if (dumps_->IsDue(now_ns)) BeginDump();
}

// Also when no process is left.
void DrainLoop::TendDump() {
  if (!dumps_) return;
  if (const auto line = dumps_->Poll()) Say(*line);
}

// Where this fails the old file goes on, and it is tried again soon.
void DrainLoop::StartFile(uint32_t index, Process& process) {
  LookAtSteps(index, process);
  const std::string name = spool::PieceFileName(process.spool_name, process.next_file);
  const Result<uint64_t> ended = process.drainer.StartFile(spool_directory_.get(), name);
  if (!ended.ok()) return;
  process.window->Ended(
      {std::exchange(process.file_name, name), *ended, StepsOf(index) - process.steps_before,
       std::exchange(process.step_before, std::nullopt), clock::MonotonicRawNs()});
  ++process.next_file;
  process.steps_before = StepsOf(index);
  const live::StepTimes* steps = follower_->StepsOf(index);
  if (steps != nullptr && steps->steps() > 0) process.step_before = steps->last_number();
}

void DrainLoop::RemoveFile(const live::Window::File& file) {
  ::unlinkat(spool_directory_.get(), file.name.c_str(), 0);
  budget_.Freed(file.bytes);
}

// Makes room on a full disk. What a dump has linked would free none.
bool DrainLoop::DropOldestFiles() {
  if (!dumps_ || dumps_->running()) return false;
  bool any = false;
  for (auto& [index, process] : processes_) {
    const auto oldest = process.window->DropOldest();
    if (!oldest) continue;
    RemoveFile(*oldest);
    any = true;
  }
  return any;
}

void DrainLoop::BeginDump() {
  std::vector<DumpedSpool> spools;
  std::map<uint32_t, int64_t> steps;
  int64_t first_step = INT64_MIN;
  for (auto& [index, process] : processes_) {
    process.drainer.Poll();
    StartFile(index, process);
    const std::deque<live::Window::File>& files = process.window->files();
    if (files.empty()) continue;
    DumpedSpool spool{index, process.spool_name, {}};
    for (const live::Window::File& file : files) spool.files.push_back(file.name);
    spools.push_back(std::move(spool));
    steps[index] = StepsOf(index);
    // The step after the last that had ended may have been under way.
    if (const auto before = files.front().step_before) {
      first_step = std::max(first_step, *before + 2);
    }
  }
  if (!spools.empty()) Say(dumps_->Begin(spools, first_step, steps));
}

// A spool that was written by an earlier drainer goes on in its last file.
void DrainLoop::RestoreWindow(Process& process, const std::vector<std::string>& files) {
  process.window.emplace(settings_.live->window);
  process.file_name = files.back();
  const auto newest = spool::ParsePieceFileName(files.back());
  process.next_file = newest ? newest->number + 1 : 1;
  for (size_t at = 0; at + 1 < files.size(); ++at) {
    struct stat info {};
    if (::fstatat(spool_directory_.get(), files[at].c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;
    }
    process.window->Ended({files[at], static_cast<uint64_t>(info.st_size)});
  }
}

}  // namespace tutti::collector::drain
