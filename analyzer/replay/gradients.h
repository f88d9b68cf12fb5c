// The all-reduces of gradients in a job's graph: what another bucket size would change.
// Immutable once read; callable from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/metrics/rebucket.h"
#include "analyzer/replay/event_graph.h"

namespace tutti::analyzer {

struct GradientBucket {
  int64_t bytes = 0;
  std::vector<std::pair<EventGraph::Id, EventGraph::Id>> calls;  // (begin, end) on each rank
};

struct GradientStep {
  int64_t first_ns = 0;  // the last rank's first gradient
  std::vector<GradientBucket> buckets;
};

// Of the communicator over which most gradients go; no steps: none is known.
struct Gradients {
  TransferCost cost;
  int64_t parameters = 0;  // of the model, 0 unknown
  std::vector<GradientStep> steps;
};

// By end of a call: what its transfer would take with buckets of so many MiB (bucket_cap_mb).
// `graph` is finished.
std::unordered_map<EventGraph::Id, int64_t> TransfersInBuckets(const EventGraph& graph,
                                                               const Gradients& gradients,
                                                               double bucket_mib);

}  // namespace tutti::analyzer
