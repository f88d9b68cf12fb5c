// Verbs that read a run take files of other tools as well: those are imported on the way.
#pragma once

#include <string>

#include "cli/verb.h"
#include "common/status.h"

namespace tutti::cli {

// The run or trace to read for what the user named: a run whose recorder was killed is
// finished first, a file of another tool (or a folder of them) is imported into the cache.
// Says on standard error what was not read. A run that can't be written to is taken as it is.
Result<std::string> OpenRun(const std::string& run_or_file);

}  // namespace tutti::cli
