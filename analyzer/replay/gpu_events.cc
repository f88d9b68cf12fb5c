#include "analyzer/replay/gpu_events.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/replay/call_sources.h"
#include "analyzer/replay/device_latency.h"

namespace tutti::analyzer {
namespace {

// What neither launch nor stream explain by this much waited for something else.
constexpr int64_t kUnexplainedNs = 10'000;
// A call that launches without waiting returns sooner than this.
constexpr int64_t kLongLaunchNs = 20'000;
// From the end of work to the host that waited for it, and from one stream to another.
constexpr int64_t kUsualSignalNs = 2'000;

using StreamKey = std::pair<int64_t, int64_t>;  // device, stream

struct Work {
  const DeviceEvent* event = nullptr;
  EventGraph::Id begin = 0;
  EventGraph::Id end = 0;
};

TimeKind KindOf(const DeviceEvent& event) {
  if (event.kind != DeviceEvent::Kind::kKernel) return TimeKind::kCopy;
  switch (event.role) {
    case KernelRole::kCompute:
      return TimeKind::kCompute;
    case KernelRole::kCommunication:
      return TimeKind::kUnsplit;
    case KernelRole::kPeerCopy:
      break;
  }
  return TimeKind::kCopy;
}

class GpuEvents {
 public:
  GpuEvents(const RankSource& source, RankLabels& labels, std::span<const ApiEvent> api_calls,
            std::span<const DeviceEvent> device_events)
      : source_(source), labels_(labels), api_calls_(api_calls) {
    latency_ = LatencyOf(device_events, api_calls);
  }

  void AddHost(std::span<const HostTrack> tracks) {
    for (const HostTrack& track : tracks) {
      items_.push_back(AddItems(track, labels_));
      for (const ItemEvents& item : items_.back()) {
        if (item.item.call >= 0) item_of_call_.emplace(item.item.call, &item);
      }
      LinkItems(items_.back(), {}, labels_);
    }
  }

  Status AddWork(std::span<const DeviceEvent> device_events, Interval range) {
    for (const DeviceEvent& event : device_events) {
      if (event.begin_ns < range.begin_ns || event.begin_ns >= range.end_ns) continue;
      const uint32_t step =
          event.launch < 0
              ? labels_.StepByWindow(event.begin_ns)
              : labels_.StepByHost(api_calls_[static_cast<size_t>(event.launch)].begin_ns);
      Work work{&event};
      work.begin = labels_.AddEvent(event.begin_ns, step);
      work.end = labels_.AddEvent(event.end_ns, step);
      work_.push_back(work);
    }
    for (size_t i = 0; i < work_.size(); ++i) {
      if (work_[i].event->launch >= 0) by_launch_.push_back(i);
    }
    std::stable_sort(by_launch_.begin(), by_launch_.end(), [this](size_t a, size_t b) {
      return work_[a].event->launch < work_[b].event->launch;
    });
    TUTTI_ASSIGN_OR_RETURN(collectives_, FindCollectives());
    return OkStatus();
  }

