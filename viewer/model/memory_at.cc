#include "viewer/model/memory_at.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "schema/database.h"
#include "schema/reader.h"
#include "schema/rows.h"

namespace tutti::viewer {
namespace {

struct Live {
  HeldBlock block;
  int64_t tid = -1;
  int64_t stack_id = 0;
};

// The event of a lane that holds at a time.
std::optional<Event> HoldingAt(const Lane& lane, int64_t time_ns) {
  const uint32_t index = lane.FirstEndingAfter(time_ns);
  if (index >= lane.size() || lane.begin_ns(index) > time_ns) return std::nullopt;
  return lane.event(index);
}

// Where in the program a rank's threads were.
class Places {
 public:
  Places(const RunSummary& summary, size_t slot, const RankTrace& trace, const NameTable& names)
      : summary_(summary), times_(summary.TimesOf(slot)), trace_(trace), names_(names) {}

  void Describe(int64_t tid, HeldBlock* block) const {
    const int64_t time_ns = times_(*block->allocated_ns);
    for (const Track& track : trace_.tracks) {
      const bool is_thread = track.kind == TrackKind::kThread && track.id == tid;
      if (!is_thread && track.kind != TrackKind::kPhases && track.kind != TrackKind::kLoader) {
        continue;
      }
      for (const Lane& lane : track.lanes) {
        if (const auto event = HoldingAt(lane, time_ns)) Take(track.kind, *event, block);
      }
    }
    if (block->use.empty()) block->use = UseByStep(time_ns);
  }

 private:
  void Take(TrackKind kind, const Event& event, HeldBlock* block) const {
    const std::string name(names_.Text(event.name));
    const auto use_if = [&](bool is_it, const char* use) {
      if (is_it && block->use.empty()) block->use = use;
    };
    if (kind == TrackKind::kPhases)
      return use_if(
          name == "forward" || name == "backward" || name == "optimizer" || name == "evaluation",
          name.c_str());
    use_if(kind == TrackKind::kLoader || event.category == Category::kLoader, "input");
    use_if(name.starts_with("autograd::engine"), "backward");
    use_if(name.starts_with("Optimizer.step"), "optimizer");
    const bool is_operator = event.source == Source::kCpuOp && event.category != Category::kStep;
    if (block->by.empty() && is_operator) block->by = name;
  }

  std::string UseByStep(int64_t time_ns) const {
    const auto& steps = summary_.steps;
    if (steps.empty()) return "untold";
    if (time_ns < steps.front().begin_ns) return "before the first step";
    const auto next = std::partition_point(
        steps.begin(), steps.end(),
        [&](const schema::RunStepRow& step) { return step.end_ns <= time_ns; });
    const bool is_inside = next != steps.end() && next->begin_ns <= time_ns;
    return is_inside ? "rest of a step" : "between steps";
  }

  const RunSummary& summary_;
  const TimeMap& times_;  // to where events are on an axis that two runs share
  const RankTrace& trace_;
  const NameTable& names_;
};

// Replays an allocator's history up to a moment, and from there on until what is held is released.
class History {
 public:
  explicit History(int64_t time_ns) : time_ns_(time_ns) {}

  void Add(const schema::MemoryEventRow& row, int64_t time_ns) {
    if (row.is_oom != 0) return;
    const bool is_over = time_ns > time_ns_;
    if (!is_over && row.allocated_bytes) held_.allocated_bytes = *row.allocated_bytes;
    if (!is_over && row.reserved_bytes) held_.reserved_bytes = row.reserved_bytes;
    if (row.delta_bytes == 0) return;
    const bool is_allocation = row.delta_bytes.value_or(-1) > 0;
    if (is_allocation && !is_over) {
      known_.insert_or_assign(row.address, true);
      live_[row.address] = {
          {row.id, *row.delta_bytes, time_ns, {}, "", ""}, row.tid.value_or(-1), row.stack_id};
    } else if (is_allocation) {
      known_.emplace(row.address, true);
    } else if (const auto found = live_.find(row.address); found != live_.end()) {
      if (!is_over) {
        live_.erase(found);
      } else if (!found->second.block.released_ns) {
        found->second.block.released_ns = time_ns;
      }
    } else {
      known_.emplace(row.address, true);
    }
  }

