// For commands that read a run: finishes what recordings left behind whose processes were
// killed, or whose disk was full. Part of the front door (collector.h).
#pragma once

#include <string>
#include <vector>

#include "common/status.h"

namespace tutti::collector {

struct SalvageReport {
  int converted = 0;                  // rank files that were finished now
  bool is_recording = false;          // a recording into this run is still going on
  std::vector<std::string> messages;  // one plain line each, for the user
};

// Converts the spools of dead recordings in |run_path| into rank files; what can't be
// converted stays for another try, with a message why. Cheap where there is nothing to do.
// Safe to call from several processes at once. Not ok: |run_path| is no directory.
Result<SalvageReport> Salvage(const std::string& run_path);

}  // namespace tutti::collector
