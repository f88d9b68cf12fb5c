// What a running job does, for a dashboard: every few seconds a file of OpenMetrics text, replaced
// as a whole by a rename, with each rank's steps so far. Labels are the rank and its host, never a
// step or a name. Reads what the drainer has spooled. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collector/clock/clock_reading.h"
#include "collector/convert/spool_scan.h"
#include "collector/live/step_times.h"
#include "collector/spool/format.h"
#include "collector/spool/reader.h"
#include "common/status.h"

namespace tutti::collector::live {

// A process as its metrics tell it.
struct RankSteps {
  std::string rank = {};  // a number; "pid 42" where none is known
  std::string host = {};
  bool running = true;
  int64_t spooled_bytes = 0;
  StepTimes steps = {};
};

// `now_ns` is of the clock of the steps' ends, `realtime_ns` CLOCK_REALTIME.
std::string RenderLive(const std::vector<const RankSteps*>& ranks, int64_t now_ns,
                       int64_t realtime_ns);

class LiveMetrics {
 public:
  // `path` is absolute; `spool_directory` must stay open as long as this.
  LiveMetrics(std::string path, int64_t every_ns, int spool_directory);

  // Takes in what the spool `name` of process `index` holds before `committed`.
  void Look(uint32_t index, const std::string& name, const spool::ProcessChunk& process,
            uint64_t committed);
  // Its spool is complete and will go: nothing more comes.
  void End(uint32_t index);

  bool IsDue(int64_t raw_ns) const { return raw_ns >= next_ns_; }
  // Writes the file. Lines for the user: slow steps since the last time, at most one each minute,
  // and once for each hang that no step has ended for 20 times the median, and half a minute.
  Result<std::vector<std::string>> Write(int64_t raw_ns);

 private:
  struct Watched {
    RankSteps rank;
    std::unique_ptr<spool::SpoolReader> reader;
    std::unique_ptr<convert::SpoolScan> scan;
    clock::ClockReading first{};
    clock::ClockReading last{};
    int64_t hang_said_of_ns = -1;  // the end of the last step before a hang that was told
  };
  static std::optional<std::string> HangOf(Watched& watched, int64_t raw_ns);
  Result<Watched*> WatchedOf(uint32_t index, const std::string& name,
                             const spool::ProcessChunk& process);

  const std::string path_;
  const int64_t every_ns_;
  const int spool_directory_;
  int64_t next_ns_ = 0;
  int64_t next_line_ns_ = 0;
  std::map<uint32_t, std::unique_ptr<Watched>> watched_;
};

}  // namespace tutti::collector::live
