// Slices and marks of a trace in the order in which Perfetto wants them: one lane after
// another, within a lane by begin, the longer first. A lane is a thread, a stream, a
// communicator …; several tables may feed it. SQLite sorts, in temporary files where there is
// much, so memory does not grow with the trace. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "schema/database.h"

namespace tutti::exporter::perfetto {

// What both ends of an arrow have in common.
enum class FlowKind : uint64_t { kNone = 0, kLaunch = 1, kBackward = 2 };

// A query that gives kSliceColumns, then any number of columns that become annotations under
// their names, in the order that LanesOf's merge needs.
struct SliceSource {
  std::string sql;
  bool is_mark = false;  // events without a length
  FlowKind flow = FlowKind::kNone;
};

struct LaneKey {
  int64_t first = 0;   // tid, device, communicator, …
  int64_t second = 0;  // stream, else 0
  friend auto operator<=>(const LaneKey&, const LaneKey&) = default;
};

// A row of a source. Valid until the source moves on.
struct Slice {
  LaneKey lane;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;          // SliceNesting::kNever: still open
  schema::NullableValue name;  // text, or the id of one
  std::string category;
  std::optional<int64_t> flow_out;  // key of the arrow that starts here
  std::optional<int64_t> flow_in;   // that ends here
  std::vector<schema::NullableValue> annotations;
};

class SliceCursor {
 public:
  // |parameter| is bound to ?1 where the query has one.
  static Result<SliceCursor> Open(schema::Database& database, const SliceSource& source,
                                  std::optional<int64_t> parameter = std::nullopt);
  // The current row; null after the last.
  const Slice* slice() const { return has_slice_ ? &slice_ : nullptr; }
  Status Next();

  const std::vector<std::string>& annotation_names() const { return names_; }
  bool is_mark() const { return is_mark_; }
  FlowKind flow() const { return flow_; }

 private:
  SliceCursor(schema::Statement rows, const SliceSource& source);

  schema::Statement rows_;
  std::vector<std::string> names_;
  bool is_mark_;
  FlowKind flow_;
  Slice slice_;
  bool has_slice_ = false;
};

// What happens on a rank's threads, on its GPUs' streams, …: the sources of each kind of lane.
const std::vector<SliceSource>& ThreadSources();      // lane: tid
const std::vector<SliceSource>& StreamSources();      // lane: device, stream
const std::vector<SliceSource>& SyncSources();        // lane: device, -1 unknown
const std::vector<SliceSource>& StepSources();        // one lane
const std::vector<SliceSource>& LooseRangeSources();  // one lane: ranges that need not nest
const std::vector<SliceSource>& OverheadSources();    // one lane: stops of no known thread
const std::vector<SliceSource>& IssueSources();       // one lane: what was lost
// Of the derived tables; ?1 is the rank. Aligned time. Lane: run_communicator.id.
const std::vector<SliceSource>& CollectiveSources();

// Makes the views that the sources use.
Status AddFlowViews(schema::Database& trace);

}  // namespace tutti::exporter::perfetto
