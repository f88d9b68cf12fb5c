// Work on GPUs: kernels, copies, fills, synchronisation, graphs traced as a whole and
// allocations of device memory.
#pragma once

#include "collector/importers/nsys/import_state.h"
#include "collector/importers/nsys/nccl_launches.h"
#include "common/status.h"

namespace tutti::collector::importers::nsys {

// Also remembers NCCL's kernels in |launches|.
Status ImportKernels(ImportState& state, NcclLaunches& launches);
Status ImportMemcpys(ImportState& state);
Status ImportMemsets(ImportState& state);
Status ImportSyncs(ImportState& state);
Status ImportGraphs(ImportState& state);
Status ImportMemoryEvents(ImportState& state);

}  // namespace tutti::collector::importers::nsys