  // Before each piece of work: its launch, its stream, the data that it needs, else what ended
  // last on the GPU.
  void LinkWork() {
    const Needs needs = FindNeeds();
    std::map<StreamKey, const Work*> last_of_stream;
    for (size_t i = 0; i < work_.size(); ++i) {
      const Work& work = work_[i];
      const DeviceEvent& event = *work.event;
      int64_t explained_ns = std::numeric_limits<int64_t>::min();
      const auto link = [&](EventGraph::Id from, int64_t from_ns, int64_t usual_ns, TimeKind kind) {
        labels_.AddEdge(work.begin, from, usual_ns, kind);
        explained_ns = std::max(explained_ns, from_ns + usual_ns);
      };
      if (const ItemEvents* launch = LaunchOf(event)) {
        link(launch->begin, launch->item.time.begin_ns, latency_.launch_ns, TimeKind::kLaunch);
      }
      const Work*& last = last_of_stream[{event.device_id, event.stream_id}];
      if (last != nullptr && AreSideBySide(*last->event, event)) {
        link(last->begin, last->event->begin_ns, event.begin_ns - last->event->begin_ns,
             TimeKind::kIdle);
      } else if (last != nullptr) {
        link(last->end, last->event->end_ns, latency_.stream_ns, TimeKind::kIdle);
      }
      const auto [first, end] = needs.equal_range(i);
      for (auto need = first; need != end; ++need) {
        const Work& input = work_[need->second];
        const bool is_possible = IsReceive(*input.event) ? HasArrived(*input.event, event.begin_ns)
                                                         : EndsBefore(*input.event, event.begin_ns);
        if (!is_possible) continue;  // it did not wait for it
        link(input.end, input.event->end_ns, kUsualSignalNs, TimeKind::kIdle);
      }
      if (explained_ns < event.begin_ns - kUnexplainedNs) {
        if (const Work* before = LatestEnded(last_of_stream, event)) {
          link(before->end, before->event->end_ns, 0, TimeKind::kIdle);
        }
      }
      if (last == nullptr || event.end_ns >= last->event->end_ns) last = &work;
    }
  }

  // The host's own time, and what it waits for.
  Status LinkHost() {
    TUTTI_RETURN_IF_ERROR(ReadSyncs());
    LinkLongLaunches();
    std::vector<const ItemEvents*> blocked;
    for (const auto& track : items_) {
      for (const ItemEvents& item : track) {
        if (item.item.kind == HostItem::Kind::kBlocked && item.item.call >= 0) {
          blocked.push_back(&item);
        }
      }
    }
    std::sort(blocked.begin(), blocked.end(),
              [](const ItemEvents* a, const ItemEvents* b) { return a->item.call < b->item.call; });
    std::map<StreamKey, const Work*> launched;  // last work of each stream
    size_t next = 0;
    for (const ItemEvents* item : blocked) {
      for (; next < by_launch_.size(); ++next) {
        const Work& work = work_[by_launch_[next]];
        if (work.event->launch >= item->item.call) break;
        launched[{work.event->device_id, work.event->stream_id}] = &work;
      }
      LinkBlocked(*item, launched);
    }
    for (const auto& track : items_) {
      for (const ItemEvents& item : track) {
        const int64_t duration_ns = item.item.time.length_ns();
        const bool waits = item.item.call >= 0 && waiting_calls_.contains(item.item.call);
        LinkDuration(item, waits ? std::min(duration_ns, kUsualBlockNs) : duration_ns,
                     KindOf(item.item.kind), labels_);
      }
    }
    return OkStatus();
  }

  // How long work runs; that of collectives with known peers is left to the job.
  void LinkRuns(std::vector<CallEvents>& calls) {
    for (const Work& work : work_) {
      const DeviceEvent& event = *work.event;
      const auto found = collectives_.find(&event);
      const uint32_t name = event.kind == DeviceEvent::Kind::kKernel
                                ? labels_.Name(event.name_id)
                                : labels_.Intern(source_.trace.NameOf(event));
      if (found == collectives_.end()) {
        labels_.AddEdge(work.end, work.begin, event.end_ns - event.begin_ns, KindOf(event), name);
        continue;
      }
      for (const OwnCall& call : found->second) {
        calls.push_back(
            {call.collective_id, work.begin, work.end, labels_.place(), name, call.is_root});
      }
    }
  }

 private:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  struct OwnCall {
    int64_t collective_id = 0;
    bool is_root = false;
    bool is_receive = false;
  };
  using CallsOfWork = std::unordered_map<const DeviceEvent*, std::vector<OwnCall>>;

  const ItemEvents* LaunchOf(const DeviceEvent& event) const {
    const auto found = item_of_call_.find(event.launch);
    return found == item_of_call_.end() ? nullptr : found->second;
  }

