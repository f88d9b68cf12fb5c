// A memory snapshot of torch's caching allocator as plain structures, of both ages:
// torch.cuda.memory._snapshot() ({'segments', 'device_traces', …}) and the older
// torch.cuda.memory_snapshot() (a list of segments; blocks without addresses, stacks in a
// 'history'). The layout: torch/cuda/memory.py and c10/cuda/CUDACachingAllocator.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "collector/importers/pickle/value.h"
#include "common/status.h"

namespace tutti::collector::importers::memory_snapshot {

struct Segment {
  int64_t device = 0;
  std::optional<int64_t> stream;
  int64_t address = 0;  // 64 bits, so high addresses are negative
  int64_t bytes = 0;
  std::optional<int64_t> allocated_bytes;
  std::optional<int64_t> active_bytes;
  std::optional<int64_t> requested_bytes;
  std::string_view kind;  // "large", "small", "" untold
  std::string pool;       // "" the common one
  std::optional<bool> is_expandable;
  pickle::Value frames;  // list of frames, innermost first
};

struct Block {
  int64_t address = 0;
  int64_t bytes = 0;
  std::optional<int64_t> requested_bytes;
  std::string_view state;  // "active_allocated", …
  pickle::Value frames;
};

struct Event {
  size_t device = 0;
  std::string_view action;  // "alloc", "free_requested", …
  int64_t address = 0;
  int64_t bytes = 0;
  std::optional<int64_t> stream;
  std::optional<int64_t> time_us;  // since the Unix epoch
  pickle::Value frames;
};

// Receives what a snapshot holds, in its order. Views live as long as the document.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void OnSegment(const Segment& segment) = 0;
  virtual void OnBlock(const Block& block) = 0;  // of the last segment
  virtual void OnEvent(const Event& event) = 0;  // devices one after the other
  // Something that could not be used; `what` is a stable short code.
  virtual void OnOddity(std::string_view what, int64_t count) = 0;
};

bool IsSnapshot(pickle::Value root);

// Requires IsSnapshot(root). Work is bounded by `input_bytes`, the size of the file.
void Walk(pickle::Value root, size_t input_bytes, Visitor& visitor);

// "function (file:line)", innermost first, one a line; at most 1,000 frames.
std::string StackText(pickle::Value frames);

}  // namespace tutti::collector::importers::memory_snapshot
