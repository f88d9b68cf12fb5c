// Host tracks as events of the graph: program order of their items.
// Used by one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyzer/input/step_index.h"
#include "analyzer/replay/host_items.h"
#include "analyzer/replay/rank_events.h"

namespace tutti::analyzer {

// What the events of one rank have in common.
class RankLabels {
 public:
  RankLabels(const RankSource& source, JobGraph& job);

  EventGraph::Id AddEvent(int64_t time_ns, uint32_t step) {
    return job_.events.AddEvent(time_ns, place_, step);
  }
  void AddEdge(EventGraph::Id to, EventGraph::Id from, int64_t usual_ns, TimeKind kind,
               uint32_t name = 0, bool is_block = false) {
    job_.events.AddEdge(to, {usual_ns, from, name, kind, is_block});
  }
  // Place of the step that the host is in, or whose window holds the moment.
  uint32_t StepByHost(int64_t time_ns) const { return Place(steps_.ByHost(time_ns)); }
  uint32_t StepByWindow(int64_t time_ns) const { return Place(steps_.ByWindow(time_ns)); }
  uint32_t StepPlace(int64_t step) const { return Place(step); }
  // Number of a text of the trace, or of another one.
  uint32_t Name(int64_t name_id);
  uint32_t Intern(std::string_view text) { return job_.names.Intern(text); }
  uint32_t place() const { return place_; }

 private:
  uint32_t Place(std::optional<int64_t> step) const;

  JobGraph& job_;
  const RankTrace& trace_;
  uint32_t place_;
  StepIndex steps_;
  std::unordered_map<int64_t, uint32_t> names_;
};

struct ItemEvents {
  HostItem item;
  EventGraph::Id begin = 0;
  EventGraph::Id end = 0;  // = begin without time
};

// Events of a track, not linked yet.
std::vector<ItemEvents> AddItems(const HostTrack& track, RankLabels& labels);

// Program order: each item begins after what came before it; where two overlap (threads that
// take no turns), so much after the other's begin. `own_gap_ns[i]`, if there are any, is what
// the thread itself needs before item i, where the rest was a wait.
void LinkItems(const std::vector<ItemEvents>& items, const std::vector<int64_t>& own_gap_ns,
               RankLabels& labels);

// What an item's own time is spent on.
TimeKind KindOf(HostItem::Kind kind);

// An item's own time. `usual_ns`: how long it takes when it does not have to wait.
void LinkDuration(const ItemEvents& item, int64_t usual_ns, TimeKind kind, RankLabels& labels);

// A call that blocks takes so long if there is nothing to wait for.
inline constexpr int64_t kUsualBlockNs = 5'000;

}  // namespace tutti::analyzer
