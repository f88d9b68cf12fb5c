// RUN/manifest.d/HOST.PID.json: what one `tutti record` was, on which machine, and what
// came of it. Replaced as a whole at each change; one writer at a time (the supervisor
// until the drainer runs, then the drainer).
//
// Analyses may not read `truth` (faults that a test workload says it injected).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/clock/clock_reading.h"
#include "common/status.h"

namespace tutti::collector::run {

struct ManifestStart {
  std::string recording_id;
  std::string job_id;             // "" unknown
  std::string directory;          // current directory of `tutti record`
  std::vector<std::string> argv;  // of CMD, unredacted: redacted here
  std::vector<std::string> sources;
  int32_t nproc = 0;  // --nproc, 0 not given
  clock::Anchor anchor{};
};

// What became of one process.
struct ManifestRank {
  std::string file;
  int32_t pid = 0;
  int32_t rank = 0;
  int32_t attempt = 0;
  std::optional<int32_t> world_size;
  std::string rank_source;
  int32_t exit_status = -1;
  int64_t events = 0;
  int64_t events_lost = 0;
  std::string torch_version;
  std::vector<std::string> truth;
};

// "HOST.PID.json" for this process; HOST cut and cleaned to be a file name.
std::string ManifestName();

Status StartManifest(const std::string& run_path, const std::string& name,
                     const ManifestStart& start);
// The manifest of a part of a running recording that becomes a run of its own, at |dump_path|: as
// that of the recording, with the reason, and without what became of processes.
Status StartDumpManifest(const std::string& run_path, const std::string& name,
                         const std::string& dump_path, const std::string& reason);
Status AddRankToManifest(const std::string& run_path, const std::string& name,
                         const ManifestRank& rank);
// The recording is over; |incomplete|: spools are left that a salvage may still convert.
Status CloseManifest(const std::string& run_path, const std::string& name, bool incomplete);

// Of the manifest: whether its recording is over, its job, its machine and anchor.
struct ManifestSummary {
  bool finished = false;
  std::string recording_id;
  std::string job_id;
  std::string boot_id;
  clock::Anchor anchor{};
};
Result<ManifestSummary> ReadManifest(const std::string& run_path, const std::string& name);
std::vector<std::string> ListManifests(const std::string& run_path);

}  // namespace tutti::collector::run
