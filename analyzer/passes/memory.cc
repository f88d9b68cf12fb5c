// Peak and timeline of every allocator of every rank, who holds the peak, and what of the
// memory that a caching allocator reserved is unused.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzer/input/limits.h"
#include "analyzer/input/step_index.h"
#include "analyzer/metrics/memory_curve.h"
#include "analyzer/metrics/memory_holders.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

constexpr size_t kTimelineSpans = 512;
constexpr size_t kMostHolders = 100;

using Allocator = std::pair<std::string, int64_t>;  // device type, device

struct AllocatorEvents {
  schema::MemoryPeakRow row;
  std::vector<MemorySample> samples;
  std::vector<BlockChange> changes;
  size_t changes_until_peak = 0;
  bool has_stacks = false;
};

void Add(const MemoryEvent& event, AllocatorEvents& allocator) {
  schema::MemoryPeakRow& row = allocator.row;
  if (event.is_oom) ++row.ooms;
  if (event.delta_bytes && *event.delta_bytes > 0 && !event.is_oom) {
    ++row.allocations;
    row.allocated_bytes = SaturatingAdd(row.allocated_bytes, *event.delta_bytes);
  } else if (!event.is_oom && event.delta_bytes != 0) {
    ++row.releases;
  }
  if (!event.is_oom && event.delta_bytes != 0) {
    allocator.changes.push_back({event.address, event.delta_bytes.value_or(-1), event.stack_id});
    allocator.has_stacks = allocator.has_stacks || event.stack_id != 0;
  }
  if (event.reserved_bytes) {
    row.peak_reserved_bytes = std::max(row.peak_reserved_bytes.value_or(0), *event.reserved_bytes);
  }
  if (!event.allocated_bytes) return;
  if (allocator.samples.empty() || *event.allocated_bytes > row.peak_bytes) {
    row.peak_bytes = *event.allocated_bytes;
    row.peak_time_ns = event.time_ns;
    allocator.changes_until_peak = allocator.changes.size();
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

// Blocks of the snapshot that the history says nothing of: they were there all along.
Result<std::vector<BlockChange>> BlocksBefore(RankTrace& trace, int64_t device_id,
                                              const AllocatorEvents& allocator) {
  std::set<int64_t> told;
  for (const BlockChange& change : allocator.changes) told.insert(change.address);
  TUTTI_ASSIGN_OR_RETURN(const auto segments, trace.MemorySegments());
  std::set<int64_t> of_device;
  for (const schema::MemorySegmentRow& segment : segments) {
    if (segment.device_id == device_id) of_device.insert(segment.id);
  }
  TUTTI_ASSIGN_OR_RETURN(const auto blocks, trace.MemoryBlocks());
  std::vector<BlockChange> before;
  for (const schema::MemoryBlockRow& block : blocks) {
    if (block.state != "active_allocated" || told.contains(block.address)) continue;
    if (of_device.contains(block.segment_id)) {
      before.push_back({block.address, block.bytes, block.stack_id});
    }
  }
  return before;
}

// The last row is what no stack is known of, if that is anything.
Status WriteHolders(RunContext& context, RankTrace& trace, const AllocatorEvents& allocator) {
  if (!allocator.has_stacks) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const std::vector<BlockChange> before,
                         BlocksBefore(trace, allocator.row.device_id, allocator));
  const std::span<const BlockChange> changes =
      std::span(allocator.changes).first(allocator.changes_until_peak);
  int64_t unknown_bytes = allocator.row.peak_bytes;
  int64_t unknown_blocks = 0;
  std::vector<schema::MemoryHolderRow> rows;
  for (const MemoryHolder& holder : HoldersAfter(changes, before)) {
    if (holder.stack == 0 || rows.size() == kMostHolders) {
      unknown_blocks += holder.blocks;
      continue;
    }
    unknown_bytes -= holder.bytes;
    schema::MemoryHolderRow row;
    row.rank = allocator.row.rank;
    row.device_type = allocator.row.device_type;
    row.device_id = allocator.row.device_id;
    row.ordinal = static_cast<int64_t>(rows.size());
    row.bytes = holder.bytes;
    row.blocks = holder.blocks;
    row.stack = trace.Text(holder.stack);
    rows.push_back(std::move(row));
  }
  if (unknown_bytes > 0) {
    schema::MemoryHolderRow rest;
    rest.rank = allocator.row.rank;
    rest.device_type = allocator.row.device_type;
    rest.device_id = allocator.row.device_id;
    rest.ordinal = static_cast<int64_t>(rows.size());
    rest.bytes = unknown_bytes;
    rest.blocks = unknown_blocks;
    rows.push_back(std::move(rest));
  }
  return context.Write(rows);
}

Status WriteStates(RunContext& context, const schema::RankRow& rank, RankTrace& trace) {
  TUTTI_ASSIGN_OR_RETURN(const auto segments, trace.MemorySegments());
  TUTTI_ASSIGN_OR_RETURN(const auto blocks, trace.MemoryBlocks());
  std::map<int64_t, int64_t> device_of_segment;
  for (const schema::MemorySegmentRow& row : segments) device_of_segment[row.id] = row.device_id;
  std::map<int64_t, std::vector<SegmentPart>> parts;  // by device
  for (const schema::MemoryBlockRow& block : blocks) {
    const auto device = device_of_segment.find(block.segment_id);
    if (device == device_of_segment.end()) continue;
    parts[device->second].push_back({block.segment_id, block.bytes,
                                     block.state == "active_allocated", block.state == "inactive"});
  }
  std::vector<schema::MemoryStateRow> rows;
  for (const auto& [device, of_device] : parts) {
    const AllocatorState state = StateOf(of_device);
    rows.push_back({.rank = rank.rank,
                    .device_id = device,
                    .segments = state.segments,
                    .reserved_bytes = state.reserved_bytes,
                    .allocated_bytes = state.allocated_bytes,
                    .pending_bytes = state.pending_bytes,
                    .free_segment_bytes = state.free_segment_bytes,
                    .inactive_split_bytes = state.inactive_split_bytes,
                    .inactive_split_blocks = state.inactive_split_blocks,
                    .largest_free_bytes = state.largest_free_bytes});
  }
  return context.Write(rows);
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
    TUTTI_RETURN_IF_ERROR(WriteHolders(context, trace, allocator));
  }
  TUTTI_RETURN_IF_ERROR(WriteStates(context, rank, trace));
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
    {"what holds the peak adds up to it",
     "SELECT count(*) FROM memory_peak AS p WHERE peak_bytes <> (SELECT sum(bytes) FROM"
     " memory_holder AS h WHERE h.rank = p.rank AND h.device_type = p.device_type"
     " AND h.device_id = p.device_id)"},
};

}  // namespace

extern const Pass kMemoryPass;
const Pass kMemoryPass{"memory", Run, kChecks, PassScope::kRank};

}  // namespace tutti::analyzer
