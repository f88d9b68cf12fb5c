// Copies and fills of each GPU by direction: how many, how large, how fast, and for how long
// no kernel hid them.
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/input/limits.h"
#include "analyzer/input/step_index.h"
#include "analyzer/input/steps_that_count.h"
#include "analyzer/metrics/percentile.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

using Key = std::tuple<int64_t /*device*/, CopyKind>;

struct Tally {
  std::vector<Interval> times;  // by begin
  std::vector<int64_t> bytes;
  std::vector<double> gb_per_s;
  int64_t in_steps = 0;
};

// Copies and fills by what they move, kernels by GPU.
struct Copies {
  std::map<Key, Tally> tallies;
  std::map<int64_t, std::vector<Interval>> kernels;
};

Copies Collect(const RankTrace& trace, std::span<const DeviceEvent> events,
               const StepIndex& steps) {
  Copies copies;
  for (const DeviceEvent& event : events) {
    if (event.kind == DeviceEvent::Kind::kKernel) {
      copies.kernels[event.device_id].push_back(event.time());
      continue;
    }
    const bool is_fill = event.kind == DeviceEvent::Kind::kMemset;
    const CopyKind kind = is_fill ? CopyKind{"memset", "", ""} : trace.CopyKindOf(event);
    Tally& tally = copies.tallies[{event.device_id, kind}];
    tally.times.push_back(event.time());
    tally.bytes.push_back(event.bytes);
    tally.in_steps += steps.ByWindow(event.begin_ns) ? 1 : 0;
    const int64_t length_ns = event.time().length_ns();
    if (length_ns == 0) continue;
    tally.gb_per_s.push_back(static_cast<double>(event.bytes) / static_cast<double>(length_ns));
  }
  return copies;
}

schema::CopyStatsRow RowOf(int64_t rank, const Key& key, Tally& tally, const IntervalSet& kernels) {
  schema::CopyStatsRow row;
  row.rank = rank;
  row.device_id = std::get<0>(key);
  row.direction = std::get<1>(key).direction;
  row.source = std::get<1>(key).source;
  row.destination = std::get<1>(key).destination;
  row.count = static_cast<int64_t>(tally.times.size());
  row.in_steps_count = tally.in_steps;
  for (const int64_t bytes : tally.bytes) row.bytes = SaturatingAdd(row.bytes, bytes);
  for (const Interval& time : tally.times) row.total_ns += time.length_ns();
  row.exposed_ns = TotalNs(Subtract(Union(tally.times), kernels));
  row.p50_bytes = LowerNearestRank(tally.bytes, 500);
  if (row.total_ns > 0) {
    row.gb_per_s = static_cast<double>(row.bytes) / static_cast<double>(row.total_ns);
  }
  if (tally.gb_per_s.empty()) return row;
  row.min_gb_per_s = LowerNearestRank(tally.gb_per_s, 0);
  row.p50_gb_per_s = LowerNearestRank(tally.gb_per_s, 500);
  row.max_gb_per_s = LowerNearestRank(tally.gb_per_s, 1000);
  return row;
}

Status CopiesOfRank(RunContext& context, const schema::RankRow& rank, RankTrace& trace) {
  TUTTI_ASSIGN_OR_RETURN(const auto events, trace.DeviceEvents());
  TUTTI_ASSIGN_OR_RETURN(const auto windows, ReadWindowsThatCount(context, rank.rank));
  Copies copies = Collect(trace, events, StepIndex(windows));
  std::map<int64_t, IntervalSet> kernels;
  for (const auto& [device, times] : copies.kernels) kernels[device] = Union(times);
  std::vector<schema::CopyStatsRow> rows;
  for (auto& [key, tally] : copies.tallies) {
    rows.push_back(RowOf(rank.rank, key, tally, kernels[std::get<0>(key)]));
  }
  return context.Write(rows);
}

Status Run(RunContext& context) {
  return context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) {
    return CopiesOfRank(context, rank, trace);
  });
}

constexpr PassCheck kChecks[] = {
    {"copies are exposed for at most their time",
     "SELECT count(*) FROM copy_stats WHERE exposed_ns > total_ns"},
};

}  // namespace

extern const Pass kCopiesPass;
const Pass kCopiesPass{"copies", Run, kChecks, PassScope::kRank};

}  // namespace tutti::analyzer
