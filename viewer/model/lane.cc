#include "viewer/model/lane.h"

#include <algorithm>
#include <cassert>

namespace tutti::viewer {
namespace {

template <typename T>
size_t BytesOf(const std::vector<T>& values) {
  return values.capacity() * sizeof(T);
}

uint64_t KeyOf(const Event& event) {
  return (uint64_t{event.name} << 32) | (static_cast<uint64_t>(event.category) << 16) |
         (static_cast<uint64_t>(event.source) << 8) | (event.is_open ? 1 : 0);
}

}  // namespace

Lane::Lane(std::span<const Event> events) {
  begin_.reserve(events.size());
  duration_.reserve(events.size());
  narrow_name_.reserve(events.size());
  row_id_.reserve(events.size());
  blocks_.reserve(events.size() / kBlock + 1);
  for (size_t first = 0; first < events.size(); first += kBlock) {
    AppendBlock(events.subspan(first, std::min<size_t>(kBlock, events.size() - first)));
  }
  name_ids_ = decltype(name_ids_)();
  BuildPyramid();
}

void Lane::AppendBlock(std::span<const Event> events) {
  Block block{.base_ns = events.front().begin_ns};
  if (events.back().begin_ns - block.base_ns >= int64_t{kLong}) {
    block.wide = static_cast<int64_t>(wide_begin_.size());
  }
  for (const Event& event : events) {
    assert(begin_.empty() || event.begin_ns >= end_ns(size() - 1));
    const int64_t since_base = event.begin_ns - block.base_ns;
    const int64_t duration = event.end_ns - event.begin_ns;
    if (block.wide >= 0) wide_begin_.push_back(event.begin_ns);
    if (duration >= int64_t{kLong}) long_.emplace_back(size(), duration);
    duration_.push_back(duration >= int64_t{kLong} ? kLong : static_cast<uint32_t>(duration));
    AppendName(event);
    row_id_.push_back(event.row_id);
    if (begin_.size() % kBlock == 0) blocks_.push_back(block);
    begin_.push_back(block.wide >= 0 ? 0 : static_cast<uint32_t>(since_base));
  }
}

void Lane::AppendName(const Event& event) {
  const auto next = static_cast<uint32_t>(names_.size());
  const auto [found, is_new] = name_ids_.try_emplace(KeyOf(event), next);
  if (is_new) {
    names_.push_back({event.name, event.category, event.source, event.is_open});
    if (std::find(present_.begin(), present_.end(), event.category) == present_.end()) {
      present_.push_back(event.category);
    }
    if (next == UINT16_MAX + 1U) {
      wide_name_.assign(narrow_name_.begin(), narrow_name_.end());
      narrow_name_ = std::vector<uint16_t>();
    }
  }
  if (names_.size() > UINT16_MAX + 1U) {
    wide_name_.push_back(found->second);
  } else {
    narrow_name_.push_back(static_cast<uint16_t>(found->second));
  }
}

void Lane::BuildPyramid() {
  for (uint32_t below = size(); below > kFan;) {
    const uint32_t nodes = (below + kFan - 1) / kFan;
    Level level;
    level.longest.reserve(nodes);
    CategoryNs before = {};
    for (uint32_t node = 0; node < nodes; ++node) {
      LaneSummary summary;
      for (uint32_t i = node * kFan; i < std::min(below, (node + 1) * kFan); ++i) {
        if (levels_.empty()) {
          AddEvents(i, i + 1, &summary);
        } else {
          AddNode(levels_.size() - 1, i, &summary);
        }
      }
      level.longest.push_back(summary.longest);
      if (!levels_.empty()) continue;
      for (const Category category : present_) {
        level.busy_ns.push_back(before[static_cast<size_t>(category)]);
      }
      for (size_t i = 0; i < kCategories; ++i) before[i] += summary.busy_ns[i];
    }
    level.busy_ns.shrink_to_fit();
    levels_.push_back(std::move(level));
    below = nodes;
  }
}

int64_t Lane::LongDuration(uint32_t index) const {
  return std::lower_bound(long_.begin(), long_.end(), std::pair(index, int64_t{0}))->second;
}

Event Lane::event(uint32_t index) const {
  const LaneName& entry = name(index);
  return {.begin_ns = begin_ns(index),
          .end_ns = end_ns(index),
          .name = entry.name,
          .row_id = row_id(index),
          .category = entry.category,
          .source = entry.source,
          .is_open = entry.is_open};
}

uint32_t Lane::FirstBeginningAt(int64_t time_ns, uint32_t from) const {
  // The next pixel's first event is near this one's.
  constexpr uint32_t kNear = 8;
  uint32_t low = from;
  for (const uint32_t near = std::min(size(), from + kNear); low < near; ++low) {
    if (begin_ns(low) >= time_ns) return low;
  }
  if (low >= size()) return size();
  // Further away: galloping over the blocks, whose bases lie close together in memory.
  size_t block = low / kBlock;
  size_t step = 1;
  while (block + step < blocks_.size() && blocks_[block + step].base_ns < time_ns) {
    block += step;
    step *= 2;
  }
  const auto first = blocks_.begin() + static_cast<std::ptrdiff_t>(block) + 1;
  const auto last =
      blocks_.begin() + static_cast<std::ptrdiff_t>(std::min(block + step, blocks_.size()));
  const auto next = static_cast<uint32_t>(
      std::partition_point(
          first, last, [time_ns](const Block& candidate) { return candidate.base_ns < time_ns; }) -
      blocks_.begin());
  low = std::max(low, (next - 1) * kBlock);
  uint32_t high = std::min(size(), next * kBlock);
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (begin_ns(middle) < time_ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

uint32_t Lane::FirstEndingAfter(int64_t time_ns) const {
  uint32_t first = FirstBeginningAt(time_ns);
  while (first > 0 && end_ns(first - 1) > time_ns) --first;
  return first;
}

LaneSummary Lane::Summarize(uint32_t first, uint32_t last) const {
  LaneSummary summary;
  if (last <= first) return summary;
  summary.count = last - first;
  // One by one at the ends, by nodes in between. What busy_ns holds before a node's begin is known
  // of every node but not of the lane's end.
  const uint32_t nodes = levels_.empty() ? 0 : static_cast<uint32_t>(levels_[0].longest.size());
  const uint32_t whole_first = (first + kFan - 1) / kFan;
  const uint32_t whole_last = std::min(last / kFan, nodes == 0 ? 0 : nodes - 1);
  if (whole_first >= whole_last) {
    AddEvents(first, last, &summary);
    return summary;
  }
  AddEvents(first, whole_first * kFan, &summary);
  AddEvents(whole_last * kFan, last, &summary);
  const size_t width = present_.size();
  for (size_t i = 0; i < width; ++i) {
    summary.busy_ns[static_cast<size_t>(present_[i])] +=
        levels_[0].busy_ns[whole_last * width + i] - levels_[0].busy_ns[whole_first * width + i];
  }
  AddNodes(whole_first, whole_last, &summary);
  return summary;
}

// Up the pyramid while nodes are whole, left and right ends on the way.
void Lane::AddNodes(uint32_t first, uint32_t last, LaneSummary* summary) const {
  for (size_t level = 0; first < last; ++level) {
    const bool is_top = level + 1 == levels_.size();
    for (; first < last && (is_top || first % kFan != 0); ++first) AddNode(level, first, summary);
    for (; first < last && last % kFan != 0; --last) AddNode(level, last - 1, summary);
    first /= kFan;
    last /= kFan;
  }
}

// The inner loop of a frame: a fold of a few events a pixel looks at each of them.
void Lane::AddEvents(uint32_t first, uint32_t last, LaneSummary* summary) const {
  const auto add = [&](const auto* name_index_of) {
    uint32_t longest = summary->longest;
    int64_t longest_ns = summary->longest_ns;
    for (uint32_t i = first; i < last; ++i) {
      const int64_t duration = duration_ns(i);
      summary->busy_ns[static_cast<size_t>(names_[name_index_of[i]].category)] += duration;
      if (duration > longest_ns || (duration == longest_ns && i < longest)) {
        longest = i;
        longest_ns = duration;
      }
    }
    summary->longest = longest;
    summary->longest_ns = longest_ns;
  };
  if (narrow_name_.empty()) {
    add(wide_name_.data());
  } else {
    add(narrow_name_.data());
  }
}

void Lane::AddDurations(uint32_t first, uint32_t last, CategoryNs* busy_ns) const {
  const auto add = [&](uint32_t i) {
    (*busy_ns)[static_cast<size_t>(name(i).category)] += duration_ns(i);
  };
  for (; first < last && first % kFan != 0; ++first) add(first);
  for (; first < last && last % kFan != 0; --last) add(last - 1);
  if (first >= last) return;
  // Whole nodes. Behind the last of them there is none to tell what is before its end.
  const size_t nodes = levels_.empty() ? 0 : levels_[0].longest.size();
  while (last > first && last / kFan >= nodes) add(--last);
  if (first >= last) return;
  for (; last % kFan != 0; --last) add(last - 1);
  for (size_t i = 0; i < present_.size(); ++i) {
    const size_t width = present_.size();
    (*busy_ns)[static_cast<size_t>(present_[i])] +=
        levels_[0].busy_ns[last / kFan * width + i] - levels_[0].busy_ns[first / kFan * width + i];
  }
}

void Lane::AddNode(size_t level, uint32_t node, LaneSummary* summary) const {
  const Level& nodes = levels_[level];
  const uint32_t longest = nodes.longest[node];
  const int64_t duration = duration_ns(longest);
  if (duration > summary->longest_ns ||
      (duration == summary->longest_ns && longest < summary->longest)) {
    summary->longest = longest;
    summary->longest_ns = duration;
  }
}

void Lane::AddBusy(int64_t begin, int64_t end, CategoryNs* busy_ns) const {
  uint32_t first = FirstEndingAfter(begin);
  uint32_t last = FirstBeginningAt(end, first);
  const auto add_clipped = [&](uint32_t i) {
    const int64_t inside = std::min(end, end_ns(i)) - std::max(begin, begin_ns(i));
    (*busy_ns)[static_cast<size_t>(name(i).category)] += std::max<int64_t>(0, inside);
  };
  if (first < last && begin_ns(first) < begin) add_clipped(first++);
  if (first < last && end_ns(last - 1) > end) add_clipped(--last);
  AddDurations(first, last, busy_ns);
}

size_t Lane::bytes() const {
  size_t bytes = BytesOf(blocks_) + BytesOf(begin_) + BytesOf(wide_begin_) + BytesOf(duration_) +
                 BytesOf(long_) + BytesOf(narrow_name_) + BytesOf(wide_name_) + BytesOf(row_id_) +
                 BytesOf(names_);
  for (const Level& level : levels_) bytes += BytesOf(level.longest) + BytesOf(level.busy_ns);
  return bytes;
}

}  // namespace tutti::viewer
