// What the host threads of a rank do, as a replay needs it: pieces of time in order, without
// any inside another.
//
//   operators  [addmm      [c10d::allreduce_)      )      [wait)
//   items      [compute    [hand over       )[comp.)      [blk.)
//
// Callable from any thread that owns the trace.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/input/rank_trace.h"
#include "analyzer/input/step_index.h"
#include "common/interval.h"
#include "common/status.h"
#include "schema/derived_rows.h"

namespace tutti::analyzer {

struct HostItem {
  enum class Kind : uint8_t {
    kCompute,   // an operator of a rank that computes on the CPU
    kHandOver,  // hands work to the communication backend
    kExchange,  // does, and may wait for it: a range of the program (fully_shard's)
    kLaunch,    // a call that launches work on a GPU
    kInput,     // waits for a batch
    kBlocked,   // waits for the device, or for a collective
    kStepEnd,   // the host leaves a step; no time
  };
  Kind kind = Kind::kCompute;
  Interval time;
  int64_t name_id = 0;  // of the trace's strings, 0 none
  int64_t call = -1;    // place among the api calls, -1 none
  int64_t step = -1;    // kStepEnd: which
};

// Of one thread, or of the threads that train, which take turns. Sorted by begin.
using HostTrack = std::vector<HostItem>;

// The track of the training threads comes first, also if it is empty; then, on GPU ranks,
// that of each other thread that launches. `range`: only what begins in it.
Result<std::vector<HostTrack>> ReadHostTracks(const schema::RankRow& rank, RankTrace& trace,
                                              std::span<const schema::LaneRow> lanes,
                                              std::span<const schema::StepWindowRow> windows,
                                              Interval range);

}  // namespace tutti::analyzer
