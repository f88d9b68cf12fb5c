#include "collector/live/live_metrics.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "collector/os/files.h"
#include "common/openmetrics.h"

namespace tutti::collector::live {
namespace {

constexpr int64_t kLineEveryNs = 60'000'000'000;
constexpr int64_t kHangFactor = 20;
constexpr int64_t kShortestHangNs = 30'000'000'000;

double Seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

std::string Milliseconds(int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f ms", static_cast<double>(ns) * 1e-6);
  return text;
}

// 0644 less umask: a collector of metrics reads it as another user.
Status ReplaceFile(const std::string& path, const std::string& text) {
  const std::string part = path + ".part";
  os::FileDescriptor file(
      ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file.valid()) return os::ErrnoStatus(part, errno);
  Status status = os::WriteFully(file.get(), text.data(), text.size());
  file.Reset();
  if (status.ok() && ::rename(part.c_str(), path.c_str()) != 0) {
    status = os::ErrnoStatus(path, errno);
  }
  if (!status.ok()) ::unlink(part.c_str());
  return status;
}

RankSteps RankOf(const spool::ProcessChunk& process) {
  RankSteps rank;
  rank.rank = process.hello.rank >= 0 ? std::to_string(process.hello.rank)
                                      : "pid " + std::to_string(process.hello.pid);
  rank.host.assign(process.host, ::strnlen(process.host, sizeof(process.host)));
  return rank;
}

}  // namespace

std::string RenderLive(const std::vector<const RankSteps*>& ranks, int64_t now_ns,
                       int64_t realtime_ns) {
  using openmetrics::Family;
  Family updated("tutti_live_updated_seconds", "When this was written, since 1970.");
  Family running("tutti_live_running", "1 while the process runs.");
  Family steps("tutti_live_steps", "Steps that have ended.");
  Family number("tutti_live_step_number", "Number of the newest step that has ended.");
  Family length("tutti_live_step_seconds",
                "Length of the newest step, and median and longest of the newest 256.");
  Family since("tutti_live_since_step_seconds",
               "Time since a step has ended: grows while a rank hangs.");
  Family slow("tutti_live_slow_steps", "Steps that took more than three times the median.");
  Family bytes("tutti_live_recorded_bytes", "Bytes of events so far.");
  updated.AddCount("", realtime_ns / 1'000'000'000);
  for (const RankSteps* rank : ranks) {
    const std::string labels = "rank=\"" + openmetrics::LabelText(rank->rank) + "\",host=\"" +
                               openmetrics::LabelText(rank->host) + "\"";
    running.AddCount(labels, rank->running ? 1 : 0);
    steps.AddCount(labels, rank->steps.steps());
    bytes.AddCount(labels, rank->spooled_bytes);
    if (rank->steps.steps() == 0) continue;
    number.AddCount(labels, rank->steps.last_number());
    length.Add(labels + ",step=\"newest\"", Seconds(rank->steps.last_ns()));
    length.Add(labels + ",step=\"median\"", Seconds(rank->steps.MedianNs()));
    length.Add(labels + ",step=\"longest\"", Seconds(rank->steps.LongestNs()));
    if (rank->running) since.Add(labels, Seconds(now_ns - rank->steps.last_end_ns()));
    slow.AddCount(labels, rank->steps.slow_steps());
  }
  return updated.Text() + running.Text() + steps.Text() + number.Text() + length.Text() +
         since.Text() + slow.Text() + bytes.Text() + openmetrics::kEnd;
}

LiveMetrics::LiveMetrics(std::string path, int64_t every_ns, int spool_directory)
    : path_(std::move(path)), every_ns_(every_ns), spool_directory_(spool_directory) {}

Result<LiveMetrics::Watched*> LiveMetrics::WatchedOf(uint32_t index, const std::string& name,
                                                     const spool::ProcessChunk& process) {
  auto& watched = watched_[index];
  if (watched == nullptr) {
    watched = std::make_unique<Watched>();
    watched->rank = RankOf(process);
    watched->first = clock::ReadClocks(process.clock_kind);
    Watched* const raw = watched.get();
    watched->scan = std::make_unique<convert::SpoolScan>(
        std::nullopt, [raw](int64_t number, uint64_t begin_ticks, uint64_t end_ticks) {
          // Two readings of our own tell how long a tick is; which is all that lengths need.
          const double ns_per_tick =
              static_cast<double>(raw->last.monotonic_raw_ns - raw->first.monotonic_raw_ns) /
              static_cast<double>(raw->last.ticks - raw->first.ticks);
          const auto at = [&](uint64_t ticks) {
            const auto ago = static_cast<double>(static_cast<int64_t>(raw->last.ticks - ticks));
            return raw->last.monotonic_raw_ns - static_cast<int64_t>(ago * ns_per_tick);
          };
          raw->rank.steps.Add(number, at(begin_ticks), at(end_ticks));
        });
  }
  if (watched->reader == nullptr && watched->scan != nullptr) {
    TUTTI_ASSIGN_OR_RETURN(spool::SpoolReader reader,
                           spool::SpoolReader::Open(spool_directory_, name));
    watched->reader = std::make_unique<spool::SpoolReader>(std::move(reader));
  }
  return watched.get();
}

void LiveMetrics::Look(uint32_t index, const std::string& name, const spool::ProcessChunk& process,
                       uint64_t committed) {
  const auto watched = WatchedOf(index, name, process);
  if (!watched.ok()) return;  // the spool is what matters; it is looked at again next time
  Watched& one = **watched;
  if (one.scan == nullptr) return;  // it has ended
  one.last = clock::ReadClocks(process.clock_kind);
  if (one.last.ticks <= one.first.ticks) return;
  (void)!one.scan->Advance(*one.reader, committed).ok();
  one.rank.spooled_bytes = static_cast<int64_t>(committed);
  const auto inferred = one.scan->inferred_rank();
  if (process.hello.rank < 0 && inferred) one.rank.rank = std::to_string(inferred->rank);
}

void LiveMetrics::End(uint32_t index) {
  const auto found = watched_.find(index);
  if (found == watched_.end()) return;
  found->second->rank.running = false;
  found->second->scan.reset();
  found->second->reader.reset();
}

std::optional<std::string> LiveMetrics::HangOf(Watched& watched, int64_t raw_ns) {
  const StepTimes& steps = watched.rank.steps;
  if (!watched.rank.running || steps.steps() < static_cast<int64_t>(StepTimes::kEnough)) return {};
  const int64_t since_ns = raw_ns - steps.last_end_ns();
  if (since_ns < std::max(kShortestHangNs, kHangFactor * steps.MedianNs())) return {};
  if (std::exchange(watched.hang_said_of_ns, steps.last_end_ns()) == steps.last_end_ns()) return {};
  return "rank " + watched.rank.rank + ": no step has ended for " +
         std::to_string(since_ns / 1'000'000'000) + " s, the last was step " +
         std::to_string(steps.last_number()) + "; the median is " + Milliseconds(steps.MedianNs());
}

Result<std::vector<std::string>> LiveMetrics::Write(int64_t raw_ns) {
  next_ns_ = raw_ns + every_ns_;
  std::vector<const RankSteps*> ranks;
  std::vector<std::string> lines;
  for (const auto& [index, watched] : watched_) {
    ranks.push_back(&watched->rank);
    if (auto hang = HangOf(*watched, raw_ns)) lines.push_back(*std::move(hang));
    const auto slow = watched->rank.steps.TakeSlow();
    if (!slow || raw_ns < next_line_ns_) continue;
    next_line_ns_ = raw_ns + kLineEveryNs;
    lines.push_back("rank " + watched->rank.rank + ": step " + std::to_string(slow->number) +
                    " took " + Milliseconds(slow->ns) + ", the median is " +
                    Milliseconds(slow->median_ns));
  }
  const auto realtime_ns = clock::ReadClocks(wire::ClockKind::kMonotonicRaw).realtime_ns;
  TUTTI_RETURN_IF_ERROR(ReplaceFile(path_, RenderLive(ranks, raw_ns, realtime_ns)));
  return lines;
}

}  // namespace tutti::collector::live
