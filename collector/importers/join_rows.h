// Two captures of one process as one trace: the rows of the later one are put behind those of the
// earlier one. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/status.h"
#include "schema/database.h"

namespace tutti::collector::importers {

using ThreadMap = std::vector<std::pair<int64_t, int64_t>>;  // later, earlier

// Copies the rows of the unfinished rank file at `later_path` into `database`, which is another.
// Ids go on behind those that are there; texts, groups, counters, GPUs and streams that both have
// are kept once; numbers that tie events together (correlations, external ids, Python calls) are
// moved if both captures count from the same. `tids` are the threads of the later file with their
// numbers in this one. Left out is what a file has of itself: meta, process, threads, sources,
// losses.
Status JoinRows(schema::Database& database, const std::string& later_path, const ThreadMap& tids);

}  // namespace tutti::collector::importers
