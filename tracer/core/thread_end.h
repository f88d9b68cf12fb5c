// The end of a thread that owns a ring: the ring becomes another thread's at once, with what it
// holds. Without it a ring comes back only when the collector has seen that its thread is gone,
// too late for programs that start thousands of short threads.
#pragma once

namespace tutti::tracer {

// Before any thread of this process claims a ring; again is harmless. Where it can't be arranged,
// rings come back through the collector alone.
void PrepareThreadEnds() noexcept;

// Has this thread's ring released when the thread ends. No allocation: part of a thread's first
// event.
void ReleaseRingAtThreadEnd() noexcept;

}  // namespace tutti::tracer
