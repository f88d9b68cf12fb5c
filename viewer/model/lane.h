// Events that do not overlap, in order of time, packed: about 15 bytes each. What a row of the
// timeline draws from, at any zoom, without touching more than a few nodes per pixel.
//
//   columns   begin (32 bits from its block's base), duration (32 bits), name (16 or 32 bits,
//             of the lane's own dictionary), row id (32 bits); what does not fit lies in side
//             tables, so times are exact to the nanosecond over any span
//   pyramid   for every 16, 256, … events: which is longest; before every 16th: how long was spent
//             in each category that the lane has, so that any range's time is a difference
//
// Immutable once built, so any number of threads may read it.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "viewer/model/event.h"

namespace tutti::viewer {

// What events of one lane may have in common: an entry of its dictionary.
struct LaneName {
  NameId name = 0;
  Category category = Category::kHost;
  Source source = Source::kCpuOp;
  bool is_open = false;
  friend bool operator==(const LaneName&, const LaneName&) = default;
};

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
  explicit Lane(std::span<const Event> events);

  uint32_t size() const { return static_cast<uint32_t>(begin_.size()); }
  int64_t begin_ns(uint32_t index) const {
    const Block& block = blocks_[index / kBlock];
    if (block.wide >= 0) return wide_begin_[static_cast<size_t>(block.wide) + index % kBlock];
    return block.base_ns + begin_[index];
  }
  int64_t duration_ns(uint32_t index) const {
    return duration_[index] != kLong ? duration_[index] : LongDuration(index);
  }
  int64_t end_ns(uint32_t index) const { return begin_ns(index) + duration_ns(index); }
  const LaneName& name(uint32_t index) const { return names_[name_index(index)]; }
  uint32_t row_id(uint32_t index) const { return row_id_[index]; }
  Event event(uint32_t index) const;

  // The dictionary, and an event's entry in it: to test many events against a set of names.
  std::span<const LaneName> names() const { return names_; }
  uint32_t name_index(uint32_t index) const {
    return narrow_name_.empty() ? wide_name_[index] : narrow_name_[index];
  }

  // The first event that begins at or after `time_ns`, at or behind `from`; size() if none.
  uint32_t FirstBeginningAt(int64_t time_ns, uint32_t from = 0) const;
  // The first event that is not over at `time_ns`: ends after it or begins no earlier; size() if
  // none.
  uint32_t FirstEndingAfter(int64_t time_ns) const;

  LaneSummary Summarize(uint32_t first, uint32_t last) const;
  // Adds the durations of the events [first, last) by category. Independent of how many they are.
  void AddDurations(uint32_t first, uint32_t last, CategoryNs* busy_ns) const;
  // Adds the time that [begin_ns, end_ns) spends in each category.
  void AddBusy(int64_t begin_ns, int64_t end_ns, CategoryNs* busy_ns) const;

  size_t bytes() const;

 private:
  static constexpr uint32_t kBlock = 256;  // events that share a base
  static constexpr uint32_t kFan = 16;
  static constexpr uint32_t kLong = UINT32_MAX;  // the duration is in long_

  struct Block {
    int64_t base_ns = 0;
    int64_t wide = -1;  // its begins are wide_begin_[wide…], -1: they fit
  };
  struct Level {
    std::vector<uint32_t> longest;
    std::vector<int64_t> busy_ns;  // lowest level only: time in each of present_ before a node
  };

  int64_t LongDuration(uint32_t index) const;
  void AppendBlock(std::span<const Event> events);
  void AppendName(const Event& event);
  void BuildPyramid();
  void AddNode(size_t level, uint32_t node, LaneSummary* summary) const;
  void AddNodes(uint32_t first, uint32_t last, LaneSummary* summary) const;
  void AddEvents(uint32_t first, uint32_t last, LaneSummary* summary) const;

  std::vector<Block> blocks_;
  std::vector<uint32_t> begin_;
  std::vector<int64_t> wide_begin_;
  std::vector<uint32_t> duration_;
  std::vector<std::pair<uint32_t, int64_t>> long_;  // (index, duration), by index
  std::vector<uint16_t> narrow_name_;               // empty once a lane has 65,536 names
  std::vector<uint32_t> wide_name_;
  std::vector<uint32_t> row_id_;
  std::vector<LaneName> names_;
  std::unordered_map<uint64_t, uint32_t> name_ids_;  // only while it is built
  std::vector<Category> present_;                    // categories that occur
  std::vector<Level> levels_;                        // of 16, 256, … events a node
};

}  // namespace tutti::viewer
