// RUN/manifest.d/import.HOST.PID.json: from which files a run was imported, by what.
#pragma once

#include <string>
#include <vector>

#include "collector/import.h"
#include "common/status.h"

namespace tutti::collector::importers {

// Writes it into the run at `run_path`. Redacts `command` as a recording's. Times and machines
// are those of the files; of the importing machine nothing is told that a comparison could take for
// the traced one.
Status WriteImportManifest(const std::vector<ImportedTrace>& traces,
                           const std::vector<std::string>& command, const std::string& run_path);

}  // namespace tutti::collector::importers
