#include "analyzer/replay/host_items.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "analyzer/metrics/names.h"

namespace tutti::analyzer {
namespace {

using Kind = HostItem::Kind;

std::set<int64_t> TrainingThreads(std::span<const schema::LaneRow> lanes) {
  std::set<int64_t> tids;
  for (const schema::LaneRow& lane : lanes) {
    if (lane.kind == "thread" && (lane.role == "compute" || lane.role == "host")) {
      tids.insert(lane.id);
    }
  }
  return tids;
}

// Whatever a thread does in these counts as part of them.
bool Swallows(Kind kind) { return kind != Kind::kCompute; }

// Cuts spans of one thread, outer ones first, into pieces that belong to the innermost.
class Flattener {
 public:
  explicit Flattener(HostTrack& track) : track_(track) {}

  void Add(HostItem span) {
    CloseUntil(span.time.begin_ns);
    if (!open_.empty()) {
      const HostItem& outer = open_.back();
      span.time.end_ns = std::min(span.time.end_ns, outer.time.end_ns);
      if (Swallows(outer.kind)) {
        span.kind = outer.kind;
        span.name_id = outer.name_id;
      }
      Emit(outer, span.time.begin_ns);
    }
    now_ns_ = std::max(now_ns_, span.time.begin_ns);
    open_.push_back(span);
  }

  void CloseUntil(int64_t time_ns) {
    while (!open_.empty() && open_.back().time.end_ns <= time_ns) {
      Emit(open_.back(), open_.back().time.end_ns);
      open_.pop_back();
    }
  }

 private:
  void Emit(const HostItem& span, int64_t end_ns) {
    if (end_ns <= now_ns_) return;
    HostItem item = span;
    item.time = {now_ns_, end_ns};
    now_ns_ = end_ns;
    const bool continues = !track_.empty() && track_.back().time.end_ns == item.time.begin_ns &&
                           track_.back().kind == item.kind &&
                           track_.back().name_id == item.name_id && Swallows(item.kind);
    if (continues) {
      track_.back().time.end_ns = end_ns;
    } else {
      track_.push_back(item);
    }
  }

