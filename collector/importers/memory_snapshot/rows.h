// A memory snapshot -> memory_segment, memory_block, memory_event.
// One thread.
#pragma once

#include "collector/importers/pickle/value.h"
#include "collector/importers/trace_sink.h"

namespace tutti::collector::importers::memory_snapshot {

// Requires IsSnapshot(root). Counts what it reads in sink.sources.back().
void WriteSnapshot(pickle::Value root, size_t input_bytes, TraceSink& sink);

}  // namespace tutti::collector::importers::memory_snapshot
