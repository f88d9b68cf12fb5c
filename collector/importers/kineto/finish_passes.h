// What can only be said once all rows of a trace are in its file. Each pass reads with
// SQLite's own sorter, which goes to disk when it must, so memory stays bounded.
// One thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "schema/database.h"

namespace tutti::collector::importers::kineto {

// Corrects `depth` in a table with tid, begin_ns and end_ns for the spans of these threads,
// whose events came out of order in the file; `where` narrows the rows down further, ""
// takes all. Only rows whose depth changes are written.
Status CorrectDepths(schema::Database& database, std::string_view table,
                     const std::vector<int64_t>& tids, std::string_view where);

// Gives calls into c10d the correlation id of the collective kernel that was launched
// inside of them.
Status LinkCallsToKernels(schema::Database& database);

// Moves all times of the file.
Status ShiftTimes(schema::Database& database, int64_t by_ns);

}  // namespace tutti::collector::importers::kineto
