// Push/pop ranges, start/end ranges and marks: the events that NVTX is for.
//
// Promotes the process where that is due: any event of domain "tutti" (annotate.h), and
// communicator activity in domain "NCCL". NVTX alone makes no rank: data loaders, shells'
// children and tests use it too.
#pragma once

#include "tracer/sources/nvtx/event.h"
#include "tracer/sources/nvtx/registry.h"

namespace tutti::tracer::nvtx {

// Level of the range in its domain on this thread, from 0; NVTX_NO_PUSH_POP_TRACKING while
// the process, or this thread, records nothing.
int Push(Domain& domain, const Event& event) noexcept;

// Level of the range that ended; -1 if none is open. |event| may add payloads, and a message
// that replaces the one of the push.
int Pop(Domain& domain, const Event& event) noexcept;

void Mark(Domain& domain, const Event& event) noexcept;

// Returns the id to end the range by: |chained_id| if that is not 0, else one of our own,
// which tells whether the begin was recorded.
nvtxRangeId_t Start(Domain& domain, const Event& event, nvtxRangeId_t chained_id) noexcept;

// Ends a range on any thread.
void End(Domain& domain, const Event& event, nvtxRangeId_t id) noexcept;

}  // namespace tutti::tracer::nvtx
