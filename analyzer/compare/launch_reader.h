// Reads launches out of what the analyzer wrote. Nothing but derived tables is read for
// figures; what the run ran on comes from its manifests and rank files beside them.
// Callable from any thread.
#pragma once

#include <string>

#include "analyzer/compare/launch.h"
#include "common/status.h"

namespace tutti::analyzer::compare {

// `analysis` is a file with derived tables, `name` what the user calls the run. kBadData if it
// is none, or if a value is not what the schema says.
Result<Launch> ReadLaunch(const std::string& analysis, const std::string& name);

// Fills what derived tables don't tell (GPUs, torch version, hardware, control) from files in
// the run's folder, as far as they are there. Files that can't be read are left out.
void ReadSurroundings(const std::string& run_folder, Launch& launch);

}  // namespace tutti::analyzer::compare
