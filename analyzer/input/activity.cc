#include "analyzer/input/activity.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyzer/metrics/names.h"

namespace tutti::analyzer {
namespace {

// CUDA calls that block the host until the device has done something.
constexpr std::array<std::string_view, 9> kBlockingCalls = {"cudaDeviceSynchronize",
                                                            "cudaStreamSynchronize",
                                                            "cudaEventSynchronize",
                                                            "cudaMalloc",
                                                            "cudaFree",
                                                            "cudaHostAlloc",
                                                            "cudaMallocHost",
                                                            "cuCtxSynchronize",
                                                            "cuStreamSynchronize"};

bool IsBlockingCall(std::string_view name) {
  // Names may carry a version suffix: cudaMalloc_v3020.
  const std::string_view base = name.substr(0, name.find("_v"));
  return std::find(kBlockingCalls.begin(), kBlockingCalls.end(), base) != kBlockingCalls.end();
}

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
  IntervalSet all;
  for (const auto& [tid, set] : by_thread) all = Merge(all, set);
  return all;
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

struct DeviceSets {
  std::vector<Interval> compute;
  std::vector<Interval> communication;
  std::vector<Interval> copy;
  std::vector<Interval> pending;  // launched, not begun
  bool any_launch = false;
};

Result<DeviceSets> ReadDevice(RankTrace& trace) {
  TUTTI_ASSIGN_OR_RETURN(const auto api_calls, trace.ApiCalls());
  std::unordered_map<int64_t, int64_t> launched_ns;  // end of the call, by correlation id
  for (const ApiEvent& call : api_calls) launched_ns.emplace(call.correlation_id, call.end_ns);
  TUTTI_ASSIGN_OR_RETURN(const auto events, trace.DeviceEvents());
  std::unordered_map<int64_t, KernelRole> roles;
  DeviceSets sets;
  for (const DeviceEvent& event : events) {
    KernelRole role = KernelRole::kPeerCopy;
    if (event.kind == DeviceEvent::Kind::kKernel) {
      const auto [known, is_new] = roles.emplace(event.name_id, role);
      if (is_new) known->second = RoleOfKernel(trace.Text(event.name_id));
      role = known->second;
    }
    std::vector<Interval>& kind = role == KernelRole::kCompute         ? sets.compute
                                  : role == KernelRole::kCommunication ? sets.communication
                                                                       : sets.copy;
    kind.push_back({event.begin_ns, event.end_ns});
    if (!event.correlation_id) continue;
    const auto launch = launched_ns.find(*event.correlation_id);
    if (launch == launched_ns.end()) continue;
    sets.any_launch = true;
    if (launch->second < event.begin_ns) sets.pending.push_back({launch->second, event.begin_ns});
  }
  return sets;
}

Result<IntervalSet> HostSyncs(RankTrace& trace) {
  std::vector<Interval> blocked;
  TUTTI_ASSIGN_OR_RETURN(const auto syncs, trace.Syncs());
  for (const schema::SyncRow& sync : syncs) {
    // A stream that waits for an event does not block the host.
    if (sync.kind == "stream_wait_event" || !sync.begin_ns || !sync.end_ns) continue;
    blocked.push_back({*sync.begin_ns, *sync.end_ns});
  }
  TUTTI_ASSIGN_OR_RETURN(const auto api_calls, trace.ApiCalls());
  std::unordered_map<int64_t, bool> is_blocking;
  for (const ApiEvent& call : api_calls) {
    const auto [known, is_new] = is_blocking.emplace(call.name_id, false);
    if (is_new) known->second = IsBlockingCall(trace.Text(call.name_id));
    if (known->second) blocked.push_back({call.begin_ns, call.end_ns});
  }
  return SortedUnion(std::move(blocked));
}

Status ReadGpu(RankTrace& trace, Interval capture, RankActivity& activity,
               std::vector<Interval>& named_communication) {
  TUTTI_ASSIGN_OR_RETURN(DeviceSets device, ReadDevice(trace));
  activity.sets.compute = SortedUnion(std::move(device.compute));
  activity.sets.copy = SortedUnion(std::move(device.copy));
  activity.sets.unexplained =
      device.any_launch ? SortedUnion(std::move(device.pending)) : IntervalSet{capture};
  TUTTI_ASSIGN_OR_RETURN(activity.sets.sync, HostSyncs(trace));
  named_communication = std::move(device.communication);
  return OkStatus();
}

// Splits the matched calls; communication that is known by kernel names only stays unsplit.
void SetCommunication(std::span<const MatchedCall> calls, std::vector<Interval> named,
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
  all.insert(all.end(), named.begin(), named.end());
  activity.comm = SortedUnion(std::move(all));
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
  std::vector<Interval> named_communication;
  if (rank.device_kind == "gpu") {
    TUTTI_RETURN_IF_ERROR(
        ReadGpu(trace, {rank.begin_ns, rank.end_ns}, activity, named_communication));
  } else {
    TUTTI_RETURN_IF_ERROR(ReadOperators(trace, training, data_waits, activity.sets));
    TUTTI_ASSIGN_OR_RETURN(activity.sets.unexplained, LostTime(trace));
    // Where no operator was recorded, a gap between operators says nothing.
    TUTTI_ASSIGN_OR_RETURN(const auto ops, trace.Ops());
    if (ops.empty()) activity.sets.unexplained = IntervalSet{{rank.begin_ns, rank.end_ns}};
  }
  SetCommunication(calls, std::move(named_communication), activity);
  return activity;
}

}  // namespace tutti::analyzer
