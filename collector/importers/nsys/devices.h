// GPUs and streams of the ranks, and what the sampler of GPU metrics measured on them.
// After all work on GPUs, so that it is known which of them each rank used.
#pragma once

#include "collector/importers/nsys/import_state.h"
#include "common/status.h"

namespace tutti::collector::importers::nsys {

Status ImportDevices(ImportState& state);

}  // namespace tutti::collector::importers::nsys