  // A block that a snapshot has: what it is for, or that it was there all along.
  void AddSnapshot(const schema::MemoryBlockRow& block) {
    const auto found = live_.find(block.address);
    if (found != live_.end()) {
      // Of a block that was released since, another's category.
      if (!found->second.block.released_ns && block.category) {
        found->second.block.use = *block.category;
      }
    } else if (block.state == "active_allocated" && !known_.contains(block.address)) {
      live_[block.address] = {
          {block.id, block.bytes, {}, {}, block.category.value_or(""), ""}, -1, block.stack_id};
    }
  }

  std::unordered_map<int64_t, Live>& live() { return live_; }
  HeldMemory Take() { return std::move(held_); }

 private:
  int64_t time_ns_;
  HeldMemory held_;
  std::unordered_map<int64_t, Live> live_;   // by address
  std::unordered_map<int64_t, bool> known_;  // addresses that the history tells of
};

Status ReadSnapshot(schema::Database& database, int64_t device, History* history) {
  std::map<int64_t, bool> segments;
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::MemorySegmentRow>(
      database, "WHERE device_id IS ?1",
      [&](const schema::MemorySegmentRow& row) { segments[row.id] = true; }, device));
  if (segments.empty()) return OkStatus();
  return schema::ForEach<schema::MemoryBlockRow>(database, "",
                                                 [&](const schema::MemoryBlockRow& row) {
                                                   if (segments.contains(row.segment_id)) {
                                                     history->AddSnapshot(row);
                                                   }
                                                 });
}

// The innermost frame of a stack, "" if there is none.
std::string FrameOf(schema::Database& database, int64_t stack_id) {
  if (stack_id == 0) return "";
  auto text = database.QueryOne<std::string>("SELECT text FROM string WHERE id = ?1", stack_id);
  return text.ok() ? text->substr(0, text->find('\n')) : "";
}

}  // namespace

Result<HeldMemory> MemoryAt(const RunSummary& summary, size_t slot, const RankTrace& trace,
                            const NameTable& names, int64_t device, int64_t time_ns) {
  TUTTI_ASSIGN_OR_RETURN(
      schema::Database database,
      schema::Database::OpenReadOnly(summary.traces[slot], {.quick_check = false}));
  const int64_t offset_ns = summary.ranks[slot].clock_offset_ns;
  const std::optional<int64_t> device_id = device < 0 ? std::nullopt : std::optional(device);
  History history(time_ns);
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::MemoryEventRow>(
      database, "WHERE device_id IS ?1 ORDER BY time_ns, id",
      [&](const schema::MemoryEventRow& row) { history.Add(row, row.time_ns + offset_ns); },
      device_id));
  if (device >= 0) TUTTI_RETURN_IF_ERROR(ReadSnapshot(database, device, &history));
  HeldMemory held = history.Take();
  const Places places(summary, slot, trace, names);
  std::map<std::string, int64_t> by_use;
  int64_t known_bytes = 0;
  for (auto& [address, live] : history.live()) {
    HeldBlock& block = live.block;
    block.by = FrameOf(database, live.stack_id);
    if (block.allocated_ns && block.use.empty()) places.Describe(live.tid, &block);
    if (block.use.empty()) block.use = "before the trace";
    by_use[block.use] += block.bytes;
    known_bytes += block.bytes;
    held.blocks.push_back(std::move(block));
  }
  if (known_bytes < held.allocated_bytes) {
    by_use["before the trace"] += held.allocated_bytes - known_bytes;
  }
  held.by_use.assign(by_use.begin(), by_use.end());
  std::stable_sort(held.by_use.begin(), held.by_use.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::sort(held.blocks.begin(), held.blocks.end(), [](const HeldBlock& a, const HeldBlock& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.row_id < b.row_id;
  });
  return held;
}

}  // namespace tutti::viewer