  // Data that work needs, by places in work_: communication what was computed last before it
  // (ProcessGroupNCCL makes its stream wait for the current one), compute what was received
  // before it. "Before" is the order of launches, without these that of time.
  using Needs = std::multimap<size_t, size_t>;
  Needs FindNeeds() const {
    Needs needs;
    size_t computed = kNone;
    std::vector<size_t> received;
    const auto visit = [&](size_t place) {
      const DeviceEvent& event = *work_[place].event;
      if (event.role == KernelRole::kCommunication) {
        if (computed != kNone) needs.emplace(place, computed);
        if (IsReceive(event)) received.push_back(place);
      } else if (event.kind == DeviceEvent::Kind::kKernel) {
        std::erase_if(received, [&](size_t input) {
          const bool is_there = HasArrived(*work_[input].event, event.begin_ns);
          if (is_there) needs.emplace(place, input);
          return is_there;
        });
        computed = place;
      }
    };
    for (const size_t place : by_launch_) visit(place);
    computed = kNone;
    received.clear();
    for (size_t place = 0; place < work_.size(); ++place) {
      if (work_[place].event->launch < 0) visit(place);
    }
    return needs;
  }

  // Whether two on one stream run together (a launch of several, a stream made of several) and
  // not one after the other with stamps that are a little off.
  static bool AreSideBySide(const DeviceEvent& first, const DeviceEvent& second) {
    const int64_t together_ns = std::min(first.end_ns, second.end_ns) - second.begin_ns;
    const int64_t shorter_ns =
        std::min(first.end_ns - first.begin_ns, second.end_ns - second.begin_ns);
    return together_ns > kUnexplainedNs && 2 * together_ns > shorter_ns;
  }

  bool IsReceive(const DeviceEvent& event) const {
    const auto found = collectives_.find(&event);
    return found != collectives_.end() &&
           std::any_of(found->second.begin(), found->second.end(),
                       [](const OwnCall& c) { return c.is_receive; });
  }

  // Stamps of two streams may be off by a little.
  static bool EndsBefore(const DeviceEvent& event, int64_t time_ns) {
    const int64_t duration_ns = event.end_ns - event.begin_ns;
    return event.end_ns <= time_ns + std::min(kUnexplainedNs, duration_ns / 2);
  }

  // The same of what is received for the next compute, where no other order makes sense.
  static bool HasArrived(const DeviceEvent& receive, int64_t time_ns) {
    return (receive.begin_ns + receive.end_ns) / 2 <= time_ns;
  }

  static const Work* LatestEnded(const std::map<StreamKey, const Work*>& last_of_stream,
                                 const DeviceEvent& event) {
    const Work* latest = nullptr;
    for (const auto& [key, work] : last_of_stream) {
      if (work == nullptr || !EndsBefore(*work->event, event.begin_ns)) continue;
      if (latest == nullptr || work->event->end_ns > latest->event->end_ns) latest = work;
    }
    return latest;
  }

  // Streams that calls are recorded to wait for, by correlation id.
  Status ReadSyncs() {
    TUTTI_ASSIGN_OR_RETURN(const auto syncs, source_.trace.Syncs());
    for (const schema::SyncRow& sync : syncs) {
      if (!sync.correlation_id || sync.kind == "stream_wait_event") continue;
      if (sync.kind == "context") waits_for_all_.insert(*sync.correlation_id);
      if (sync.stream_id) stream_of_sync_.emplace(*sync.correlation_id, *sync.stream_id);
    }
    return OkStatus();
  }

  // A copy of pageable memory returns when it is done; so does what its call says is long.
  void LinkLongLaunches() {
    for (const Work& work : work_) {
      const ItemEvents* launch = LaunchOf(*work.event);
      if (launch == nullptr || launch->item.time.length_ns() < kLongLaunchNs) continue;
      if (work.event->end_ns > launch->item.time.end_ns) continue;
      if (work.event->begin_ns < launch->item.time.begin_ns) continue;  // clocks differ
      AddBlock(*launch, work);
    }
  }

  void AddBlock(const ItemEvents& item, const Work& work) {
    labels_.AddEdge(item.end, work.end, kUsualSignalNs, TimeKind::kSync, 0, true);
    if (work.event->end_ns > item.item.time.begin_ns) waiting_calls_.insert(item.item.call);
  }

