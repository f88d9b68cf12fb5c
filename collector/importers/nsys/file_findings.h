// What a user should know about an export beyond its events: what Nsight itself warned
// about, tables that were not read, rows that were not used, guesses that were made.
#pragma once

#include "collector/importers/nsys/import_state.h"
#include "common/status.h"

namespace tutti::collector::importers::nsys {

// Rows of trace_stat, and events_read and events_skipped of import_source. Last.
Status ReportFindings(ImportState& state, int64_t other_processes);

}  // namespace tutti::collector::importers::nsys
