// NVTX_EVENTS: ranges and marks of all kinds -> range, and what they mean -> step, phase,
// data_wait, batch, counter_sample, cpu_op and collective_source.
#pragma once

#include "collector/importers/nsys/import_state.h"
#include "collector/importers/nsys/nccl_launches.h"
#include "common/status.h"

namespace tutti::collector::importers::nsys {

// |launches| must be sorted.
Status ImportNvtx(ImportState& state, const NcclLaunches& launches);

}  // namespace tutti::collector::importers::nsys