  // Waits for the stream that is recorded, for all streams, or, where nothing says, for the
  // one that was done last before the call returned.
  void LinkBlocked(const ItemEvents& item, const std::map<StreamKey, const Work*>& launched) {
    const int64_t correlation = api_calls_[static_cast<size_t>(item.item.call)].correlation_id;
    const auto stream = stream_of_sync_.find(correlation);
    const bool all = waits_for_all_.contains(correlation);
    const Work* latest = nullptr;
    for (const auto& [key, work] : launched) {
      if (work->event->end_ns > item.item.time.end_ns) continue;
      if (all) AddBlock(item, *work);
      if (stream != stream_of_sync_.end() && key.second != stream->second) continue;
      if (latest == nullptr || work->event->end_ns > latest->event->end_ns) latest = work;
    }
    if (!all && latest != nullptr) AddBlock(item, *latest);
  }

  // The collectives that a kernel is: by the correlation of its launch, inside graphs by its
  // stream and begin. Several calls in one group are one kernel.
  Result<CallsOfWork> FindCollectives() const {
    TUTTI_ASSIGN_OR_RETURN(const CallSources sources, CallSources::Read(source_.trace));
    std::unordered_map<int64_t, std::vector<OwnCall>> by_correlation;
    std::map<std::tuple<int64_t, int64_t, int64_t>, std::vector<OwnCall>> by_place;
    for (const ReplayCall& call : source_.calls) {
      const CollectiveEvent* const event = sources.Find(call.source_id);
      if (event == nullptr || event->row.origin == "c10d") continue;
      const schema::CollectiveSourceRow& row = event->row;
      const OwnCall own{call.collective_id, sources.IsRoot(*event), event->op.starts_with("recv")};
      if (row.correlation_id.value_or(0) != 0) by_correlation[*row.correlation_id].push_back(own);
      if (row.device_id && row.stream_id) {
        by_place[{*row.device_id, *row.stream_id, call.time.begin_ns}].push_back(own);
      }
    }
    CallsOfWork of_work;
    for (const Work& work : work_) {
      const DeviceEvent& event = *work.event;
      if (event.role != KernelRole::kCommunication) continue;
      const auto placed = by_place.find({event.device_id, event.stream_id, event.begin_ns});
      const auto told = by_correlation.find(event.correlation_id);
      if (event.graph_node_id == 0 && told != by_correlation.end()) {
        of_work.emplace(&event, std::move(told->second));
        by_correlation.erase(told);  // one kernel of a call
      } else if (placed != by_place.end()) {
        of_work.emplace(&event, placed->second);
      }
    }
    return of_work;
  }

  const RankSource& source_;
  RankLabels& labels_;
  std::span<const ApiEvent> api_calls_;
  DeviceLatency latency_;
  std::vector<std::vector<ItemEvents>> items_;
  std::unordered_map<int64_t, const ItemEvents*> item_of_call_;
  CallsOfWork collectives_;
  std::vector<Work> work_;         // by begin
  std::vector<size_t> by_launch_;  // places in work_
  std::unordered_set<int64_t> waiting_calls_;
  std::unordered_set<int64_t> waits_for_all_;
  std::unordered_map<int64_t, int64_t> stream_of_sync_;
};

}  // namespace

Status AddGpuEvents(const RankSource& source, Interval range, std::span<const HostTrack> tracks,
                    RankLabels& labels, std::vector<CallEvents>& calls) {
  TUTTI_ASSIGN_OR_RETURN(const auto api_calls, source.trace.ApiCalls());
  TUTTI_ASSIGN_OR_RETURN(const auto device_events, source.trace.DeviceEvents());
  GpuEvents events(source, labels, api_calls, device_events);
  events.AddHost(tracks);
  TUTTI_RETURN_IF_ERROR(events.AddWork(device_events, range));
  events.LinkWork();
  TUTTI_RETURN_IF_ERROR(events.LinkHost());
  events.LinkRuns(calls);
  return OkStatus();
}

}  // namespace tutti::analyzer
