#include "analyzer/input/activity.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analyzer/metrics/device_gaps.h"
#include "analyzer/metrics/names.h"

namespace tutti::analyzer {
namespace {

IntervalSet SortedUnion(std::vector<Interval> intervals) {
  SortByBegin(intervals);
  return Union(intervals);
}

// tids of the lanes with one of two roles.
std::set<int64_t> ThreadsWithRole(std::span<const schema::LaneRow> lanes, std::string_view role,
                                  std::string_view or_role) {
  std::set<int64_t> tids;
  for (const schema::LaneRow& lane : lanes) {
    if (lane.kind == "thread" && (lane.role == role || lane.role == or_role)) tids.insert(lane.id);
  }
  return tids;
}

// Waits for data of training threads, by thread.
Result<std::map<int64_t, IntervalSet>> DataWaits(RankTrace& trace,
                                                 const std::set<int64_t>& training) {
  TUTTI_ASSIGN_OR_RETURN(const auto rows, trace.DataWaits());
  std::map<int64_t, std::vector<Interval>> by_thread;
  for (const schema::DataWaitRow& row : rows) {
    if (!training.contains(row.tid)) continue;
    const int64_t end_ns = row.end_ns.value_or(std::max(row.begin_ns, trace.end_ns()));
    by_thread[row.tid].push_back({row.begin_ns, end_ns});
  }
  std::map<int64_t, IntervalSet> waits;
  for (auto& [tid, intervals] : by_thread) waits[tid] = SortedUnion(std::move(intervals));
  return waits;
}

IntervalSet Everything(const std::map<int64_t, IntervalSet>& by_thread) {
  std::vector<std::span<const Interval>> runs;
  for (const auto& [tid, set] : by_thread) runs.emplace_back(set);
  return UnionOfRuns(runs);
}

// Compute and blocking operators of the compute lanes of a CPU rank.
Status ReadOperators(RankTrace& trace, const std::set<int64_t>& lanes,
                     const std::map<int64_t, IntervalSet>& data_waits, ActivitySets& sets) {
  TUTTI_ASSIGN_OR_RETURN(const auto ops, trace.Ops());
  std::unordered_map<int64_t, OpRole> roles;  // by name and scope
  for (auto op = ops.begin(); op != ops.end();) {
    const int64_t tid = op->tid;
    const bool is_lane = lanes.contains(tid);
    std::vector<Interval> compute;  // sorted: operators of a thread come by begin
    std::vector<Interval> blocking;
    std::vector<Interval> hand_over;
    for (; op != ops.end() && op->tid == tid; ++op) {
      if (!is_lane) continue;
      const auto [known, is_new] = roles.emplace(op->name_id * 256 + op->scope, OpRole::kRange);
      if (is_new) known->second = RoleOfOp(trace.Text(op->name_id), op->scope);
      if (known->second == OpRole::kCompute) compute.push_back({op->begin_ns, op->end_ns});
      if (known->second == OpRole::kBlocking) blocking.push_back({op->begin_ns, op->end_ns});
      if (known->second == OpRole::kHandOver) hand_over.push_back({op->begin_ns, op->end_ns});
    }
    const IntervalSet blocked = Union(blocking);
    IntervalSet not_compute = Merge(blocked, Union(hand_over));
    const auto waits = data_waits.find(tid);
    if (waits != data_waits.end()) not_compute = Merge(not_compute, waits->second);
    sets.compute = Merge(sets.compute, Subtract(Union(compute), not_compute));
    sets.sync = Merge(sets.sync, blocked);
  }
  return OkStatus();
}

// Where events were lost a gap says nothing about the host.
Result<IntervalSet> LostTime(RankTrace& trace) {
  TUTTI_ASSIGN_OR_RETURN(const auto stats, trace.Stats());
  std::vector<Interval> lost;
  for (const schema::TraceStatRow& stat : stats) {
    if (stat.severity != "data_loss" || !stat.begin_ns || !stat.end_ns) continue;
    lost.push_back({*stat.begin_ns, *stat.end_ns});
  }
  return SortedUnion(std::move(lost));
}

// Intervals of each stream in order of their begins: runs whose union is quick.
class StreamRuns {
 public:
  void Add(const DeviceEvent& event) {
    runs_[{event.device_id, event.stream_id}].push_back(event.time());
  }
  IntervalSet Union() const {
    std::vector<std::span<const Interval>> runs;
    for (const auto& [stream, run] : runs_) runs.emplace_back(run);
    return UnionOfRuns(runs);
  }

