// Which threads of a rank compute when it trains on the CPU: those that ran forward,
// backward or optimizer work, never loader workers and never threads of the
// communication backend.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti::analyzer {

enum class LaneRole { kCompute, kCommunication, kLoader, kOther };
const char* ToString(LaneRole role);

// What a thread was seen doing.
struct ThreadEvidence {
  int64_t tid = 0;
  std::string role;         // as the tracer saw it: 'main', 'autograd', 'gloo', 'loader', ""
  int64_t operators = 0;    // in FUNCTION or BACKWARD scope
  int64_t operator_ns = 0;  // sum of their durations
  int64_t backward_functions = 0;
  int64_t optimizer_steps = 0;  // optimizer ranges or phases
  int64_t training_marks = 0;   // steps and forward, backward, optimizer phases
  int64_t data_phases = 0;      // 'data' phases: it loads batches
  int64_t data_waits = 0;       // it waits for batches
  int64_t collectives_run = 0;  // ran for another thread that had called them
};

struct LaneDecision {
  LaneRole role = LaneRole::kOther;
  std::string reason;
};

// One decision per thread, by the order given. Where nothing tells what trains, the
// main thread is the lane if it ran operators, else the thread with most operator time.
std::vector<LaneDecision> DecideLanes(std::span<const ThreadEvidence> threads);

}  // namespace tutti::analyzer
