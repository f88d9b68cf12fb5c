// Events that do not overlap, in order of time, packed: about 15 bytes each. What a row of the
// timeline draws from, at any zoom, without touching more than a few nodes per pixel.
//
//   columns   begin (32 bits from its block's base), duration (32 bits), name (16 or 32 bits,
//             of the lane's own dictionary), row id (32 bits); what does not fit lies in side
//             tables, so times are exact to the nanosecond over any span
//   pyramid   for every 16, 256, … events: which is longest, and how long; before every 16th: how
//             long was spent in each category that the lane has, so that any range's time is a
//             difference
//
// Immutable once built, so any number of threads may read it. Copies share the columns.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "viewer/model/event.h"
#include "viewer/model/lane_columns.h"

namespace tutti::viewer {

// What is known of the events [first, last) of a lane.
struct LaneSummary {
  int64_t count = 0;
  uint32_t longest = 0;     // index of the longest, the earliest of equals
  int64_t longest_ns = -1;  // -1 none
  CategoryNs busy_ns = {};  // sum of durations
};

class Lane {
 public:
  // `events` are in order of begin_ns and each begins no earlier than the one before it ends.
  explicit Lane(std::span<const Event> events) : Lane(PackLane(events)) {}
  explicit Lane(PackedLane packed);

  uint32_t size() const { return packed_.counts.events; }
  int64_t begin_ns(uint32_t index) const {
    const LaneBlock& block = columns_.blocks[index / kBlock];
    if (block.wide >= 0) {
      return columns_.wide_begins[static_cast<size_t>(block.wide) + index % kBlock];
    }
    return block.base_ns + columns_.begins[index];
  }
  // The same, without a look at memory that nothing else needs where a node begins there.
  int64_t ColumnBeginNs(uint32_t index) const {
    const LaneBlock& block = columns_.blocks[index / kBlock];
    if (index % kFan != 0 || block.wide >= 0) return begin_ns(index);
    return block.base_ns + columns_.node_begins[index / kFan];
  }
  int64_t duration_ns(uint32_t index) const {
    return columns_.durations[index] != kLong ? columns_.durations[index] : LongNs(index);
  }
  int64_t end_ns(uint32_t index) const { return begin_ns(index) + duration_ns(index); }
  const LaneName& name(uint32_t index) const { return packed_.names[name_index(index)]; }
  uint32_t row_id(uint32_t index) const { return columns_.row_ids[index]; }
  Event event(uint32_t index) const;

  // That occur in it.
  std::span<const Category> categories() const { return categories_; }
  // The dictionary, and an event's entry in it: to test many events against a set of names.
  std::span<const LaneName> names() const { return packed_.names; }
  uint32_t name_index(uint32_t index) const {
    return columns_.wide_names.empty() ? columns_.narrow_names[index] : columns_.wide_names[index];
  }

  // The first event that begins at or after `time_ns`, at or behind `from`; size() if none.
  uint32_t FirstBeginningAt(int64_t time_ns, uint32_t from = 0) const;
  // Sixteen events are a node. The first node whose first event begins at or after `time_ns`, at or
  // behind node `from`; nodes() if none.
  uint32_t FirstNodeBeginningAt(int64_t time_ns, uint32_t from) const;
  uint32_t nodes() const { return static_cast<uint32_t>(columns_.node_begins.size()); }
  // Has the memory of an event brought near, if there is such an event.
  void WillRead(uint32_t index) const {
    if (index >= size()) return;
    __builtin_prefetch(&columns_.begins[index]);
    __builtin_prefetch(&columns_.durations[index]);
    if (columns_.wide_names.empty()) __builtin_prefetch(&columns_.narrow_names[index]);
  }
  // The first event that is not over at `time_ns`: ends after it or begins no earlier; size() if
  // none.
  uint32_t FirstEndingAfter(int64_t time_ns) const;

  LaneSummary Summarize(uint32_t first, uint32_t last) const;
  // Adds the durations of the events [first, last) by category. Independent of how many they are.
  void AddDurations(uint32_t first, uint32_t last, CategoryNs* busy_ns) const;
  // Adds the time that [begin_ns, end_ns) spends in each category.
  void AddBusy(int64_t begin_ns, int64_t end_ns, CategoryNs* busy_ns) const;

  // The same events `shift_ns` later. Shares the columns but those of its blocks.
  Lane MovedBy(int64_t shift_ns) const;

  // What it is made of; not moved.
  const PackedLane& packed() const { return packed_; }
  size_t bytes() const;

 private:
  int64_t LongNs(uint32_t index) const;
  int64_t BusyBefore(uint32_t node, size_t category) const;
  void AddNode(const LaneLevel& nodes, uint32_t node, LaneSummary* summary) const;
  void AddLevel(size_t level, uint32_t first, uint32_t last, LaneSummary* summary) const;
  void AddNodes(uint32_t first, uint32_t last, LaneSummary* summary) const;
  void AddEvents(uint32_t first, uint32_t last, LaneSummary* summary) const;
  void AddWholeNodes(uint32_t first, uint32_t last, CategoryNs* busy_ns) const;

  // Of a lane that was moved.
  struct MovedTimes {
    std::vector<LaneBlock> blocks;
    std::vector<int64_t> wide_begins;
  };

  PackedLane packed_;
  LaneColumns columns_;  // in packed_.bytes and moved_
  std::shared_ptr<const MovedTimes> moved_;
  std::vector<Category> categories_;  // that occur
};

}  // namespace tutti::viewer
