// Calls of collectives on several ranks as one: all that must arrive, then data moves.
//
//   rank 0  begin ──────────┐             ┌──> end
//   rank 1            begin ┴─> ready ────┴───────> end
//
#pragma once

#include <vector>

#include "analyzer/replay/rank_events.h"

namespace tutti::analyzer {

// Links begins and ends of `calls`, which it sorts by collective. What is not complete is linked
// by its duration.
Status JoinCollectives(RunContext& context, std::vector<CallEvents>& calls, JobGraph& job);

}  // namespace tutti::analyzer
