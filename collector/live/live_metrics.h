// What a running job does, for a dashboard: every few seconds OpenMetrics text with each rank's
// steps so far, as a file that is replaced as a whole by a rename, at a port of this host, or both.
// Labels are the rank and its host, never a step or a name. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/live/metrics_port.h"
#include "collector/live/step_follower.h"
#include "common/status.h"

namespace tutti::collector::live {

// Of `tutti record --live`.
struct DumpCounts {
  int64_t written = 0;
  int64_t skipped = 0;
};

// `now_ns` is of the clock of the steps' ends, `realtime_ns` CLOCK_REALTIME.
std::string RenderLive(const std::vector<const RankSteps*>& ranks,
                       const std::optional<DumpCounts>& dumps, int64_t now_ns, int64_t realtime_ns);

class LiveMetrics {
 public:
  // `path` is absolute, "" for no file; `port` null for none.
  LiveMetrics(std::string path, std::unique_ptr<MetricsPort> port, int64_t every_ns)
      : path_(std::move(path)), port_(std::move(port)), every_ns_(every_ns) {}

  bool IsDue(int64_t raw_ns) const { return raw_ns >= next_ns_; }
  // Replaces the file, and what is served.
  Status Write(const std::vector<const RankSteps*>& ranks, const std::optional<DumpCounts>& dumps,
               int64_t raw_ns);

 private:
  const std::string path_;
  const std::unique_ptr<MetricsPort> port_;
  const int64_t every_ns_;
  int64_t next_ns_ = 0;
};

}  // namespace tutti::collector::live
