// How long the steps of a job would take if something were different.
//
//   TUTTI_ASSIGN_OR_RETURN(JobGraph graph, BuildJobGraph(context, {kMostReplayedRows}));
//   const Replay replay(graph);
//   TUTTI_ASSIGN_OR_RETURN(const Scenario scenario, Scenario::Parse({"no-stragglers"}));
//   replay.Run(scenario).step_ns;
//
// Const functions are callable from any thread. Each costs O(graph).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/replay/excess_work.h"
#include "analyzer/replay/job_graph.h"
#include "analyzer/replay/scenario.h"

namespace tutti::analyzer {

struct ReplayedSteps {
  // By place of the step: its last event minus that of the step before, over all ranks.
  std::vector<int64_t> period_ns;
  int64_t step_ns = 0;  // mean of those that count
};

// Time of the critical path by what it was spent on.
struct PathShare {
  uint32_t step = 0;  // place
  uint32_t rank = 0;  // place
  TimeKind kind = TimeKind::kIdle;
  uint32_t name = 0;
  auto operator<=>(const PathShare&) const = default;
};
struct PathPiece {
  PathShare share;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

class Replay {
 public:
  // `graph` outlives it.
  explicit Replay(const JobGraph& graph)
      : graph_(graph), excess_(graph.events, graph.ranks.size(), graph.steps.size()) {}

  // As recorded, by the windows of the steps.
  ReplayedSteps Measured() const;
  ReplayedSteps Run(const Scenario& scenario) const;
  // The critical path of the run as it was, cut at the ends of steps, earliest first: pieces
  // don't overlap; those of a step add up to its period.
  std::vector<PathPiece> CriticalPath() const;
  // By event: how much later it could have happened without its step, or a later one, being over
  // later; 0 on the critical path.
  std::vector<int64_t> SlackNs() const;

 private:
  std::vector<int64_t> StepEnds(const std::vector<int64_t>& times) const;
  ReplayedSteps Periods(const std::vector<int64_t>& ends) const;

  const JobGraph& graph_;
  const ExcessWork excess_;
};

// Raw rows whose steps a replay takes at most, roughly.
inline constexpr int64_t kMostReplayedRows = 4'000'000;  // asked for by a user
inline constexpr int64_t kMostRowsOfAnalysis = 500'000;  // in each analysis

}  // namespace tutti::analyzer
