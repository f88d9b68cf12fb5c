// Operators, user ranges, kernels and copies by name: how often, how long, self time.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

#include "analyzer/input/kernel_traits.h"
#include "analyzer/input/step_index.h"
#include "analyzer/input/steps_that_count.h"
#include "analyzer/metrics/names.h"
#include "analyzer/metrics/percentile.h"
#include "analyzer/metrics/self_time.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

struct Tally {
  std::optional<std::string> category;
  std::optional<bool> uses_tensor_cores;
  int64_t total_ns = 0;
  int64_t self_ns = 0;
  int64_t in_steps_count = 0;
  int64_t in_steps_self_ns = 0;
  std::vector<int64_t> durations_ns;

  void Add(Interval interval, int64_t self, bool in_steps) {
    total_ns += interval.length_ns();
    self_ns += self;
    in_steps_count += in_steps ? 1 : 0;
    in_steps_self_ns += in_steps ? self : 0;
    durations_ns.push_back(interval.length_ns());
  }
};

using Key = std::tuple<std::string /*kind*/, std::string /*name*/, bool /*on compute*/>;
using Tallies = std::map<Key, Tally>;

// Answers for times that grow: whether they lie in one of the windows.
class WindowCursor {
 public:
  explicit WindowCursor(std::span<const Interval> windows) : windows_(windows) {}
  bool Holds(int64_t time_ns) {
    while (next_ < windows_.size() && windows_[next_].end_ns <= time_ns) ++next_;
    return next_ < windows_.size() && windows_[next_].begin_ns <= time_ns;
  }

 private:
  std::span<const Interval> windows_;
  size_t next_ = 0;
};

const char* KindOfScope(int32_t scope) {
  if (scope == kScopeFunction) return "operator";
  return scope == kScopeBackward ? "backward" : "user";
}

// One thread's operators, in the order of RankTrace::Ops.
void TallyThread(RankTrace& trace, std::span<const OpEvent> ops, bool on_compute,
                 std::span<const Interval> steps, Tallies& tallies) {
  std::vector<Interval> spans;
  for (const OpEvent& op : ops) spans.push_back({op.begin_ns, op.end_ns});
  const std::vector<int64_t> self = SelfTimes(spans);
  std::unordered_map<int64_t, Tally*> by_name;  // name and scope
  WindowCursor cursor(steps);
  for (size_t i = 0; i < ops.size(); ++i) {
    const bool in_steps = cursor.Holds(ops[i].begin_ns);
    if (ops[i].is_open) continue;
    Tally*& tally = by_name[ops[i].name_id * 256 + ops[i].scope];
    if (tally == nullptr) {
      tally = &tallies[{KindOfScope(ops[i].scope), trace.Text(ops[i].name_id), on_compute}];
    }
    tally->Add(spans[i], self[i], in_steps);
  }
}

Status TallyOps(RankTrace& trace, const std::set<int64_t>& lanes, std::span<const Interval> steps,
                Tallies& tallies) {
  TUTTI_ASSIGN_OR_RETURN(const auto ops, trace.Ops());
  for (size_t begin = 0; begin < ops.size();) {
    size_t end = begin;
    while (end < ops.size() && ops[end].tid == ops[begin].tid) ++end;
    TallyThread(trace, ops.subspan(begin, end - begin), lanes.contains(ops[begin].tid), steps,
                tallies);
    begin = end;
  }
  return OkStatus();
}

const char* KindOf(DeviceEvent::Kind kind) {
  switch (kind) {
    case DeviceEvent::Kind::kKernel:
      return "kernel";
    case DeviceEvent::Kind::kMemcpy:
      return "memcpy";
    case DeviceEvent::Kind::kMemset:
      break;
  }
  return "memset";
}

Status TallyDevice(RankTrace& trace, std::span<const Interval> steps, Tallies& tallies) {
  TUTTI_ASSIGN_OR_RETURN(const auto events, trace.DeviceEvents());
  WindowCursor cursor(steps);
  KernelTraitsOf traits(trace);
  std::map<std::pair<DeviceEvent::Kind, int64_t>, Tally*> by_name;
  for (const DeviceEvent& event : events) {
    Tally*& tally = by_name[{event.kind, event.name_id}];
    if (tally == nullptr) {
      tally = &tallies[{KindOf(event.kind), trace.NameOf(event), true}];
      tally->category = traits(event).category;
      tally->uses_tensor_cores = traits(event).uses_tensor_cores;
    }
    tally->Add(event.time(), event.time().length_ns(), cursor.Holds(event.begin_ns));
  }
  return OkStatus();
}

