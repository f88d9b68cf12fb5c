// Whether allocated memory grows from step to step.
#include <algorithm>
#include <map>
#include <tuple>

#include "analyzer/input/steps_that_count.h"
#include "analyzer/metrics/line_fit.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

using Allocator = std::pair<std::string, int64_t>;  // device type and id

// Bytes allocated at the end of each window that counts.
std::map<Allocator, std::vector<Point>> AtStepEnds(std::span<const MemoryEvent> events,
                                                   const std::vector<Interval>& windows) {
  std::map<Allocator, std::vector<Point>> ends;
  std::map<Allocator, int64_t> now;
  size_t next = 0;
  for (const Interval& window : windows) {
    for (; next < events.size() && events[next].time_ns < window.end_ns; ++next) {
      const MemoryEvent& event = events[next];
      if (!event.allocated_bytes) continue;
      now[{event.device_type, event.device_id}] = *event.allocated_bytes;
    }
    for (const auto& [allocator, bytes] : now) {
      std::vector<Point>& points = ends[allocator];
      points.push_back({static_cast<double>(&window - windows.data()), static_cast<double>(bytes)});
    }
  }
  return ends;
}

Result<std::optional<int64_t>> CapacityOf(RankTrace& trace, int64_t device_id) {
  TUTTI_ASSIGN_OR_RETURN(const auto devices, trace.Devices());
  for (const schema::DeviceRow& device : devices) {
    if (device.id == device_id) return device.memory_bytes;
  }
  return std::optional<int64_t>();
}

Status TrendOfRank(RunContext& context, const schema::RankRow& rank, RankTrace& trace,
                   const std::map<int64_t, size_t>& counted) {
  TUTTI_ASSIGN_OR_RETURN(const auto events, trace.MemoryEvents());
  if (events.empty()) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const auto rows, context.Read<schema::StepWindowRow>(
                                              "WHERE rank = ?1 ORDER BY end_ns", rank.rank));
  std::vector<Interval> windows;
  for (const schema::StepWindowRow& row : rows) {
    if (counted.contains(row.step)) windows.push_back({row.begin_ns, row.end_ns});
  }
  std::vector<schema::MemoryTrendRow> trends;
  for (const auto& [allocator, points] : AtStepEnds(events, windows)) {
    const std::optional<Line> line = MedianLine(points);
    if (!line) continue;
    schema::MemoryTrendRow trend;
    trend.rank = rank.rank;
    std::tie(trend.device_type, trend.device_id) = allocator;
    trend.steps = static_cast<int64_t>(points.size());
    trend.first_bytes = static_cast<int64_t>(points.front().y);
    trend.last_bytes = static_cast<int64_t>(points.back().y);
    trend.bytes_per_step = line->slope;
    trend.rising_frac = line->rising_frac;
    if (allocator.first != "cpu") {
      TUTTI_ASSIGN_OR_RETURN(trend.capacity_bytes, CapacityOf(trace, allocator.second));
    }
    trends.push_back(std::move(trend));
  }
  return context.Write(trends);
}

Status Run(RunContext& context) {
  TUTTI_ASSIGN_OR_RETURN(const StepsThatCount counted, ReadStepsThatCount(context));
  const std::map<int64_t, size_t> places = counted.Places();
  return context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) {
    return TrendOfRank(context, rank, trace, places);
  });
}

}  // namespace

extern const Pass kMemoryTrendPass;
const Pass kMemoryTrendPass{"memory_trend", Run, {}, PassScope::kRank};

}  // namespace tutti::analyzer
