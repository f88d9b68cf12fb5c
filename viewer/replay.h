// A replay of the run's steps, as the viewer asks it: how long a step would take if something were
// different, which work the steps waited for, how much later each event could have been. The
// command line hands it in: the viewer knows no analyzer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/status.h"

namespace tutti::viewer {

// A stretch of the critical path. Pieces don't overlap; those of a step add up to it.
struct PathPiece {
  int64_t rank = 0;  // whose work was waited for
  int64_t step = 0;
  std::string part;      // what it is spent on, e.g. "compute", "input_wait"
  std::string name;      // what ran, "" nothing
  int64_t begin_ns = 0;  // aligned time
  int64_t end_ns = 0;
};

// How much later something could have begun or ended without any step being longer.
struct EventSlack {
  int64_t rank = 0;
  int64_t time_ns = 0;  // when it did
  int64_t slack_ns = 0;
};

struct Prediction {
  std::string scenario;
  int64_t step_ns = 0;   // mean over the replayed steps
  int64_t saved_ns = 0;  // against the unchanged step; negative: slower
};

// Functions may be called from any thread.
class Replay {
 public:
  virtual ~Replay() = default;
  // Words as `tutti whatif --scenario` takes them, all at once. kUsage says what is wrong.
  virtual Result<Prediction> Ask(const std::vector<std::string>& words) const = 0;
  // What is worth asking of this run.
  virtual std::vector<std::vector<std::string>> UsualQuestions() const = 0;
  virtual std::vector<PathPiece> CriticalPath() const = 0;  // in order of time
  virtual std::vector<EventSlack> Slacks() const = 0;       // by rank, then time
  virtual int64_t measured_ns() const = 0;                  // mean step, as recorded
  virtual int64_t unchanged_ns() const = 0;                 // mean step of a replay without change
  virtual int64_t steps() const = 0;                        // that were replayed and count
};

// Takes as long as reading the traces does.
using ReplayOpener = std::function<Result<std::unique_ptr<Replay>>()>;

}  // namespace tutti::viewer
