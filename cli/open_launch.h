// Runs as launches of a comparison.
#pragma once

#include <string>
#include <vector>

#include "analyzer/compare/compare.h"
#include "common/status.h"

namespace tutti::cli {

// A run, a trace, a file of another tool or one with step times; analyzed first if needed.
// kUsage for a file that holds pairs of runs.
Result<analyzer::compare::Launch> OpenLaunch(const std::string& name);

// The same of each; kUsage if one of them is given twice.
Result<std::vector<analyzer::compare::Launch>> OpenLaunches(const std::vector<std::string>& names);

}  // namespace tutti::cli
