#include "analyzer/replay/replay.h"

#include <algorithm>

namespace tutti::analyzer {
namespace {

struct Unchanged {
  int64_t operator()(EventGraph::Id, const EventGraph::Edge& edge) const { return edge.weight_ns; }
};

}  // namespace

// Ends never go back: a step that has no event ends with the one before.
std::vector<int64_t> Replay::StepEnds(const std::vector<int64_t>& times) const {
  std::vector<int64_t> ends(graph_.steps.size(), graph_.begin_ns);
  for (EventGraph::Id id = 0; id < times.size(); ++id) {
    const uint32_t step = graph_.events.event(id).step;
    if (step != EventGraph::kNoStep) ends[step] = std::max(ends[step], times[id]);
  }
  for (size_t i = 1; i < ends.size(); ++i) ends[i] = std::max(ends[i], ends[i - 1]);
  return ends;
}

ReplayedSteps Replay::Periods(const std::vector<int64_t>& ends) const {
  ReplayedSteps steps;
  int64_t before_ns = graph_.begin_ns;
  int64_t total_ns = 0;
  int64_t count = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    steps.period_ns.push_back(ends[i] - before_ns);
    before_ns = ends[i];
    if (!graph_.step_counts[i]) continue;
    total_ns += steps.period_ns.back();
    ++count;
  }
  steps.step_ns = count == 0 ? 0 : total_ns / count;
  return steps;
}

ReplayedSteps Replay::Measured() const {
  std::vector<int64_t> ends;
  for (const schema::RunStepRow& step : graph_.steps) ends.push_back(step.end_ns);
  return Periods(ends);
}

ReplayedSteps Replay::Run(const Scenario& scenario) const {
  const ScenarioWeights weights(graph_.events, scenario, graph_.ranks, graph_.names.texts(),
                                excess_, graph_.gradients);
  return Periods(StepEnds(graph_.events.Times(weights)));
}

std::vector<int64_t> Replay::SlackNs() const {
  const std::vector<int64_t> times = graph_.events.Times(Unchanged());
  const std::vector<int64_t> ends = StepEnds(times);
  std::vector<int64_t> latest_ns(times.size());
  for (EventGraph::Id id = 0; id < times.size(); ++id) {
    const uint32_t step = graph_.events.event(id).step;
    // What belongs to no step delays no step by itself.
    latest_ns[id] = step != EventGraph::kNoStep
                        ? ends[step]
                        : std::max(times[id], ends.empty() ? 0 : ends.back());
  }
  return graph_.events.SlackNs(times, std::move(latest_ns), Unchanged());
}

std::vector<PathPiece> Replay::CriticalPath() const {
  const std::vector<int64_t> times = graph_.events.Times(Unchanged());
  const std::vector<int64_t> ends = StepEnds(times);
  if (times.empty()) return {};
  EventGraph::Id last = 0;
  for (EventGraph::Id id = 0; id < times.size(); ++id) {
    if (graph_.events.event(id).step != EventGraph::kNoStep && times[id] == ends.back()) last = id;
  }
  std::vector<EventGraph::Stretch> path = graph_.events.CriticalPath(last, times, Unchanged());
  // What comes before the first event that waits for nothing is not explained.
  const int64_t first_ns = path.empty() ? times[last] : path.back().begin_ns;
  const EventGraph::Id first = path.empty() ? last : path.back().edge.from;
  if (first_ns > graph_.begin_ns) path.push_back({graph_.begin_ns, first_ns, first, {}});
  std::reverse(path.begin(), path.end());
  std::vector<PathPiece> pieces;
  pieces.reserve(path.size() + ends.size());
  uint32_t step = 0;
  for (const EventGraph::Stretch& stretch : path) {
    int64_t begin_ns = std::max(stretch.begin_ns, graph_.begin_ns);
    while (begin_ns < stretch.end_ns) {
      while (step + 1 < ends.size() && ends[step] <= begin_ns) ++step;
      const int64_t end_ns =
          step + 1 < ends.size() ? std::min(stretch.end_ns, ends[step]) : stretch.end_ns;
      const uint32_t rank = graph_.events.event(stretch.event).rank;
      pieces.push_back({{step, rank, stretch.edge.kind, stretch.edge.name}, begin_ns, end_ns});
      begin_ns = end_ns;
    }
  }
  return pieces;
}

}  // namespace tutti::analyzer
