// The NVTX source: the tool that NVTX's header-only API loads into a process.
#pragma once

#include "tracer/sources/nvtx/abi.h"

namespace tutti::tracer::nvtx {

// InitializeInjectionNvtx2. NVTX keeps its state per library, so this runs once for each
// library that uses NVTX; each gets our functions. 1, or 0 if the tables are none we know.
int InitializeInjection(NvtxGetExportTableFunc_t get_export_table) noexcept;

// Promotion hook: writes what was registered before the process became a rank.
void OnPromotion() noexcept;

}  // namespace tutti::tracer::nvtx