  HostTrack& track_;
  std::vector<HostItem> open_;
  int64_t now_ns_ = 0;
};

bool BeginsBefore(const HostItem& a, const HostItem& b) {
  return a.time.begin_ns != b.time.begin_ns ? a.time.begin_ns < b.time.begin_ns
                                            : a.time.end_ns > b.time.end_ns;
}

Result<std::map<int64_t, HostTrack>> InputWaits(RankTrace& trace, const std::set<int64_t>& training,
                                                Interval range) {
  TUTTI_ASSIGN_OR_RETURN(const auto waits, trace.DataWaits());
  std::map<int64_t, HostTrack> by_thread;
  for (const schema::DataWaitRow& wait : waits) {
    if (!training.contains(wait.tid) || !wait.end_ns) continue;
    if (wait.begin_ns < range.begin_ns || wait.begin_ns >= range.end_ns) continue;
    by_thread[wait.tid].push_back({Kind::kInput, {wait.begin_ns, *wait.end_ns}, wait.loader_id});
  }
  return by_thread;
}

Kind KindOf(OpRole role, int64_t scope) {
  if (role == OpRole::kCompute) return Kind::kCompute;
  if (role != OpRole::kHandOver) return Kind::kBlocked;
  return scope == kScopeUser ? Kind::kExchange : Kind::kHandOver;
}

// Operators of CPU ranks.
Status AddOperators(RankTrace& trace, const std::set<int64_t>& training, Interval range,
                    std::map<int64_t, HostTrack>& by_thread) {
  TUTTI_ASSIGN_OR_RETURN(const auto ops, trace.Ops());
  std::unordered_map<int64_t, OpRole> roles;  // by name and scope
  for (const OpEvent& op : ops) {
    if (op.begin_ns < range.begin_ns || op.begin_ns >= range.end_ns) continue;
    if (!training.contains(op.tid)) continue;
    const auto [known, is_new] = roles.emplace(op.name_id * 256 + op.scope, OpRole::kRange);
    if (is_new) known->second = RoleOfOp(trace.Text(op.name_id), op.scope);
    if (known->second == OpRole::kRange) continue;
    by_thread[op.tid].push_back(
        {KindOf(known->second, op.scope), {op.begin_ns, op.end_ns}, op.name_id});
  }
  return OkStatus();
}

Result<HostTrack> CpuTrack(RankTrace& trace, const std::set<int64_t>& training, Interval range) {
  TUTTI_ASSIGN_OR_RETURN(auto by_thread, InputWaits(trace, training, range));
  TUTTI_RETURN_IF_ERROR(AddOperators(trace, training, range, by_thread));
  HostTrack track;
  for (auto& [tid, spans] : by_thread) {
    std::stable_sort(spans.begin(), spans.end(), BeginsBefore);
    Flattener flattener(track);
    for (const HostItem& span : spans) flattener.Add(span);
    flattener.CloseUntil(std::numeric_limits<int64_t>::max());
  }
  return track;
}

// Calls that launch or block, by thread; those inside another one are part of it.
Result<std::map<int64_t, HostTrack>> GpuCalls(RankTrace& trace, Interval range) {
  TUTTI_ASSIGN_OR_RETURN(const auto calls, trace.ApiCalls());
  TUTTI_ASSIGN_OR_RETURN(const auto events, trace.DeviceEvents());
  std::vector<bool> launches(calls.size(), false);
  for (const DeviceEvent& event : events) {
    if (event.launch >= 0) launches[static_cast<size_t>(event.launch)] = true;
  }
  std::unordered_map<int64_t, bool> blocks;  // by name
  std::map<int64_t, HostTrack> by_thread;
  for (size_t i = 0; i < calls.size(); ++i) {
    const ApiEvent& call = calls[i];
    if (call.begin_ns < range.begin_ns || call.begin_ns >= range.end_ns) continue;
    const auto [known, is_new] = blocks.emplace(call.name_id, false);
    if (is_new) known->second = IsBlockingCall(trace.Text(call.name_id));
    if (!launches[i] && !known->second) continue;
    HostTrack& track = by_thread[call.tid];
    if (!track.empty() && call.end_ns <= track.back().time.end_ns) continue;
    track.push_back({known->second ? Kind::kBlocked : Kind::kLaunch,
                     {call.begin_ns, call.end_ns},
                     call.name_id,
                     static_cast<int64_t>(i)});
  }
  return by_thread;
}

}  // namespace

Result<std::vector<HostTrack>> ReadHostTracks(const schema::RankRow& rank, RankTrace& trace,
                                              std::span<const schema::LaneRow> lanes,
                                              std::span<const schema::StepWindowRow> windows,
                                              Interval range) {
  const std::set<int64_t> training = TrainingThreads(lanes);
  std::vector<HostTrack> tracks(1);
  if (rank.device_kind == "gpu") {
    TUTTI_ASSIGN_OR_RETURN(auto by_thread, GpuCalls(trace, range));
    // Without any call nothing tells how the host and its device depend on each other.
    if (by_thread.empty()) return tracks;
    TUTTI_ASSIGN_OR_RETURN(const auto waits, InputWaits(trace, training, range));
    for (const auto& [tid, track] : waits) {
      tracks[0].insert(tracks[0].end(), track.begin(), track.end());
    }
    for (auto& [tid, track] : by_thread) {
      if (training.contains(tid)) {
        tracks[0].insert(tracks[0].end(), track.begin(), track.end());
      } else {
        tracks.push_back(std::move(track));
      }
    }
  } else {
    TUTTI_ASSIGN_OR_RETURN(tracks[0], CpuTrack(trace, training, range));
  }
  if (!tracks[0].empty()) {
    for (const schema::StepWindowRow& window : windows) {
      HostItem end{Kind::kStepEnd, {window.host_end_ns, window.host_end_ns}};
      end.step = window.step;
      tracks[0].push_back(end);
    }
  }
  std::stable_sort(tracks[0].begin(), tracks[0].end(), BeginsBefore);
  return tracks;
}

}  // namespace tutti::analyzer
