// The trace files that an analysis is made of, with what tells whether it is stale.
// Which files a run consists of is schema/run_files.h's.
// Callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"

namespace tutti::analyzer {

struct TraceFile {
  std::string path;              // to open it
  std::string name;              // relative to the run
  int64_t bytes = 0;             // with its write-ahead log
  int64_t mtime_ns = 0;          // latest of both
  bool is_part = false;          // its writer is at work, or was killed
  int64_t attempt = 0;           // by its folder
  std::optional<int64_t> rank;   // by its name
  std::string unusable_because;  // set by the caller to leave it out; "" use it
};

struct RunFiles {
  std::string analysis;           // where the derived tables go: RUN/run.sqlite, FILE.run.sqlite
  std::vector<TraceFile> traces;  // ordered by rank, then attempt
};

// What is at `run_or_file`: a run folder or one trace file. kNotFound if there is
// neither, or a folder holds no trace.
Result<RunFiles> FindRunFiles(const std::string& run_or_file);

}  // namespace tutti::analyzer
