// NVTX's own headers, types only: the one place that includes them.
#pragma once

#define NVTX_NO_IMPL
#include "nvtx3/nvToolsExt.h"
#include "nvtx3/nvToolsExtPayload.h"
