// `tutti record`: runs a command under the tracer and writes what its ranks did into a run
// directory. Part of the front door (collector.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/convert/spool_scan.h"
#include "collector/live/settings.h"
#include "collector/session/rank_selector.h"
#include "common/status.h"

namespace tutti::collector {

struct RecordOptions {
  std::string output = "tutti-runs/%n/";  // run/name_pattern.h
  bool force = false;                     // replace a finished run
  int32_t nproc = 0;                      // local ranks to start; 0: CMD as it is, once
  uint32_t capture_mask = 0;              // wire::CaptureBit
  bool sample_system = true;
  std::vector<std::string> sources;  // names of the above, for the manifest
  std::optional<convert::StepRange> steps;
  session::RankSelector ranks;
  uint64_t buffer_bytes = 64 << 20;  // per process
  int64_t flush_ns = 1'000'000'000;
  uint64_t max_bytes = 0;                // of disk, 0 no limit
  std::string metrics_path;              // file that tells what the job does meanwhile, "" none
  std::optional<uint16_t> metrics_port;  // of loopback that tells it, 0 any free one
  int64_t metrics_every_ns = 5'000'000'000;
  live::AlarmLimits alarms;
  std::optional<live::LiveSettings> live;  // keep the newest steps only, and dump them
  std::vector<std::string> command;        // not empty
};

// What a build can capture; the names that --trace takes.
struct Source {
  const char* name;
  uint32_t capture_bits;  // 0: sampled by the collector
};
const std::vector<Source>& AvailableSources();

// Runs the command to its end. Returns the exit status for the shell: the command's own
// (128 + n for signal n), 125 if it was never started because of us, 126 or 127 if it
// can't be run or found. Messages go to stderr; the command's output is its own.
// To be called from a process with one thread.
int Record(const RecordOptions& options);

}  // namespace tutti::collector
