// The process that empties the rings of all ranks of one recording, keeps the spools,
// converts them and writes the rank files. Started by the supervisor (fork), again if it
// dies; goes on alone if the supervisor dies, until all its ranks have ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "collector/convert/spool_scan.h"
#include "collector/live/settings.h"
#include "collector/os/file_descriptor.h"

namespace tutti::collector::drain {

struct DrainerSettings {
  std::string run_path;
  std::string spool_path;     // made by the supervisor, locked by it and the drainer
  std::string manifest_name;  // in RUN/manifest.d
  std::string session_path;   // removed by whoever ends last
  std::string recording_id;
  uint64_t max_bytes = 0;  // 0: no limit
  int64_t flush_ns = 1'000'000'000;
  std::optional<convert::StepRange> steps;
  bool sample_system = true;
  std::string metrics_path = {};  // live/live_metrics.h; absolute, "" none
  int metrics_listener = -1;      // live/metrics_port.h; inherited, -1 none
  int64_t metrics_every_ns = 5'000'000'000;
  live::AlarmLimits alarms = {};
  std::optional<live::LiveSettings> live = {};  // only the newest steps are kept
};

// Runs until everything is done. |channel|: our end of the socket pair. Returns the exit
// status of the process.
int RunDrainer(const DrainerSettings& settings, os::FileDescriptor channel);

}  // namespace tutti::collector::drain
