// The timelines of ByteDance's straggler study (StragglerAnalysis, data/timeline-*.json):
// Chrome events of all workers in one list. A process is a data-parallel rank; its threads
// are called "PP rank 1, TP rank 0, pp-comm". Times are microseconds since the first step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/importers/pickle/value.h"

namespace tutti::collector::importers::straggler_study {

// A GPU: its place in the three kinds of parallelism.
struct Worker {
  int64_t dp = 0;
  int64_t pp = 0;
  int64_t tp = 0;
  friend auto operator<=>(const Worker&, const Worker&) = default;
};

struct Span {
  size_t worker = 0;        // place in Timeline::workers
  std::string_view stream;  // "compute", "pp-comm", "tp-comm", "dp-comm", "misc"
  std::string_view name;    // "forward-compute", "grads-reduce-scatter", …
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t step = 0;
  std::optional<int64_t> microbatch;
  std::optional<int64_t> model_chunk;
};

// Views live as long as the document.
struct Timeline {
  std::vector<Worker> workers;  // by pipeline stage, then data-parallel rank: Megatron's order
  std::vector<Span> spans;      // by worker, then begin
  int64_t unreadable = 0;       // events without name, time, step or a known thread
};

// By its first bytes: the arguments that only these timelines have.
bool IsTimelineHead(std::string_view head);

// `root`: the list of events. Never fails.
Timeline ParseTimeline(pickle::Value root);

}  // namespace tutti::collector::importers::straggler_study
