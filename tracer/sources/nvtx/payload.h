// Extended payloads: blobs of program-defined layout that come with events.
#pragma once

#include <cstdint>

#include "tracer/sources/nvtx/event.h"

namespace tutti::tracer::nvtx {

// Writes a PayloadRecord for each payload of |event|, which they belong to by |event_ticks|.
// What does not fit a record is cut (total_bytes tells). Strings that a payload points to are
// interned, and their fields replaced by the index: a process's pointers mean nothing later.
void EmitPayloads(Entry& entry, Domain& domain, const Event& event, uint64_t event_ticks) noexcept;

// Index of the message that a payload's schema says names the event, 0 if there is none.
uint32_t PayloadMessage(Entry& entry, Domain& domain, const Event& event) noexcept;

}  // namespace tutti::tracer::nvtx
