#include "analyzer/replay/event_graph.h"

#include <algorithm>

namespace tutti::analyzer {

std::string_view NameOf(TimeKind kind) {
  constexpr std::array<std::string_view, kTimeKinds> kNames = {"compute",
                                                               "exposed_comm_transfer",
                                                               "exposed_comm_unsplit",
                                                               "exposed_copy",
                                                               "input_wait",
                                                               "sync",
                                                               "host_bound",
                                                               "launch",
                                                               "idle"};
  return kNames[static_cast<size_t>(kind)];
}

EventGraph::Id EventGraph::AddEvent(int64_t measured_ns, uint32_t rank, uint32_t step) {
  events_.push_back({measured_ns, rank, step});
  floats_.push_back(false);
  return static_cast<Id>(events_.size() - 1);
}

void EventGraph::AddEdge(Id to, const Edge& usual) {
  edges_.push_back(usual);
  edges_.back().to = to;
}

void EventGraph::Float(Id event) { floats_[event] = true; }

std::vector<int64_t> EventGraph::UnexplainedNs() const {
  std::vector<int64_t> unexplained(events_.size(), std::numeric_limits<int64_t>::max());
  for (const Edge& edge : edges_) {
    const int64_t late_ns =
        events_[edge.to].measured_ns - events_[edge.from].measured_ns - edge.weight_ns;
    unexplained[edge.to] = std::min(unexplained[edge.to], std::max<int64_t>(late_ns, 0));
  }
  return unexplained;
}

void EventGraph::Finish() {
  SortEdges();
  SetWeights();
  SetOrder();
}

// By counting: edges of an event keep their order.
void EventGraph::SortEdges() {
  first_edge_.assign(events_.size() + 1, 0);
  for (const Edge& edge : edges_) ++first_edge_[edge.to + 1];
  for (size_t i = 1; i < first_edge_.size(); ++i) first_edge_[i] += first_edge_[i - 1];
  std::vector<uint32_t> next(first_edge_.begin(), first_edge_.end() - 1);
  std::vector<uint32_t> place_of(edges_.size());
  for (size_t i = 0; i < edges_.size(); ++i) place_of[i] = next[edges_[i].to]++;
  ApplyOrder(std::move(place_of));
}

// Where they are, circle by circle: the edges of a large job are most of its memory.
void EventGraph::ApplyOrder(std::vector<uint32_t> place_of) {
  for (uint32_t i = 0; i < edges_.size(); ++i) {
    while (place_of[i] != i) {
      const uint32_t place = place_of[i];
      std::swap(edges_[i], edges_[place]);
      std::swap(place_of[i], place_of[place]);
    }
  }
}

void EventGraph::SetWeights() {
  for (Id id = 0; id < events_.size(); ++id) {
    if (floats_[id]) continue;
    const int64_t measured_ns = events_[id].measured_ns;
    Edge* binding = nullptr;
    int64_t best = kNever;
    for (size_t i = first_edge_[id]; i < first_edge_[id + 1]; ++i) {
      Edge& edge = edges_[i];
      const int64_t from_ns = events_[edge.from].measured_ns;
      if (from_ns + edge.weight_ns > best) {
        best = from_ns + edge.weight_ns;
        binding = &edge;
      }
      edge.weight_ns = std::min(edge.weight_ns, measured_ns - from_ns);
    }
    if (binding != nullptr) binding->weight_ns = measured_ns - events_[binding->from].measured_ns;
  }
}

// Depth first along the edges, on a stack of its own: paths are as long as the trace.
void EventGraph::SetOrder() {
  enum class State : uint8_t { kNew, kOpen, kDone };
  std::vector<State> state(events_.size(), State::kNew);
  std::vector<uint32_t> next_edge(first_edge_.begin(), first_edge_.end() - 1);
  std::vector<uint32_t> end_edge(first_edge_.begin() + 1, first_edge_.end());
  std::vector<Id> stack;
  order_.reserve(events_.size());
  for (Id root = 0; root < events_.size(); ++root) {
    if (state[root] == State::kNew) stack.push_back(root);
    while (!stack.empty()) {
      const Id id = stack.back();
      state[id] = State::kOpen;
      if (next_edge[id] == end_edge[id]) {
        state[id] = State::kDone;
        order_.push_back(id);
        stack.pop_back();
        continue;
      }
      Edge& edge = edges_[next_edge[id]];
      if (state[edge.from] == State::kOpen) {  // an event would wait for itself
        std::swap(edge, edges_[--end_edge[id]]);
        ++edges_dropped_;
        continue;
      }
      ++next_edge[id];
      if (state[edge.from] == State::kNew) stack.push_back(edge.from);
    }
  }
  if (edges_dropped_ == 0) return;
  std::vector<Edge> kept;
  std::vector<uint32_t> first = {0};
  for (Id id = 0; id < events_.size(); ++id) {
    for (size_t i = first_edge_[id]; i < end_edge[id]; ++i) kept.push_back(edges_[i]);
    first.push_back(static_cast<uint32_t>(kept.size()));
  }
  edges_ = std::move(kept);
  first_edge_ = std::move(first);
}

}  // namespace tutti::analyzer
