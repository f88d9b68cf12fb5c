// Memory snapshots of torch's caching allocator -> memory_segment, memory_block,
// memory_event.
#pragma once

#include "collector/importers/importer.h"

namespace tutti::collector::importers {

const Importer& MemorySnapshotImporter();

}  // namespace tutti::collector::importers
