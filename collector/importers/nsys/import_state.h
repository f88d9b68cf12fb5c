// What the parts of the importer share while one export is read: the file, its clock, the
// ranks being written and what could not be used. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/importers/nsys/export_database.h"
#include "collector/importers/nsys/global_id.h"
#include "collector/importers/nsys/rank_output.h"
#include "collector/importers/nsys/session.h"
#include "collector/importers/nsys/skipped_rows.h"
#include "collector/importers/nsys/string_ids.h"
#include "collector/importers/nsys/table_cursor.h"

namespace tutti::collector::importers::nsys {

struct ImportState {
  ExportDatabase& database;
  StringIds& strings;
  const Session& session;
  std::vector<RankOutput> ranks = {};
  std::map<ProcessKey, size_t> place = {};  // in ranks, by process
  SkippedRows skipped = {};

  // The rank of a process or thread id; a row that names none belongs to the only rank.
  // Null if it belongs to no rank.
  RankOutput* RankOf(std::optional<int64_t> global_id);
  // Counts the cursor's row as left out. Also as one of |rank|'s, else of the file's.
  void Skip(const TableCursor& row, SkipReason reason, RankOutput* rank = nullptr);
};

// [begin_ns, end_ns) on the trace's clock.
struct TraceInterval {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

// The interval that a row tells; absent, and counted, if it can't be one.
std::optional<TraceInterval> IntervalOf(ImportState& state, const TableCursor& row,
                                        RankOutput* rank, std::optional<int64_t> start,
                                        std::optional<int64_t> end);

}  // namespace tutti::collector::importers::nsys
