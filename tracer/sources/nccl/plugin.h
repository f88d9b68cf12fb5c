// NCCL's profiler plugin: each collective and point-to-point transfer with what NCCL chose for it
// (algorithm, protocol, channels) and its sequence number.
//
// NCCL calls it on threads of the program, within its own calls; an event costs a record and a
// few look-ups of known names. No event ever gets a handle: NCCL calls nothing back without one
// and passes none on to children, so there is nothing that a late or stale call could touch.
#pragma once

#include "tracer/sources/nccl/abi.h"

namespace tutti::tracer::nccl {

// The functions of the versions' tables; all return success. A process that is not traced, or
// not for NCCL, asks for no events.
Result InitEarly(void** context, int* mask);
Result InitV4(void** context, int* mask, const char* name, uint64_t hash, int nodes, int ranks,
              int rank, Log log);
Result InitV5(void** context, uint64_t hash, int* mask, const char* name, int nodes, int ranks,
              int rank, Log log);
Result StartEventV2(void* context, void** handle, EarlyEventDescriptor* event);
Result StartEventV3(void* context, void** handle, EarlyEventDescriptor* event);
Result StartEventV4(void* context, void** handle, EventDescriptor* event);
Result StartEventV5(void* context, void** handle, EventDescriptor* event);
Result StopEvent(void* handle);
Result RecordEventState(void* handle, int state, void* arguments);
Result Finalize(void* context);

}  // namespace tutti::tracer::nccl
