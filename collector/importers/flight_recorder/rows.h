// A dump -> rows of its rank's trace.
// One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collector/importers/flight_recorder/dump.h"
#include "collector/importers/flight_recorder/joined_trace.h"
#include "collector/importers/trace_sink.h"

namespace tutti::collector::importers::flight_recorder {

// `sink.identity.rank` must be set if it is known: the own place in each group is looked
// up by it. Fills what else the dump tells of the rank, and the counts of the source.
// `joined` is empty for a trace that is new. To one that is not, the dump adds what the trace
// does not tell: how far the rank was, and the calls before, after and still open.
void WriteDump(const Dump& dump, const JoinedTrace& joined, TraceSink& sink);

// "[0,1,2]", as in communicator.global_ranks.
std::string ListText(const std::vector<int64_t>& ranks);

}  // namespace tutti::collector::importers::flight_recorder
