// Follows the steps of running processes in what the drainer has spooled, and says when one is
// slow or when there are none any more. One thread.
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

// A process and its steps.
struct RankSteps {
  std::string rank = {};  // a number; "pid 42" where none is known
  std::string host = {};
  bool running = true;
  int64_t spooled_bytes = 0;
  StepTimes steps = StepTimes();
};

struct AlarmLimits {
  double slow_factor = StepTimes::kSlowFactor;  // a step is slow from so many times the median on
  int64_t hang_ns = 30'000'000'000;             // no step for so long, and for 20 times the median
};

struct Alarm {
  enum class Kind { kSlowStep, kHang };
  Kind kind = Kind::kSlowStep;
  uint32_t process = 0;  // its index
  std::string rank = {};
  int64_t step = 0;       // the slow one; the last before a hang
  int64_t median_ns = 0;  // of the steps before
  std::string text = {};  // for the user
};

class StepFollower {
 public:
  // `spool_directory` must stay open as long as this.
  StepFollower(int spool_directory, AlarmLimits limits)
      : spool_directory_(spool_directory), limits_(limits) {}

  // Takes in what the file `name` of the spool of process `index` holds before `committed`. Of a
  // series of files each has to be looked at to its end before the next. `kept_bytes`: of the
  // whole spool.
  void Look(uint32_t index, const std::string& name, const spool::ProcessChunk& process,
            uint64_t committed, uint64_t kept_bytes);
  // Its spool is complete and will go: nothing more comes.
  void End(uint32_t index);

  // What was noticed since the last time: of each process at most the newest slow step, and each
  // hang once.
  std::vector<Alarm> TakeAlarms(int64_t raw_ns);

  // Those that were looked at; valid until the next Look.
  std::vector<const RankSteps*> ranks() const;
  // Null before the first Look.
  const StepTimes* StepsOf(uint32_t index) const;

 private:
  struct Watched {
    RankSteps rank;
    std::string name;  // of the file that is read
    std::unique_ptr<spool::SpoolReader> reader;
    std::unique_ptr<convert::SpoolScan> scan;
    clock::ClockReading first{};
    clock::ClockReading last{};
    int64_t hang_said_of_ns = -1;  // the end of the last step before a hang that was told
  };
  std::optional<Alarm> HangOf(uint32_t index, Watched& watched, int64_t raw_ns) const;
  Watched& WatchedOf(uint32_t index, const spool::ProcessChunk& process);
  Status OpenFile(Watched& watched, const std::string& name) const;

  const int spool_directory_;
  const AlarmLimits limits_;
  std::map<uint32_t, std::unique_ptr<Watched>> watched_;
};

}  // namespace tutti::collector::live
