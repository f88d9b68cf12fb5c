// Peak and timeline of every allocator of every rank.
#include <algorithm>
#include <map>
#include <string>

#include "analyzer/input/limits.h"
#include "analyzer/input/step_index.h"
#include "analyzer/metrics/memory_curve.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

constexpr size_t kTimelineSpans = 512;

using Allocator = std::pair<std::string, int64_t>;  // device type, device

struct AllocatorEvents {
  schema::MemoryPeakRow row;
  std::vector<MemorySample> samples;
};

void Add(const MemoryEvent& event, AllocatorEvents& allocator) {
  schema::MemoryPeakRow& row = allocator.row;
  if (event.is_oom) ++row.ooms;
  if (event.delta_bytes && *event.delta_bytes > 0 && !event.is_oom) {
    ++row.allocations;
    row.allocated_bytes = SaturatingAdd(row.allocated_bytes, *event.delta_bytes);
  } else if (!event.is_oom) {
    ++row.releases;
  }
  if (event.reserved_bytes) {
    row.peak_reserved_bytes = std::max(row.peak_reserved_bytes.value_or(0), *event.reserved_bytes);
  }
  if (!event.allocated_bytes) return;
  if (allocator.samples.empty() || *event.allocated_bytes > row.peak_bytes) {
    row.peak_bytes = *event.allocated_bytes;
    row.peak_time_ns = event.time_ns;
  }
  row.end_bytes = *event.allocated_bytes;
  allocator.samples.push_back({event.time_ns, *event.allocated_bytes});
}

std::vector<schema::MemoryTimelineRow> TimelineOf(const AllocatorEvents& allocator) {
  std::vector<schema::MemoryTimelineRow> rows;
  for (const MemorySpan& span : MemoryCurve(allocator.samples, kTimelineSpans)) {
    schema::MemoryTimelineRow row;
    row.rank = allocator.row.rank;
    row.device_type = allocator.row.device_type;
    row.device_id = allocator.row.device_id;
    row.begin_ns = span.time.begin_ns;
    row.end_ns = span.time.end_ns;
    row.max_bytes = span.max_bytes;
    row.last_bytes = span.last_bytes;
    rows.push_back(std::move(row));
  }
  return rows;
}

Status MemoryOfRank(RunContext& context, const schema::RankRow& rank, RankTrace& trace) {
  TUTTI_ASSIGN_OR_RETURN(const auto events, trace.MemoryEvents());
  std::map<Allocator, AllocatorEvents> allocators;
  for (const MemoryEvent& event : events) {
    Add(event, allocators[{event.device_type, event.device_id}]);
  }
  TUTTI_ASSIGN_OR_RETURN(const auto windows, context.Read<schema::StepWindowRow>(
                                                 "WHERE rank = ?1 ORDER BY step", rank.rank));
  const StepIndex steps(windows);
  std::vector<schema::MemoryPeakRow> peaks;
  for (auto& [key, allocator] : allocators) {
    if (allocator.samples.empty()) continue;  // only failed allocations, or totals unknown
    allocator.row.rank = rank.rank;
    allocator.row.device_type = key.first;
    allocator.row.device_id = key.second;
    allocator.row.peak_step = steps.ByWindow(allocator.row.peak_time_ns);
    peaks.push_back(allocator.row);
    TUTTI_RETURN_IF_ERROR(context.Write(TimelineOf(allocator)));
  }
  return context.Write(peaks);
}

Status Run(RunContext& context) {
  return context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) {
    return MemoryOfRank(context, rank, trace);
  });
}

constexpr PassCheck kChecks[] = {
    {"the highest point of a timeline is the peak",
     "SELECT count(*) FROM memory_peak AS p WHERE peak_bytes <> (SELECT max(max_bytes) FROM"
     " memory_timeline AS t WHERE t.rank = p.rank AND t.device_type = p.device_type"
     " AND t.device_id = p.device_id)"},
};

}  // namespace

extern const Pass kMemoryPass;
const Pass kMemoryPass{"memory", Run, kChecks};

}  // namespace tutti::analyzer
