// What goes on on one rank, from its trace and the derived tables `lane` and
// `collective_call`: the sets that the breakdown of its steps is made of.
// Callable from any thread that owns the trace.
#pragma once

#include <span>
#include <vector>

#include "analyzer/input/rank_trace.h"
#include "analyzer/metrics/breakdown.h"
#include "common/interval.h"
#include "common/status.h"
#include "schema/derived_rows.h"

namespace tutti::analyzer {

// A call of a collective on this rank, as matched over ranks.
struct MatchedCall {
  Interval interval;                 // arrival to end, or to the end of the trace
  std::optional<int64_t> ready_ns;   // nothing: waiting can't be told from transferring
  std::optional<int64_t> late_rank;  // whose arrival made it ready
  int64_t source_id = -1;            // collective_source.id that gave the times
};

struct RankActivity {
  ActivitySets sets;
  IntervalSet comm;             // all communication: what overlap is measured on
  std::vector<RankWait> waits;  // the waits for known late ranks
};

// `lanes` and `calls` are those of the rank.
//   compute     CPU ranks: operators on compute lanes, but not while, inside of them, work
//               is handed to the communication backend or is waited for, or data is.
//               GPU ranks: kernels that don't communicate.
//   communication  CPU: the calls. GPU: kernels, split by the calls; calls that are only
//               known from the host (c10d) are host time and not in it
//   copy        GPU: copies and fills. Synchronisation records are never device work
//   input wait  data waits of training threads
//   sync        CPU: blocking operators of compute lanes. GPU: a thread that trains or
//               launches is blocked in a synchronisation, a copy that is not asynchronous or
//               an allocation; without any recorded call, in aten::item and its like
//   unexplained CPU: where events were lost, and everything if no operator was recorded.
//               GPU: gaps of the device in which the work that ends them was launched
//               already, or whose launch is not known (metrics/device_gaps.h)
Result<RankActivity> ReadActivity(const schema::RankRow& rank, RankTrace& trace,
                                  std::span<const schema::LaneRow> lanes,
                                  std::span<const MatchedCall> calls);

}  // namespace tutti::analyzer
