// Runs the importers of an import's files: those whose events stand by themselves at once, as
// many as there are processors; then those that add to them, one after another.
#pragma once

#include <string>
#include <vector>

#include "collector/import.h"
#include "collector/importers/importer.h"
#include "collector/importers/input_file.h"
#include "collector/importers/trace_pool.h"
#include "common/status.h"

namespace tutti::collector::importers {

struct Job {
  const InputFile* file;
  const Importer* importer;
};

// What became of a job, other than traces.
struct JobOutcome {
  Status read;                        // not ok: nothing of the file is kept
  std::vector<std::string> messages;  // plain lines
};

// By job. Traces come into `pool` in the order of the jobs, whichever is done first, and have
// their ranks. Not ok: they could not be written, or a signal arrived. The options' progress
// is called by one thread at a time.
Result<std::vector<JobOutcome>> RunJobs(const std::vector<Job>& jobs, const ImportOptions& options,
                                        TracePool& pool);

}  // namespace tutti::collector::importers
