// What threads did: calls of CUDA's runtime and driver, time that the profiler and the
// driver took, calls of libraries and of the system.
#pragma once

#include "collector/importers/nsys/import_state.h"
#include "collector/importers/nsys/nccl_launches.h"
#include "common/status.h"

namespace tutti::collector::importers::nsys {

// Also tells |launches| which calls launched NCCL's kernels; after ImportKernels.
Status ImportApiCalls(ImportState& state, NcclLaunches& launches);
Status ImportOverheads(ImportState& state);

// Calls of the system (OSRT), cuBLAS, cuDNN, MPI, UCX, OpenACC and others become ranges in
// a domain of the library's name. Of calls of the system only those of main threads are
// kept (RankOutput::IsMainThread): hundreds of helper threads wait all the time. After
// ImportApiCalls and the NVTX ranges.
Status ImportLibraryCalls(ImportState& state);

}  // namespace tutti::collector::importers::nsys
