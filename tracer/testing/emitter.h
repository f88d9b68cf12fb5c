// What the emitter and the test that kills it share, in a memfd that the emitter inherits.
#pragma once

#include <atomic>
#include <cstdint>

namespace tutti::tracer::testing {

inline constexpr uint32_t kMaxEmitterThreads = 8;
inline constexpr uint64_t kEmitterSpan = 4711;  // identity of the span that each thread holds open

struct EmitterProgress {
  struct alignas(64) Thread {
    std::atomic<uint32_t> tid;
    std::atomic<uint64_t> started;   // events that it began to emit
    std::atomic<uint64_t> finished;  // events of which Emit has returned, dropped ones included
  };
  Thread threads[kMaxEmitterThreads];
};

}  // namespace tutti::tracer::testing
