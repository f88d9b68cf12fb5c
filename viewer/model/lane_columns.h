// A lane's columns and pyramid as they lie in memory: one block of bytes without pointers, the same
// in a cache file, so that a file that is mapped is used as it is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "viewer/model/event.h"

namespace tutti::viewer {

inline constexpr uint32_t kFan = 16;             // events of a node, nodes of the node above
inline constexpr uint32_t kBlock = kFan * kFan;  // events that share a base
inline constexpr uint32_t kLong = UINT32_MAX;    // the duration is in LaneColumns::long_durations
inline constexpr size_t kMostLevels = 8;         // of 16, 256, … events a node: 16^8 = 2^32
inline constexpr size_t kColumnAlignment = 64;   // a node's sixteen values are one cache line

// What events of one lane may have in common: an entry of its dictionary.
struct LaneName {
  NameId name = 0;
  Category category = Category::kHost;
  Source source = Source::kCpuOp;
  bool is_open = false;
  friend bool operator==(const LaneName&, const LaneName&) = default;
};

struct LaneBlock {
  int64_t base_ns = 0;  // begin of its first event
  int64_t wide = -1;    // its begins are wide_begins[wide…], -1: they fit
};

struct LongDuration {
  int64_t index = 0;
  int64_t ns = 0;
};

// Decides where each column lies.
struct LaneCounts {
  uint32_t events = 0;
  uint32_t wide_begins = 0;
  uint32_t long_durations = 0;
  uint32_t categories = 0;      // that occur
  uint32_t has_wide_names = 0;  // 1: more than 65,536
  uint32_t has_wide_busy = 0;   // 1: a block's time does not fit 32 bits
  friend bool operator==(const LaneCounts&, const LaneCounts&) = default;
};

// Nodes of a level: the longest event below each, the earliest of equals.
struct LaneLevel {
  std::span<const uint32_t> longest;     // its index
  std::span<const uint32_t> longest_ns;  // its duration, kLong if that is as long or longer
};

struct LaneColumns {
  std::span<const LaneBlock> blocks;
  std::span<const uint32_t> begins;       // since the block's base; 0 of wide blocks
  std::span<const uint32_t> node_begins;  // of every 16th event: what `begins` says
  std::span<const int64_t> wide_begins;
  std::span<const uint32_t> durations;
  std::span<const LongDuration> long_durations;  // by index
  std::span<const uint16_t> narrow_names;        // of the dictionary; one of the two is empty
  std::span<const uint32_t> wide_names;
  std::span<const uint32_t> row_ids;
  // Time in each category that occurs, in order of the dictionary, before every 16th event: whole
  // in wide_busy, or before its block in busy_bases and since then in narrow_busy.
  std::span<const int64_t> wide_busy;
  std::span<const int64_t> busy_bases;
  std::span<const uint32_t> narrow_busy;
  std::array<LaneLevel, kMostLevels> levels;
  size_t level_count = 0;
};

// What a lane of these counts takes.
size_t LaneBytes(const LaneCounts& counts);
// The columns in such a block, which is aligned to kColumnAlignment.
LaneColumns ColumnsIn(const std::byte* bytes, const LaneCounts& counts);

struct PackedLane {
  LaneCounts counts;
  std::vector<LaneName> names;
  std::shared_ptr<const std::byte> bytes;  // LaneBytes(counts) of them
};

// `events` are in order of begin_ns and each begins no earlier than the one before it ends.
PackedLane PackLane(std::span<const Event> events);

// Categories of a dictionary in the order in which they first occur.
std::vector<Category> CategoriesOf(std::span<const LaneName> names);

}  // namespace tutti::viewer
