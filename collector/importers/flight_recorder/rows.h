// A dump -> rows of its rank's trace.
// One thread.
#pragma once

#include "collector/importers/flight_recorder/dump.h"
#include "collector/importers/trace_sink.h"

namespace tutti::collector::importers::flight_recorder {

// `sink.identity.rank` must be set if it is known: the own place in each group is looked
// up by it. Fills what else the dump tells of the rank, and the counts of the source.
void WriteDump(const Dump& dump, TraceSink& sink);

}  // namespace tutti::collector::importers::flight_recorder
