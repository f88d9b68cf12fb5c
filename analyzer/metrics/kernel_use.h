// How much of a GPU kernels use, told by how they were launched and by what ran beside them.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/interval.h"

namespace tutti::analyzer {

// How a kernel was launched; 0 unknown.
struct KernelShape {
  int64_t blocks = 0;
  int64_t threads = 0;        // of a block
  int64_t registers = 0;      // of a thread
  int64_t shared_bytes = -1;  // of a block, -1 unknown

  friend auto operator<=>(const KernelShape&, const KernelShape&) = default;
};

// Of a GPU; 0 unknown.
struct GpuLimits {
  int64_t multiprocessors = 0;
  int64_t warp_size = 0;
  int64_t threads = 0;       // that a multiprocessor holds
  int64_t registers = 0;     // the same
  int64_t shared_bytes = 0;  // the same
};

// Share of the multiprocessors that a kernel of fewer blocks leaves empty; 0 where unknown.
double UnfilledFrac(const KernelShape& shape, const GpuLimits& gpu);

// Blocks that a multiprocessor holds at once: the least of what threads, registers (in units
// of 256 a warp) and shared memory allow. Nothing where any of this is unknown.
std::optional<int64_t> BlocksAtOnce(const KernelShape& shape, const GpuLimits& gpu);

// Blocks run in waves of as many as the GPU holds at once; the last one is rarely full.
//   w = blocks / (multiprocessors * blocks at once);  lost: 1 - w / ceil(w)
// 0 for a single wave (UnfilledFrac tells of it) and where unknown.
double LastWaveFrac(const KernelShape& shape, const GpuLimits& gpu);

// A run of a kernel. Runs of equal `key` do the same.
struct KernelRun {
  int64_t key = 0;
  int64_t duration_ns = 0;
  int64_t beside_ns = 0;  // of it, while something else ran that may slow it down
};

// How much longer each run took than the median of the same alone; nothing for runs that were
// beside the other for less than half of their time, or of which there are fewer than five alone.
std::vector<std::optional<int64_t>> ExcessBeside(std::span<const KernelRun> runs);

// Work of a GPU.
struct StreamWork {
  int64_t stream = 0;
  bool is_default = false;  // the legacy default stream: it waits for all, and all for it
  Interval time;
  int64_t launched_ns = 0;       // its launch had returned
  bool waits_for_event = false;  // its stream was told to wait for another
};

// Work that could have run at once, had none of the default stream come between:
//
//   stream 13  [A=========)
//   default                [d)
//   stream 14                 [B======)      B was launched before A ended: min(A, B) is lost
//
// Only where d is short (a tenth of either): what is long is not between, it is the work.
// `works` sorted by begin. O(n).
struct Serialized {
  int64_t begin_ns = 0;  // of B
  int64_t lost_ns = 0;
};
std::vector<Serialized> FindSerialized(std::span<const StreamWork> works);

}  // namespace tutti::analyzer
