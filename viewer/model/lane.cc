#include "viewer/model/lane.h"

#include <algorithm>

namespace tutti::viewer {

Lane::Lane(PackedLane packed)
    : packed_(std::move(packed)),
      columns_(ColumnsIn(packed_.bytes.get(), packed_.counts)),
      categories_(CategoriesOf(packed_.names)) {}

int64_t Lane::LongNs(uint32_t index) const {
  return std::lower_bound(columns_.long_durations.begin(), columns_.long_durations.end(), index,
                          [](const LongDuration& entry, uint32_t i) { return entry.index < i; })
      ->ns;
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
  // Further away: the last node that begins before it, then the events of that node.
  const uint32_t node = FirstNodeBeginningAt(time_ns, low / kFan + 1) - 1;
  low = std::max(low, node * kFan);
  const uint32_t high = std::min(size(), (node + 1) * kFan);
  while (low < high && begin_ns(low) < time_ns) ++low;
  return low;
}

uint32_t Lane::FirstNodeBeginningAt(int64_t time_ns, uint32_t from) const {
  if (from >= nodes()) return nodes();
  // Galloping over the blocks, whose bases lie close together in memory, to the last that begins
  // before the time.
  const std::span<const LaneBlock> blocks = columns_.blocks;
  const auto is_before = [time_ns](const LaneBlock& block) { return block.base_ns < time_ns; };
  size_t block = from / kFan;
  size_t step = 1;
  while (block + step < blocks.size() && is_before(blocks[block + step])) {
    block += step;
    step *= 2;
  }
  const auto first = blocks.begin() + static_cast<std::ptrdiff_t>(block) + 1;
  const auto last =
      blocks.begin() + static_cast<std::ptrdiff_t>(std::min(block + step, blocks.size()));
  block = static_cast<size_t>(std::partition_point(first, last, is_before) - blocks.begin()) - 1;
  uint32_t node = std::max(from, static_cast<uint32_t>(block) * kFan);
  const uint32_t end = std::min(nodes(), static_cast<uint32_t>(block + 1) * kFan);
  if (blocks[block].wide >= 0) {
    while (node < end && begin_ns(node * kFan) < time_ns) ++node;
    return node;
  }
  const int64_t since_base = time_ns - blocks[block].base_ns;
  while (node < end && columns_.node_begins[node] < since_base) ++node;
  return node;
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
  // One by one at the ends, by nodes in between. What is before a node's begin is known of every
  // node but not of the lane's end.
  const auto nodes = static_cast<uint32_t>(columns_.levels[0].longest.size());
  const uint32_t whole_first = (first + kFan - 1) / kFan;
  const uint32_t whole_last = std::min(last / kFan, nodes == 0 ? 0 : nodes - 1);
  if (whole_first >= whole_last) {
    AddEvents(first, last, &summary);
    return summary;
  }
  AddEvents(first, whole_first * kFan, &summary);
  AddEvents(whole_last * kFan, last, &summary);
  AddWholeNodes(whole_first, whole_last, &summary.busy_ns);
  AddNodes(whole_first, whole_last, &summary);
  return summary;
}

// Up the pyramid while nodes are whole, left and right ends on the way.
void Lane::AddNodes(uint32_t first, uint32_t last, LaneSummary* summary) const {
  for (size_t level = 0; first < last; ++level) {
    if (level + 1 == columns_.level_count) return AddLevel(level, first, last, summary);
    const uint32_t whole_first = std::min(last, (first + kFan - 1) / kFan * kFan);
    const uint32_t whole_last = std::max(whole_first, last / kFan * kFan);
    AddLevel(level, first, whole_first, summary);
    AddLevel(level, whole_last, last, summary);
    first = whole_first / kFan;
    last = whole_last / kFan;
  }
}

// The inner loop of a frame: a fold of a few events a pixel looks at each of them.
void Lane::AddEvents(uint32_t first, uint32_t last, LaneSummary* summary) const {
  const auto add = [&](const auto* name_index_of) {
    uint32_t longest = summary->longest;
    int64_t longest_ns = summary->longest_ns;
    for (uint32_t i = first; i < last; ++i) {
      const int64_t duration = duration_ns(i);
      const LaneName& entry = packed_.names[name_index_of[i]];
      summary->busy_ns[static_cast<size_t>(entry.category)] += duration;
      if (duration > longest_ns || (duration == longest_ns && i < longest)) {
        longest = i;
        longest_ns = duration;
      }
    }
    summary->longest = longest;
    summary->longest_ns = longest_ns;
  };
  if (columns_.wide_names.empty()) {
    add(columns_.narrow_names.data());
  } else {
    add(columns_.wide_names.data());
  }
}

int64_t Lane::BusyBefore(uint32_t node, size_t category) const {
  const size_t width = categories_.size();
  if (!columns_.wide_busy.empty()) return columns_.wide_busy[node * width + category];
  return columns_.busy_bases[node / kFan * width + category] +
         columns_.narrow_busy[node * width + category];
}

void Lane::AddWholeNodes(uint32_t first, uint32_t last, CategoryNs* busy_ns) const {
  for (size_t i = 0; i < categories_.size(); ++i) {
    (*busy_ns)[static_cast<size_t>(categories_[i])] += BusyBefore(last, i) - BusyBefore(first, i);
  }
}

void Lane::AddDurations(uint32_t first, uint32_t last, CategoryNs* busy_ns) const {
  const auto add = [&](uint32_t i) {
    (*busy_ns)[static_cast<size_t>(name(i).category)] += duration_ns(i);
  };
  for (; first < last && first % kFan != 0; ++first) add(first);
  for (; first < last && last % kFan != 0; --last) add(last - 1);
  // Whole nodes. Behind the last of them there is none to tell what is before its end.
  const size_t nodes = columns_.levels[0].longest.size();
  while (last > first && last / kFan >= nodes) add(--last);
  for (; first < last && last % kFan != 0; --last) add(last - 1);
  if (first < last) AddWholeNodes(first / kFan, last / kFan, busy_ns);
}

// The longest of the nodes [first, last) of a level; only that one is looked at closely.
void Lane::AddLevel(size_t level, uint32_t first, uint32_t last, LaneSummary* summary) const {
  if (first >= last) return;
  const LaneLevel& nodes = columns_.levels[level];
  uint32_t best = first;
  for (uint32_t node = first + 1; node < last; ++node) {
    if (nodes.longest_ns[node] > nodes.longest_ns[best]) best = node;
  }
  AddNode(nodes, best, summary);
  // Of those whose durations do not fit, which is longest stands elsewhere.
  if (nodes.longest_ns[best] != kLong) return;
  for (uint32_t node = best + 1; node < last; ++node) {
    if (nodes.longest_ns[node] == kLong) AddNode(nodes, node, summary);
  }
}

void Lane::AddNode(const LaneLevel& nodes, uint32_t node, LaneSummary* summary) const {
  const uint32_t longest = nodes.longest[node];
  int64_t duration = nodes.longest_ns[node];
  if (duration == kLong) duration = LongNs(longest);
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

Lane Lane::MovedBy(int64_t shift_ns) const {
  MovedTimes times{{columns_.blocks.begin(), columns_.blocks.end()},
                   {columns_.wide_begins.begin(), columns_.wide_begins.end()}};
  for (LaneBlock& block : times.blocks) block.base_ns += shift_ns;
  for (int64_t& begin : times.wide_begins) begin += shift_ns;
  Lane lane = *this;
  lane.moved_ = std::make_shared<const MovedTimes>(std::move(times));
  lane.columns_.blocks = lane.moved_->blocks;
  lane.columns_.wide_begins = lane.moved_->wide_begins;
  return lane;
}

size_t Lane::bytes() const {
  return LaneBytes(packed_.counts) + packed_.names.capacity() * sizeof(LaneName);
}

}  // namespace tutti::viewer
