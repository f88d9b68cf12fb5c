#include "viewer/model/lane_columns.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <unordered_map>
#include <utility>

namespace tutti::viewer {
namespace {

size_t NodesOver(size_t below) { return (below + kFan - 1) / kFan; }

// Calls `visit` with each column and its length, in the order in which they lie.
template <typename Columns, typename Visitor>
void VisitColumns(Columns& columns, const LaneCounts& counts, Visitor&& visit) {
  const size_t events = counts.events;
  const size_t nodes = NodesOver(events);
  const size_t blocks = (events + kBlock - 1) / kBlock;
  visit(columns.blocks, blocks);
  visit(columns.begins, events);
  visit(columns.node_begins, nodes);
  visit(columns.wide_begins, size_t{counts.wide_begins});
  visit(columns.durations, events);
  visit(columns.long_durations, size_t{counts.long_durations});
  visit(columns.narrow_names, counts.has_wide_names != 0 ? 0 : events);
  visit(columns.wide_names, counts.has_wide_names != 0 ? events : 0);
  visit(columns.row_ids, events);
  columns.level_count = 0;
  const size_t sums = events > kFan ? nodes * counts.categories : 0;
  visit(columns.wide_busy, counts.has_wide_busy != 0 ? sums : 0);
  visit(columns.busy_bases,
        counts.has_wide_busy != 0 || sums == 0 ? 0 : blocks * counts.categories);
  visit(columns.narrow_busy, counts.has_wide_busy != 0 ? 0 : sums);
  for (size_t below = events; below > kFan;) {
    below = NodesOver(below);
    auto& level = columns.levels[columns.level_count++];
    visit(level.longest, below);
    visit(level.longest_ns, below);
  }
}

size_t Aligned(size_t bytes) {
  return (bytes + kColumnAlignment - 1) / kColumnAlignment * kColumnAlignment;
}

// The same columns while they grow.
struct DraftLevel {
  std::vector<uint32_t> longest;
  std::vector<uint32_t> longest_ns;
};
struct DraftColumns {
  std::vector<LaneBlock> blocks;
  std::vector<uint32_t> begins;
  std::vector<uint32_t> node_begins;
  std::vector<int64_t> wide_begins;
  std::vector<uint32_t> durations;
  std::vector<LongDuration> long_durations;
  std::vector<uint16_t> narrow_names;
  std::vector<uint32_t> wide_names;
  std::vector<uint32_t> row_ids;
  std::vector<int64_t> wide_busy;
  std::vector<int64_t> busy_bases;
  std::vector<uint32_t> narrow_busy;
  std::array<DraftLevel, kMostLevels> levels;
  size_t level_count = 0;
};

class Packer {
 public:
  explicit Packer(std::span<const Event> events) : events_(events) {
    columns_.begins.reserve(events.size());
    columns_.durations.reserve(events.size());
    columns_.narrow_names.reserve(events.size());
    columns_.row_ids.reserve(events.size());
    for (size_t first = 0; first < events.size(); first += kBlock) {
      AppendBlock(events.subspan(first, std::min<size_t>(kBlock, events.size() - first)));
    }
    BuildPyramid();
  }

  PackedLane Take() {
    PackedLane packed;
    packed.counts = {
        .events = static_cast<uint32_t>(events_.size()),
        .wide_begins = static_cast<uint32_t>(columns_.wide_begins.size()),
        .long_durations = static_cast<uint32_t>(columns_.long_durations.size()),
        .categories = static_cast<uint32_t>(CategoriesOf(names_).size()),
        .has_wide_names = columns_.wide_names.empty() ? 0U : 1U,
        .has_wide_busy = columns_.wide_busy.empty() ? 0U : 1U,
    };
    packed.bytes = Pack(packed.counts);
    packed.names = std::move(names_);
    return packed;
  }

 private:
  void AppendBlock(std::span<const Event> events) {
    LaneBlock block{.base_ns = events.front().begin_ns};
    const bool is_wide = events.back().begin_ns - block.base_ns >= int64_t{kLong};
    if (is_wide) block.wide = static_cast<int64_t>(columns_.wide_begins.size());
    columns_.blocks.push_back(block);
    for (const Event& event : events) {
      assert(event.end_ns >= event.begin_ns);
      if (is_wide) columns_.wide_begins.push_back(event.begin_ns);
      const uint32_t begin = is_wide ? 0 : static_cast<uint32_t>(event.begin_ns - block.base_ns);
      if (columns_.begins.size() % kFan == 0) columns_.node_begins.push_back(begin);
      columns_.begins.push_back(begin);
      AppendDuration(event.end_ns - event.begin_ns);
      AppendName(event);
      columns_.row_ids.push_back(event.row_id);
    }
  }

  void AppendDuration(int64_t ns) {
    const bool is_long = ns >= int64_t{kLong};
    if (is_long) {
      columns_.long_durations.push_back({static_cast<int64_t>(columns_.durations.size()), ns});
    }
    columns_.durations.push_back(is_long ? kLong : static_cast<uint32_t>(ns));
  }

