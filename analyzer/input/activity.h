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
//   input wait  data waits of training threads
//   sync        CPU: blocking operators of compute lanes. GPU: host blocked in a
//               synchronisation or in an allocation of device memory
//   unexplained CPU: where events were lost, and everything if no operator was recorded.
//               GPU: where launched work had not begun, and
//               everything if no launch is known
Result<RankActivity> ReadActivity(const schema::RankRow& rank, RankTrace& trace,
                                  std::span<const schema::LaneRow> lanes,
                                  std::span<const MatchedCall> calls);

}  // namespace tutti::analyzer
