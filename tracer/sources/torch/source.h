// The torch source: finds the PyTorch that the program loaded, checks that it is laid out as
// layout.h says, and registers the callbacks once per process. It registers them in candidates
// too, since what they see (a backward pass, a collective) is what makes a process a rank.
// They are never removed: PyTorch keeps copies in RecordFunctions under way.
#pragma once

#include <atomic>
#include <cstdint>

#include "tracer/sources/torch/library.h"
#include "tracer/sources/torch/tensors.h"

namespace tutti::tracer::torch {

// What was found. Written once, before |state| says kAttached; zero until then.
struct Source {
  enum class State : uint32_t {
    kWaiting = 0,    // no PyTorch seen yet
    kAttaching = 1,  // one thread is at it
    kAttached = 2,   // callbacks are registered
    kUnusable = 3,   // not like the known ones (said in a note), or not to be traced
  };
  std::atomic<State> state{State::kWaiting};
  bool backend_is_known = false;             // c10d::Backend is laid out as in layout.h
  std::atomic<bool> asks_for_inputs{false};  // of operators: shapes are wanted
  Library library{};
  TensorReader tensors{};
};

struct TheOne {
  static inline constinit Source source{};
};
inline Source& TheSource() noexcept { return TheOne::source; }

// True once everything in TheSource() may be read.
inline bool IsAttached() noexcept {
  return TheSource().state.load(std::memory_order_acquire) == Source::State::kAttached;
}

// Attaches to PyTorch if it is loaded and this process may be recorded; once it is a rank from
// which shapes are wanted, asks PyTorch for the operators' inputs too. Called wherever
// PyTorch is seen at work (an allocation, a group being made) and when the process becomes a
// rank. One load once it is decided; until then it takes the loader's lock. Threads that come
// while another attaches go on at once.
void Attach() noexcept;

}  // namespace tutti::tracer::torch
