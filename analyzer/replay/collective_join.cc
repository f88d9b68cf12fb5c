#include "analyzer/replay/collective_join.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "analyzer/metrics/collective_timing.h"

namespace tutti::analyzer {
namespace {

// Members that begin within this of each other began together.
constexpr int64_t kTogetherNs = 20'000;
// Longer than this nobody needs to begin.
constexpr int64_t kStoodWaitingNs = 50'000;

// Kinds of complete collectives whose members share a clock, by id.
Result<std::unordered_map<int64_t, OpKind>> ReadKinds(RunContext& context) {
  std::unordered_map<int64_t, OpKind> kinds;
  TUTTI_ASSIGN_OR_RETURN(
      const auto rows,
      context.Read<schema::CollectiveRow>(
          "WHERE state = 'complete' AND ready_ns IS NOT NULL AND ranks_seen = ranks_expected"));
  for (const schema::CollectiveRow& row : rows) kinds.emplace(row.id, KindOfOp(row.op));
  return kinds;
}

// Where ranks agree when they begin (a batch of sends and receives, or a trace that leaves
// waiting out), those that could have begun long before stood waiting for the others.
void FloatWaiting(std::span<const CallEvents> calls, const std::vector<int64_t>& unexplained_ns,
                  JobGraph& job) {
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  int64_t last_ns = std::numeric_limits<int64_t>::min();
  size_t latest = 0;  // who is explained best: the others waited for it
  for (size_t i = 0; i < calls.size(); ++i) {
    const int64_t begin_ns = job.events.event(calls[i].begin).measured_ns;
    first_ns = std::min(first_ns, begin_ns);
    last_ns = std::max(last_ns, begin_ns);
    if (unexplained_ns[calls[i].begin] < unexplained_ns[calls[latest].begin]) latest = i;
  }
  if (calls.size() < 2 || last_ns - first_ns > kTogetherNs) return;
  for (size_t i = 0; i < calls.size(); ++i) {
    const int64_t late_ns = unexplained_ns[calls[i].begin];
    if (i == latest || late_ns < kStoodWaitingNs) continue;
    if (late_ns == std::numeric_limits<int64_t>::max()) continue;  // it has no edge
    job.events.Float(calls[i].begin);
  }
}

// When the members' data can move: an event that waits for those of them that it needs.
EventGraph::Id AddReady(std::span<const CallEvents> needed, const CallEvents& of, JobGraph& job) {
  int64_t ready_ns = std::numeric_limits<int64_t>::min();
  for (const CallEvents& call : needed) {
    ready_ns = std::max(ready_ns, job.events.event(call.begin).measured_ns);
  }
  const EventGraph::Event& begin = job.events.event(of.begin);
  const EventGraph::Id ready = job.events.AddEvent(ready_ns, begin.rank, begin.step);
  for (const CallEvents& call : needed) {
    job.events.AddEdge(ready, {0, call.begin, 0, TimeKind::kTransfer});
  }
  return ready;
}

void LinkEnd(const CallEvents& call, EventGraph::Id ready, JobGraph& job) {
  const int64_t transfer_ns =
      job.events.event(call.end).measured_ns - job.events.event(ready).measured_ns;
  job.events.AddEdge(call.end, {transfer_ns, ready, call.name, TimeKind::kTransfer});
}

// Whom a member of a rooted operation waits for: of a broadcast the root, of a reduction to
// the root the root for all; and whom it gives data to, if it was not done before they came
// (metrics/collective_timing.h).
std::vector<CallEvents> NeededBy(const CallEvents& call, std::span<const CallEvents> calls,
                                 OpKind kind, const JobGraph& job) {
  const int64_t end_ns = job.events.event(call.end).measured_ns;
  std::vector<CallEvents> needed;
  for (const CallEvents& other : calls) {
    const bool gives = kind == OpKind::kFromRoot ? other.is_root : call.is_root;
    const bool takes = kind == OpKind::kFromRoot ? call.is_root : other.is_root;
    const bool came_in_time = job.events.event(other.begin).measured_ns <= end_ns;
    if (gives || (takes && came_in_time) || other.begin == call.begin) needed.push_back(other);
  }
  return needed;
}

void Join(std::span<const CallEvents> calls, OpKind kind, JobGraph& job) {
  const bool has_root =
      std::any_of(calls.begin(), calls.end(), [](const CallEvents& call) { return call.is_root; });
  if ((kind == OpKind::kFromRoot || kind == OpKind::kToRoot) && has_root) {
    for (const CallEvents& call : calls) {
      LinkEnd(call, AddReady(NeededBy(call, calls, kind, job), call, job), job);
    }
    return;
  }
  const EventGraph::Id ready = AddReady(calls, calls.front(), job);
  for (const CallEvents& call : calls) LinkEnd(call, ready, job);
}

void LinkAlone(const CallEvents& call, JobGraph& job) {
  const int64_t duration_ns =
      job.events.event(call.end).measured_ns - job.events.event(call.begin).measured_ns;
  job.events.AddEdge(call.end, {duration_ns, call.begin, call.name, TimeKind::kUnsplit});
}

}  // namespace

Status JoinCollectives(RunContext& context, std::vector<CallEvents>& calls, JobGraph& job) {
  TUTTI_ASSIGN_OR_RETURN(const auto kinds, ReadKinds(context));
  std::sort(calls.begin(), calls.end(), [](const CallEvents& a, const CallEvents& b) {
    return a.collective_id != b.collective_id ? a.collective_id < b.collective_id : a.rank < b.rank;
  });
  const std::vector<int64_t> unexplained_ns = job.events.UnexplainedNs();
  for (size_t i = 0; i < calls.size();) {
    size_t end = i + 1;
    while (end < calls.size() && calls[end].collective_id == calls[i].collective_id) ++end;
    const std::span<const CallEvents> members(calls.data() + i, end - i);
    const auto kind = kinds.find(calls[i].collective_id);
    if (kind != kinds.end() && members.size() > 1) {
      FloatWaiting(members, unexplained_ns, job);
      Join(members, kind->second, job);
      ++job.collectives_joined;
    } else {
      for (const CallEvents& call : members) LinkAlone(call, job);
      ++job.collectives_alone;
    }
    i = end;
  }
  return OkStatus();
}

}  // namespace tutti::analyzer
