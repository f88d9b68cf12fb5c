// A run of an older schema version as one of this: its rank files are written anew, everything
// else that belongs to it is copied. Derived tables are left out, for an analysis makes them.
// Callable from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"

namespace tutti::schema {

struct MigratedFile {
  std::string file;  // relative to the run
  int64_t from_version = 0;
  int64_t rows = 0;
};

// Copies the run in the folder `run` to `output`, which must not be there; dumps in it are runs of
// their own, and copied alike. Files come from anywhere (trace_file.h). The output appears as a
// whole; a failed copy leaves nothing. kUsage: `output` is there, or the recording isn't over.
// kBadData: a file that can't be read, or has rows that this version refuses.
Result<std::vector<MigratedFile>> MigrateRun(const std::string& run, const std::string& output);

}  // namespace tutti::schema
