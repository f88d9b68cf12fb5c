// From candidate to rank. A process that loads the library is a candidate: it holds no
// thread, no descriptor, and says nothing. The first sign of training promotes it: it asks
// the collector named in TUTTI_SESSION for a segment, once.
#pragma once

#include "tracer/core/gate.h"

namespace tutti::tracer {

// Reads TUTTI_SESSION and makes the process a candidate, or leaves it closed: no or
// malformed TUTTI_SESSION, or a process with elevated privileges (AT_SECURE). Idempotent,
// any thread; entry points that may run before our constructor call it themselves.
void Configure() noexcept;

// Makes this process a rank; |reason| is what it was seen doing ("annotate", "backward",
// "c10d::allreduce_", …). True if it is a rank on return. One load once it is decided; the
// first call waits for the collector, 3 s at most, and calls the hooks; calls of other
// threads meanwhile return false at once. Whatever goes wrong, the process is disabled, says
// so in one line on stderr, and training goes on. Not to be called inside an Entry.
bool Promote(const char* reason) noexcept;

// Called on the promoting thread, outside any Entry, each time that a process of this
// lineage becomes a rank. At most 8 hooks, added before the first promotion (constructors).
using PromotionHook = void (*)();
void AddPromotionHook(PromotionHook hook) noexcept;

// Stops recording for good and says |why| on stderr, unless something was said before.
void Disable(const char* why) noexcept;

// Back to an unconfigured process: for tests, when no other thread is in the tracer.
void ResetForTesting() noexcept;

}  // namespace tutti::tracer
