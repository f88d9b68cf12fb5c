// Which ranks work together in which kind of parallelism, and how full pipelines are: read from the
// analysis when it is asked for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/status.h"
#include "viewer/model/run_summary.h"

namespace tutti::viewer {

struct PipelineStage {
  int64_t stage = 0;
  int64_t step_ns = 0;    // of all steps
  int64_t bubble_ns = 0;  // of that, in which the stage has nothing to do
};

struct ParallelKind {
  std::string name;                          // 'pipeline', 'tensor', 'data', 'expert'
  std::vector<std::vector<int64_t>> groups;  // ranks of each, in order; no rank in two
};

struct Parallelism {
  std::vector<ParallelKind> kinds;          // that split the ranks into more than one group, or
                                            // are a pipeline
  std::map<int64_t, PipelineStage> stages;  // by rank
};

Result<Parallelism> ReadParallelism(const RunSummary& summary);

// Sets that have a rank in common become one; in order of their first ranks.
std::vector<std::vector<int64_t>> MergeGroups(std::vector<std::vector<int64_t>> groups);

}  // namespace tutti::viewer