 private:
  std::map<std::pair<int64_t, int64_t>, std::vector<Interval>> runs_;
};

struct DeviceSets {
  IntervalSet compute;
  IntervalSet communication;
  IntervalSet copy;
  GapCauses gaps;
};

Result<DeviceSets> ReadDevice(RankTrace& trace, Interval capture) {
  TUTTI_ASSIGN_OR_RETURN(const auto api_calls, trace.ApiCalls());
  TUTTI_ASSIGN_OR_RETURN(const auto events, trace.DeviceEvents());
  StreamRuns compute;
  StreamRuns communication;
  StreamRuns copy;
  std::vector<DeviceWork> work;
  work.reserve(events.size());
  for (const DeviceEvent& event : events) {
    StreamRuns& kind = event.role == KernelRole::kCompute         ? compute
                       : event.role == KernelRole::kCommunication ? communication
                                                                  : copy;
    kind.Add(event);
    DeviceWork& piece = work.emplace_back(DeviceWork{event.time(), {}});
    if (event.launch >= 0) {
      piece.launched_ns = api_calls[static_cast<size_t>(event.launch)].end_ns;
    }
  }
  return DeviceSets{compute.Union(), communication.Union(), copy.Union(),
                    CausesOf(DeviceGaps(work, capture))};
}

// Threads whose waiting holds the device up: those that train and those that launch.
Result<std::set<int64_t>> LaunchingThreads(RankTrace& trace, std::set<int64_t> training) {
  TUTTI_ASSIGN_OR_RETURN(const auto api_calls, trace.ApiCalls());
  TUTTI_ASSIGN_OR_RETURN(const auto events, trace.DeviceEvents());
  for (const DeviceEvent& event : events) {
    if (event.launch >= 0) training.insert(api_calls[static_cast<size_t>(event.launch)].tid);
  }
  return training;
}

// Time in operators that read a value of the device, of traces without any call.
Status AddDeviceReads(RankTrace& trace, const std::set<int64_t>& threads,
                      std::vector<Interval>& blocked) {
  TUTTI_ASSIGN_OR_RETURN(const auto ops, trace.Ops());
  std::unordered_map<int64_t, bool> reads;
  for (const OpEvent& op : ops) {
    if (!threads.contains(op.tid)) continue;
    const auto [known, is_new] = reads.emplace(op.name_id, false);
    if (is_new) known->second = ReadsFromDevice(trace.Text(op.name_id));
    if (known->second) blocked.push_back({op.begin_ns, op.end_ns});
  }
  return OkStatus();
}

Result<IntervalSet> HostSyncs(RankTrace& trace, const std::set<int64_t>& training) {
  std::vector<Interval> blocked;
  TUTTI_ASSIGN_OR_RETURN(const auto api_calls, trace.ApiCalls());
  TUTTI_ASSIGN_OR_RETURN(const std::set<int64_t> threads, LaunchingThreads(trace, training));
  std::unordered_map<int64_t, bool> is_blocking;
  std::unordered_set<int64_t> correlations;
  for (const ApiEvent& call : api_calls) {
    correlations.insert(call.correlation_id);
    if (!threads.contains(call.tid)) continue;
    const auto [known, is_new] = is_blocking.emplace(call.name_id, false);
    if (is_new) known->second = IsBlockingCall(trace.Text(call.name_id));
    if (known->second) blocked.push_back({call.begin_ns, call.end_ns});
  }
  TUTTI_ASSIGN_OR_RETURN(const auto syncs, trace.Syncs());
  for (const schema::SyncRow& sync : syncs) {
    // A stream that waits for an event does not block the host; a call that is recorded says
    // itself when and on which thread.
    if (sync.kind == "stream_wait_event" || !sync.begin_ns || !sync.end_ns) continue;
    if (sync.correlation_id && correlations.contains(*sync.correlation_id)) continue;
    blocked.push_back({*sync.begin_ns, *sync.end_ns});
  }
  if (api_calls.empty()) TUTTI_RETURN_IF_ERROR(AddDeviceReads(trace, threads, blocked));
  return SortedUnion(std::move(blocked));
}

Result<IntervalSet> ReadGpu(RankTrace& trace, Interval capture, const std::set<int64_t>& training,
                            RankActivity& activity) {
  TUTTI_ASSIGN_OR_RETURN(DeviceSets device, ReadDevice(trace, capture));
  activity.sets.compute = std::move(device.compute);
  activity.sets.copy = std::move(device.copy);
  activity.sets.unexplained = Merge(device.gaps.launched, device.gaps.unknown);
  TUTTI_ASSIGN_OR_RETURN(activity.sets.sync, HostSyncs(trace, training));
  return std::move(device.communication);
}

// Calls that ran on the device. What c10d says of a call is when the host made it.
Result<std::vector<MatchedCall>> CallsOfDevice(RankTrace& trace,
                                               std::span<const MatchedCall> calls) {
  TUTTI_ASSIGN_OR_RETURN(const auto sources, trace.Collectives());
  std::unordered_set<int64_t> of_host;
  for (const CollectiveEvent& source : sources) {
    if (source.row.origin == "c10d") of_host.insert(source.row.id);
  }
  std::vector<MatchedCall> of_device;
  for (const MatchedCall& call : calls) {
    if (!of_host.contains(call.source_id)) of_device.push_back(call);
  }
  return of_device;
}

// Splits the matched calls; communication that is known by kernel names only stays unsplit.
void SetCommunication(std::span<const MatchedCall> calls, const IntervalSet& named,
                      RankActivity& activity) {
  std::vector<Interval> all;
  std::vector<Interval> wait;
  std::vector<Interval> transfer;
  std::vector<Interval> unsplit = named;
  for (const MatchedCall& call : calls) {
    all.push_back(call.interval);
    if (!call.ready_ns) {
      unsplit.push_back(call.interval);
      continue;
    }
    const int64_t split_ns =
        std::clamp(*call.ready_ns, call.interval.begin_ns, call.interval.end_ns);
    wait.push_back({call.interval.begin_ns, split_ns});
    transfer.push_back({split_ns, call.interval.end_ns});
    if (call.late_rank && split_ns > call.interval.begin_ns) {
      activity.waits.push_back({static_cast<int>(*call.late_rank), wait.back()});
    }
  }
  activity.comm = Merge(SortedUnion(std::move(all)), named);
  activity.sets.comm_wait = SortedUnion(std::move(wait));
  activity.sets.comm_transfer = SortedUnion(std::move(transfer));
  activity.sets.comm_unsplit = SortedUnion(std::move(unsplit));
}

}  // namespace

Result<RankActivity> ReadActivity(const schema::RankRow& rank, RankTrace& trace,
                                  std::span<const schema::LaneRow> lanes,
                                  std::span<const MatchedCall> calls) {
  RankActivity activity;
  const std::set<int64_t> training = ThreadsWithRole(lanes, "compute", "host");
  TUTTI_ASSIGN_OR_RETURN(const auto data_waits, DataWaits(trace, training));
  activity.sets.input_wait = Everything(data_waits);
  if (rank.device_kind == "gpu") {
    TUTTI_ASSIGN_OR_RETURN(const IntervalSet communication,
                           ReadGpu(trace, {rank.begin_ns, rank.end_ns}, training, activity));
    TUTTI_ASSIGN_OR_RETURN(const auto of_device, CallsOfDevice(trace, calls));
    SetCommunication(of_device, communication, activity);
  } else {
    TUTTI_RETURN_IF_ERROR(ReadOperators(trace, training, data_waits, activity.sets));
    TUTTI_ASSIGN_OR_RETURN(activity.sets.unexplained, LostTime(trace));
    // Where no operator was recorded, a gap between operators says nothing.
    TUTTI_ASSIGN_OR_RETURN(const auto ops, trace.Ops());
    if (ops.empty()) activity.sets.unexplained = IntervalSet{{rank.begin_ns, rank.end_ns}};
    SetCommunication(calls, {}, activity);
  }
  return activity;
}

}  // namespace tutti::analyzer