  void AppendName(const Event& event) {
    const uint64_t key = (uint64_t{event.name} << 32) |
                         (static_cast<uint64_t>(event.category) << 16) |
                         (static_cast<uint64_t>(event.source) << 8) | (event.is_open ? 1 : 0);
    const auto next = static_cast<uint32_t>(names_.size());
    const auto [found, is_new] = name_ids_.try_emplace(key, next);
    if (is_new) {
      names_.push_back({event.name, event.category, event.source, event.is_open});
      if (next == UINT16_MAX + 1U) {
        columns_.wide_names.assign(columns_.narrow_names.begin(), columns_.narrow_names.end());
        columns_.narrow_names = std::vector<uint16_t>();
      }
    }
    if (names_.size() > UINT16_MAX + 1U) {
      columns_.wide_names.push_back(found->second);
    } else {
      columns_.narrow_names.push_back(static_cast<uint16_t>(found->second));
    }
  }

  int64_t DurationOf(uint32_t index) const {
    return events_[index].end_ns - events_[index].begin_ns;
  }

  void BuildPyramid() {
    if (events_.size() <= kFan) return;
    SumBusy(CategoriesOf(names_));
    for (size_t below = events_.size(); below > kFan; below = NodesOver(below)) AppendLevel(below);
  }

  void SumBusy(const std::vector<Category>& categories) {
    std::vector<int64_t>& sums = columns_.wide_busy;
    CategoryNs before = {};
    for (size_t i = 0; i < events_.size(); ++i) {
      if (i % kFan == 0) {
        for (const Category category : categories) {
          sums.push_back(before[static_cast<size_t>(category)]);
        }
      }
      before[static_cast<size_t>(events_[i].category)] += DurationOf(static_cast<uint32_t>(i));
    }
    Narrow(categories.size());
  }

  // Sums since the begins of blocks, if they fit.
  void Narrow(size_t width) {
    const std::vector<int64_t>& sums = columns_.wide_busy;
    const auto base_of = [&](size_t i) { return i / (kFan * width) * (kFan * width) + i % width; };
    for (size_t i = 0; i < sums.size(); ++i) {
      if (sums[i] - sums[base_of(i)] > int64_t{UINT32_MAX}) return;
    }
    columns_.narrow_busy.reserve(sums.size());
    for (size_t i = 0; i < sums.size(); ++i) {
      if (base_of(i) == i) columns_.busy_bases.push_back(sums[i]);
      columns_.narrow_busy.push_back(static_cast<uint32_t>(sums[i] - sums[base_of(i)]));
    }
    columns_.wide_busy.clear();
  }

  void AppendLevel(size_t below) {
    const std::vector<uint32_t>* lower =
        columns_.level_count == 0 ? nullptr : &columns_.levels[columns_.level_count - 1].longest;
    DraftLevel& level = columns_.levels[columns_.level_count++];
    for (size_t first = 0; first < below; first += kFan) {
      uint32_t longest = lower != nullptr ? (*lower)[first] : static_cast<uint32_t>(first);
      for (size_t i = first + 1; i < std::min(below, first + kFan); ++i) {
        const uint32_t candidate = lower != nullptr ? (*lower)[i] : static_cast<uint32_t>(i);
        if (DurationOf(candidate) > DurationOf(longest)) longest = candidate;
      }
      level.longest.push_back(longest);
      level.longest_ns.push_back(columns_.durations[longest]);
    }
  }

  std::shared_ptr<const std::byte> Pack(const LaneCounts& counts) {
    constexpr std::align_val_t kAlignment{kColumnAlignment};
    std::shared_ptr<std::byte> bytes(
        static_cast<std::byte*>(::operator new(LaneBytes(counts), kAlignment)),
        [](std::byte* block) { ::operator delete(block, kAlignment); });
    size_t at = 0;
    VisitColumns(columns_, counts, [&](auto& column, size_t count) {
      assert(column.size() == count);
      const size_t size = count * sizeof(column[0]);
      if (size > 0) std::memcpy(bytes.get() + at, column.data(), size);
      std::memset(bytes.get() + at + size, 0, Aligned(size) - size);
      at += Aligned(size);
      column = {};
    });
    return bytes;
  }

  std::span<const Event> events_;
  DraftColumns columns_;
  std::vector<LaneName> names_;
  std::unordered_map<uint64_t, uint32_t> name_ids_;
};

}  // namespace

size_t LaneBytes(const LaneCounts& counts) {
  LaneColumns columns;
  size_t bytes = 0;
  VisitColumns(columns, counts,
               [&](auto& column, size_t count) { bytes += Aligned(count * sizeof(column[0])); });
  return bytes;
}

LaneColumns ColumnsIn(const std::byte* bytes, const LaneCounts& counts) {
  LaneColumns columns;
  VisitColumns(columns, counts, [&]<typename T>(std::span<const T>& column, size_t count) {
    column = {reinterpret_cast<const T*>(bytes), count};
    bytes += Aligned(count * sizeof(T));
  });
  return columns;
}

PackedLane PackLane(std::span<const Event> events) { return Packer(events).Take(); }

std::vector<Category> CategoriesOf(std::span<const LaneName> names) {
  std::vector<Category> categories;
  for (const LaneName& entry : names) {
    if (std::find(categories.begin(), categories.end(), entry.category) == categories.end()) {
      categories.push_back(entry.category);
    }
  }
  return categories;
}

}  // namespace tutti::viewer
