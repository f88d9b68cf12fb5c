// The events of a job (something begins, something ends) and what each of them waits for:
// the max-plus graph that a replay evaluates.
//
//   time(event) = max over edges into it of time(edge.from) + edge.weight
//
//   launch   B[==)E                    B -> E weight: the call's duration
//             \                        B -> kernel's begin: latency of a launch
//   stream    [kernel 1)[kernel 2)     kernel 1's end -> kernel 2's begin: gap of a stream
//
// Each edge is added with the weight that it usually has. Of the edges into an event the one
// that explains its measured time best is taken for what it waited for, and gets the weight
// that gives exactly this time; the others get no more than leaves it as it was. So the
// unchanged graph gives back every measured time, to the nanosecond.
// Times in aligned ns. Built by one thread; const functions are callable from any.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::analyzer {

// What the time along an edge is spent on.
enum class TimeKind : uint8_t {
  kCompute,   // an operator or kernel runs
  kTransfer,  // a collective moves data: all have arrived
  kUnsplit,   // a collective waits or moves data: the peers are not known
  kCopy,      // a copy or fill runs
  kInput,     // the host waits for a batch
  kSync,      // the host is in a synchronisation, after what it waits for is done
  kHost,      // the host does something else
  kLaunch,    // the host launches, or work waits for its launch to reach the device
  kIdle,      // nothing explains it
};
inline constexpr size_t kTimeKinds = 9;
// As parts of steps are named, e.g. "exposed_comm_transfer".
std::string_view NameOf(TimeKind kind);

class EventGraph {
 public:
  using Id = uint32_t;
  static constexpr uint32_t kNoStep = std::numeric_limits<uint32_t>::max();

  struct Event {
    int64_t measured_ns = 0;
    uint32_t rank = 0;        // place among the ranks
    uint32_t step = kNoStep;  // place among the steps
  };
  struct Edge {
    int64_t weight_ns = 0;
    Id from = 0;
    uint32_t name = 0;  // of what runs meanwhile, 0 nothing
    TimeKind kind = TimeKind::kIdle;
    bool is_block = false;  // the host waits for the device here
    Id to = 0;              // set by AddEdge
  };

  Id AddEvent(int64_t measured_ns, uint32_t rank, uint32_t step);
  // At most 2^32 - 1 edges.
  void AddEdge(Id to, const Edge& usual);
  // The event's own edges keep their usual weights, though they then give an earlier time
  // than measured: it stood waiting for a peer.
  void Float(Id event);
  // How much later the event was measured than its edges so far explain, at least 0; its
  // whole time if it has none.
  std::vector<int64_t> UnexplainedNs() const;
  // No more is added. Edges that close a circle (clocks that contradict each other) are
  // dropped and counted.
  void Finish();

  size_t size() const { return events_.size(); }
  const Event& event(Id id) const { return events_[id]; }
  std::span<const Edge> EdgesInto(Id id) const {
    return std::span(edges_).subspan(first_edge_[id], first_edge_[id + 1] - first_edge_[id]);
  }
  int64_t edges_dropped() const { return edges_dropped_; }

  // `weigh(event, edge)` gives an edge's weight, kNever to leave it out. An event without
  // edges happens when it was measured. O(events + edges).
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::min();
  template <typename Weigh>
  std::vector<int64_t> Times(const Weigh& weigh) const;

  // How much later each event could happen without any event being later than its `latest_ns`;
  // `times` as from Times. Negative where an event is later than that by itself.
  template <typename Weigh>
  std::vector<int64_t> SlackNs(std::span<const int64_t> times, std::vector<int64_t> latest_ns,
                               const Weigh& weigh) const;

  // A stretch of the critical path: [begin, end) was spent along `edge` into `event`.
  struct Stretch {
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
    Id event = 0;
    Edge edge;
  };
  // What the event at `last` waited for, back to an event without edges; latest first.
  // Stretches don't overlap and fill the time between both.
  template <typename Weigh>
  std::vector<Stretch> CriticalPath(Id last, std::span<const int64_t> times,
                                    const Weigh& weigh) const;

 private:
  void SortEdges();
  void ApplyOrder(std::vector<uint32_t> place_of);
  void SetWeights();
  void SetOrder();

  std::vector<Event> events_;
  std::vector<bool> floats_;
  std::vector<Edge> edges_;  // until Finish as they were added, then by event
  std::vector<uint32_t> first_edge_;
  std::vector<Id> order_;  // what an event waits for comes before it
  int64_t edges_dropped_ = 0;
};

template <typename Weigh>
std::vector<int64_t> EventGraph::Times(const Weigh& weigh) const {
  std::vector<int64_t> times(size());
  for (const Id id : order_) {
    int64_t latest = kNever;
    for (const Edge& edge : EdgesInto(id)) {
      const int64_t weight_ns = weigh(id, edge);
      if (weight_ns == kNever) continue;
      const int64_t time_ns = times[edge.from] + weight_ns;
      if (time_ns > latest) latest = time_ns;
    }
    times[id] = latest == kNever ? events_[id].measured_ns : latest;
  }
  return times;
}

template <typename Weigh>
std::vector<int64_t> EventGraph::SlackNs(std::span<const int64_t> times,
                                         std::vector<int64_t> latest_ns, const Weigh& weigh) const {
  for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
    for (const Edge& edge : EdgesInto(*id)) {
      const int64_t weight_ns = weigh(*id, edge);
      if (weight_ns == kNever) continue;
      latest_ns[edge.from] = std::min(latest_ns[edge.from], latest_ns[*id] - weight_ns);
    }
  }
  for (size_t i = 0; i < latest_ns.size(); ++i) latest_ns[i] -= times[i];
  return latest_ns;
}

template <typename Weigh>
std::vector<EventGraph::Stretch> EventGraph::CriticalPath(Id last, std::span<const int64_t> times,
                                                          const Weigh& weigh) const {
  std::vector<Stretch> path;
  int64_t now = times[last];
  for (Id id = last;;) {
    const Edge* binding = nullptr;
    for (const Edge& edge : EdgesInto(id)) {
      const int64_t weight_ns = weigh(id, edge);
      if (weight_ns == kNever || times[edge.from] + weight_ns != times[id]) continue;
      // Of several that bind the one that began last did not have to wait before.
      if (binding == nullptr || times[edge.from] > times[binding->from]) binding = &edge;
    }
    if (binding == nullptr) return path;
    const int64_t begin_ns = times[binding->from];
    if (begin_ns < now) {
      path.push_back({begin_ns, now, id, *binding});
      now = begin_ns;
    }
    id = binding->from;
  }
}

}  // namespace tutti::analyzer
