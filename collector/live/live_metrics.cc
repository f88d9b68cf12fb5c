#include "collector/live/live_metrics.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "collector/clock/clock_reading.h"
#include "collector/os/file_descriptor.h"
#include "collector/os/files.h"
#include "common/openmetrics.h"

namespace tutti::collector::live {
namespace {

double Seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

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

}  // namespace

std::string RenderLive(const std::vector<const RankSteps*>& ranks,
                       const std::optional<DumpCounts>& dumps, int64_t now_ns,
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
  Family bytes("tutti_live_recorded_bytes", "Bytes of events that are kept.");
  Family written("tutti_live_dumps", "Windows of steps that were written out.");
  Family skipped("tutti_live_dumps_skipped",
                 "Reasons for one that came while another was written or too soon after it.");
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
  std::string text = updated.Text() + running.Text() + steps.Text() + number.Text() +
                     length.Text() + since.Text() + slow.Text() + bytes.Text();
  if (dumps) {
    written.AddCount("", dumps->written);
    skipped.AddCount("", dumps->skipped);
    text += written.Text() + skipped.Text();
  }
  return text + openmetrics::kEnd;
}

Status LiveMetrics::Write(const std::vector<const RankSteps*>& ranks,
                          const std::optional<DumpCounts>& dumps, int64_t raw_ns) {
  next_ns_ = raw_ns + every_ns_;
  const auto realtime_ns = clock::ReadClocks(wire::ClockKind::kMonotonicRaw).realtime_ns;
  const std::string text = RenderLive(ranks, dumps, raw_ns, realtime_ns);
  if (port_) port_->Publish(text, raw_ns);
  return path_.empty() ? OkStatus() : ReplaceFile(path_, text);
}

}  // namespace tutti::collector::live
