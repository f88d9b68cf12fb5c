// What the emitter (emitter.cc) and the tests that read its traces agree on.
#pragma once

#include <atomic>
#include <cstdint>

namespace tutti::e2e {

inline constexpr uint32_t kMaxThreads = 16;

// A file that the emitter maps: how many events each thread has published. It outlives a
// killed emitter, so a test knows what must be in the trace.
struct Progress {
  std::atomic<uint64_t> ready;  // 1 once all threads write
  std::atomic<uint64_t> published[kMaxThreads];
};

// Names in `emitter sequence`: thread N writes operators "sequence N" whose
// sequence_nr counts from 0 without a gap.
inline constexpr char kSequencePrefix[] = "sequence ";

// What each step of `emitter train` writes, besides its step, on one main thread and one
// thread that runs collectives.
inline constexpr int kForwardOps = 8;  // inside the forward phase, nested two deep
inline constexpr int kBackwardOps = 6;
inline constexpr int kCollectivesPerStep = 2;
inline constexpr int64_t kSamplesPerStep = 64;
inline constexpr int64_t kTokensPerStep = 1024;
inline constexpr int64_t kCollectiveBytes = 4096;
inline constexpr int64_t kAllocationBytes = 1 << 20;

}  // namespace tutti::e2e