schema::OpStatsRow ToRow(int64_t rank, const Key& key, Tally& tally) {
  schema::OpStatsRow row;
  row.rank = rank;
  row.kind = std::get<0>(key);
  row.name = std::get<1>(key);
  row.on_compute = std::get<2>(key) ? 1 : 0;
  row.category = tally.category;
  if (tally.uses_tensor_cores) row.uses_tensor_cores = *tally.uses_tensor_cores ? 1 : 0;
  row.count = static_cast<int64_t>(tally.durations_ns.size());
  row.total_ns = tally.total_ns;
  row.self_ns = tally.self_ns;
  row.min_ns = LowerNearestRank(tally.durations_ns, 0);
  row.p50_ns = LowerNearestRank(tally.durations_ns, 500);
  row.p90_ns = LowerNearestRank(tally.durations_ns, 900);
  row.p99_ns = LowerNearestRank(tally.durations_ns, 990);
  row.max_ns = LowerNearestRank(tally.durations_ns, 1000);
  row.in_steps_count = tally.in_steps_count;
  row.in_steps_self_ns = tally.in_steps_self_ns;
  return row;
}

// In parts, and what is written is freed: a trace may have millions of names.
Status WriteRows(RunContext& context, int64_t rank, Tallies& tallies) {
  constexpr size_t kRowsAtOnce = 10'000;
  while (!tallies.empty()) {
    std::vector<schema::OpStatsRow> rows;
    while (!tallies.empty() && rows.size() < kRowsAtOnce) {
      auto taken = tallies.extract(tallies.begin());
      rows.push_back(ToRow(rank, taken.key(), taken.mapped()));
    }
    TUTTI_RETURN_IF_ERROR(context.Write(rows));
  }
  return OkStatus();
}

Status StatsOfRank(RunContext& context, const schema::RankRow& rank, RankTrace& trace) {
  TUTTI_ASSIGN_OR_RETURN(const auto windows, ReadWindowsThatCount(context, rank.rank));
  const StepIndex steps(windows);
  TUTTI_ASSIGN_OR_RETURN(
      const auto lanes,
      context.Read<schema::LaneRow>(
          "WHERE rank = ?1 AND kind = 'thread' AND role IN ('compute', 'host')", rank.rank));
  std::set<int64_t> tids;
  for (const schema::LaneRow& lane : lanes) tids.insert(lane.id);
  Tallies tallies;
  // Beside a GPU the host is ahead: its operators belong to the step that it was in.
  std::vector<Interval> hosts;
  for (const schema::StepWindowRow& window : windows) {
    hosts.push_back({window.host_begin_ns, window.host_end_ns});
  }
  const bool is_gpu = rank.device_kind == "gpu";
  TUTTI_RETURN_IF_ERROR(
      TallyOps(trace, tids, is_gpu ? std::span<const Interval>(hosts) : steps.windows(), tallies));
  TUTTI_RETURN_IF_ERROR(TallyDevice(trace, steps.windows(), tallies));
  return WriteRows(context, rank.rank, tallies);
}

Status Run(RunContext& context) {
  return context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) {
    return StatsOfRank(context, rank, trace);
  });
}

constexpr PassCheck kChecks[] = {
    {"percentiles are in order and self time is part of the total",
     "SELECT count(*) FROM op_stats WHERE NOT (0 <= min_ns AND min_ns <= p50_ns AND p50_ns <= "
     "p90_ns AND p90_ns <= "
     "p99_ns"
     " AND p99_ns <= max_ns AND self_ns <= total_ns AND in_steps_self_ns <= self_ns)"},
};

}  // namespace

extern const Pass kOpStatsPass;
const Pass kOpStatsPass{"op_stats", Run, kChecks, PassScope::kRank};

}  // namespace tutti::analyzer
