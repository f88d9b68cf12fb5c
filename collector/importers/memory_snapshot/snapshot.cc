#include "collector/importers/memory_snapshot/snapshot.h"

#include <algorithm>

namespace tutti::collector::importers::memory_snapshot {
namespace {

using pickle::DictEntry;
using pickle::Value;
using pickle::ValueKind;

constexpr size_t kMostFrames = 1'000;
constexpr size_t kMostTextBytes = 4'096;  // of a name
// Values looked at, for each byte of the file and to start with. A real snapshot takes
// three a byte.
constexpr size_t kWorkPerByte = 50;
constexpr size_t kWorkToStart = 1'000'000;

std::string TextOf(Value value) {
  if (const auto text = value.Text()) return std::string(text->substr(0, kMostTextBytes));
  if (const auto number = value.Int()) return std::to_string(*number);
  return "?";
}

std::string_view ViewOf(Value value) {
  return value.Text().value_or(std::string_view()).substr(0, kMostTextBytes);
}

std::optional<int64_t> Size(Value value) {
  const std::optional<int64_t> size = value.Int();
  if (!size || *size < 0) return std::nullopt;
  return size;
}

// (0, 0) is the common pool.
std::string PoolOf(Value id) {
  std::string text;
  bool is_common = true;
  for (const Value part : id.Items().first(std::min<size_t>(id.Items().size(), 4))) {
    text += (text.empty() ? "(" : ", ") + TextOf(part);
    is_common = is_common && part.Int() == 0;
  }
  return text.empty() || is_common ? "" : text + ")";
}

class Walker {
 public:
  Walker(Value root, size_t input_bytes, Visitor& visitor)
      : root_(root), work_left_(kWorkToStart + kWorkPerByte * input_bytes), visitor_(visitor) {}

  void Walk() {
    const Value segments = root_.kind() == ValueKind::kDict ? root_.Get("segments") : root_;
    for (const Value segment : segments.Items()) WalkSegment(segment);
    const std::span<const Value> traces = root_.Get("device_traces").Items();
    for (size_t device = 0; device < traces.size(); ++device) {
      for (const Value event : traces[device].Items()) WalkEvent(event, device);
    }
    for (const char* key : {"external_annotations", "allocator_settings"}) {
      const Value value = root_.Get(key);
      const size_t count = value.Items().size() + (value.Entries().empty() ? 0 : 1);
      if (count > 0) visitor_.OnOddity(key, static_cast<int64_t>(count));
    }
    if (repeats_ > 0) visitor_.OnOddity("snapshot_repeats_itself", repeats_);
  }

 private:
  // Each key of a dict is looked up in turn.
  bool Spend(Value dict) {
    const size_t work = 10 + 10 * dict.Entries().size();
    if (work > work_left_) {
      ++repeats_;
      return false;
    }
    work_left_ -= work;
    return true;
  }

  void WalkSegment(Value value) {
    if (!Spend(value)) return;
    Segment segment;
    const auto address = value.Get("address").Bits64();
    const auto bytes = Size(value.Get("total_size"));
    if (!address || !bytes) return visitor_.OnOddity("segment_not_readable", 1);
    segment.device = value.Get("device").Int().value_or(0);
    segment.stream = value.Get("stream").Bits64();
    segment.address = *address;
    segment.bytes = *bytes;
    segment.allocated_bytes = Size(value.Get("allocated_size"));
    segment.active_bytes = Size(value.Get("active_size"));
    segment.requested_bytes = Size(value.Get("requested_size"));
    segment.kind = ViewOf(value.Get("segment_type"));
    segment.pool = PoolOf(value.Get("segment_pool_id"));
    segment.is_expandable = value.Get("is_expandable").Bool();
    segment.frames = value.Get("frames");
    visitor_.OnSegment(segment);
    WalkBlocks(value.Get("blocks"), segment.address);
  }

  // Blocks fill their segment; the old ones don't say where they are.
  void WalkBlocks(Value blocks, int64_t address) {
    for (const Value value : blocks.Items()) {
      if (!Spend(value)) return;
      Block block;
      const auto bytes = Size(value.Get("size"));
      if (!bytes) {
        visitor_.OnOddity("block_not_readable", 1);
        continue;
      }
      block.address = value.Get("address").Bits64().value_or(address);
      block.bytes = *bytes;
      block.requested_bytes = Size(value.Get("requested_size"));
      block.state = ViewOf(value.Get("state"));
      block.frames = value.Get("frames");
      if (block.frames.is_none() && !value.Get("history").Items().empty()) {
        const Value last = value.Get("history").Items().front();
        block.frames = last.Get("frames");
        if (!block.requested_bytes) block.requested_bytes = Size(last.Get("real_size"));
      }
      visitor_.OnBlock(block);
      address = static_cast<int64_t>(static_cast<uint64_t>(block.address) +
                                     static_cast<uint64_t>(block.bytes));
    }
  }

  void WalkEvent(Value value, size_t device) {
    if (!Spend(value)) return;
    Event event;
    event.device = device;
    event.action = ViewOf(value.Get("action"));
    if (event.action.empty()) return visitor_.OnOddity("event_not_readable", 1);
    Value address = value.Get("addr");
    if (address.is_none()) address = value.Get("address");
    const auto bytes = Size(value.Get("size"));
    const bool has_block = event.action != "oom" && event.action != "snapshot";
    if (has_block && (!address.Bits64() || !bytes)) {
      return visitor_.OnOddity("event_not_readable", 1);
    }
    event.address = address.Bits64().value_or(0);
    event.bytes = bytes.value_or(0);
    event.stream = value.Get("stream").Bits64();
    event.time_us = value.Get("time_us").Int();
    event.frames = value.Get("frames");
    visitor_.OnEvent(event);
  }

  Value root_;
  size_t work_left_;
  Visitor& visitor_;
  int64_t repeats_ = 0;
};

}  // namespace

bool IsSnapshot(Value root) {
  if (root.kind() == ValueKind::kDict) return root.Has("segments") || root.Has("device_traces");
  const std::span<const Value> items = root.Items();
  return root.kind() == ValueKind::kList && !items.empty() && items[0].Has("total_size") &&
         items[0].Has("blocks");
}

void Walk(Value root, size_t input_bytes, Visitor& visitor) {
  Walker(root, input_bytes, visitor).Walk();
}

std::string StackText(Value frames) {
  std::string text;
  size_t count = 0;
  for (const Value frame : frames.Items()) {
    if (++count > kMostFrames) break;
    if (!text.empty()) text += '\n';
    if (frame.Text()) {
      text += TextOf(frame);
    } else {
      text += TextOf(frame.Get("name")) + " (" + TextOf(frame.Get("filename")) + ":" +
              TextOf(frame.Get("line")) + ")";
    }
  }
  return text;
}

}  // namespace tutti::collector::importers::memory_snapshot
