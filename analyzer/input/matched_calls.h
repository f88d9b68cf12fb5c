// The calls of one rank out of collective and collective_call, and what it does with them.
#pragma once

#include <vector>

#include "analyzer/input/activity.h"
#include "analyzer/run_context.h"
#include "common/status.h"

namespace tutti::analyzer {

// Calls that began, in no particular order. Those that had not ended reach to the end of
// the rank's trace.
Result<std::vector<MatchedCall>> ReadMatchedCalls(RunContext& context, const schema::RankRow& rank);

// What the rank does, with its matched calls and its lanes.
Result<RankActivity> ReadMatchedActivity(RunContext& context, const schema::RankRow& rank,
                                         RankTrace& trace);

}  // namespace tutti::analyzer
