// Samples the node's GPUs and network ports on a thread of its own, since a driver may keep a call
// for long, or for ever: nothing waits for it. What waits to be taken is bounded.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "collector/spool/format.h"

namespace tutti::collector::counters {

class NodeSampler {
 public:
  NodeSampler() = default;
  ~NodeSampler();  // asks the thread to end and does not wait for it
  NodeSampler(const NodeSampler&) = delete;
  NodeSampler& operator=(const NodeSampler&) = delete;

  // Starts sampling each |interval_ns|, unless it has. Where there is neither NVML nor a port, the
  // thread ends at once. Without a thread nothing is sampled.
  void Start(int64_t interval_ns);

  // What was read since the last call, oldest first.
  std::vector<spool::NodeSample> Take();

 private:
  struct State;
  static void Run(const std::shared_ptr<State>& state, int64_t interval_ns);

  std::shared_ptr<State> state_;  // the thread keeps its own hold
};

}  // namespace tutti::collector::counters
