// The events of one rank in the graph of the job (job_graph.h says which edges there are).
// Callable from any thread that owns the trace.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/input/rank_trace.h"
#include "analyzer/replay/job_graph.h"
#include "common/interval.h"
#include "common/status.h"
#include "schema/derived_rows.h"

namespace tutti::analyzer {

// A call of a collective that has begun and ended.
struct ReplayCall {
  int64_t collective_id = 0;
  int64_t source_id = 0;
  std::optional<int64_t> enqueue_ns;
  Interval time;
};

// A call as events; its end has no edge yet.
struct CallEvents {
  int64_t collective_id = 0;
  EventGraph::Id begin = 0;
  EventGraph::Id end = 0;
  uint32_t rank = 0;  // place
  uint32_t name = 0;
  bool is_root = false;  // of a rooted operation
};

struct RankSource {
  const schema::RankRow& rank;
  uint32_t place = 0;
  RankTrace& trace;
  std::span<const schema::LaneRow> lanes;
  std::span<const schema::StepWindowRow> windows;  // of the steps taken
  std::span<const ReplayCall> calls;
};

// Adds the rank's events. Its calls of collectives are added to `calls`.
Status AddRankEvents(const RankSource& source, JobGraph& job, std::vector<CallEvents>& calls);

}  // namespace tutti::analyzer
