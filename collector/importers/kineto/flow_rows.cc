#include "collector/importers/kineto/flow_rows.h"

#include <xxhash.h>

#include <string>
#include <utility>

#include "collector/importers/kineto/json_text.h"
#include "collector/importers/kineto/number.h"

namespace tutti::collector::importers::kineto {
namespace {

constexpr const char* kKindNames[] = {"forward_backward", "launch", "other"};
constexpr Oddity kFlowsLost = {Severity::kDataLoss, "flow_lost",
                               "arrows were too many and could not be kept in a temporary file",
                               "set TMPDIR to a folder with room"};

uint64_t HashOf(std::string_view text, uint64_t seed) {
  return text.empty() ? seed : XXH3_64bits_withSeed(text.data(), text.size(), seed + 1);
}

}  // namespace

// Over all parts of what an arrow is known by. Ids are words or numbers; numbers that follow one
// another get slots that do, as they come soon after one another too.
uint64_t FlowRows::KeyOf(const RawEvent& event, uint32_t name_id) {
  constexpr uint64_t kNeighbours = 8;
  const uint64_t seed = HashOf(event.scope, HashOf(event.category, name_id));
  const std::string_view id = WithoutQuotes(event.id);
  const std::optional<int64_t> number = ParseInteger(id);
  if (!number || *number < 0) return HashOf(id, seed) | 1;
  const uint64_t block = static_cast<uint64_t>(*number) / kNeighbours;
  const uint64_t hash = XXH3_64bits_withSeed(&block, sizeof(block), seed);
  return (hash * kNeighbours + static_cast<uint64_t>(*number) % kNeighbours) << 1 | 1;
}

FlowRows::FlowRows(Context& context, size_t most_kept)
    : context_(context), most_kept_(most_kept), slots_(kFirstSlots) {}

// Kineto's names of what an arrow is, since 2021.
FlowRows::Kind FlowRows::KindOf(std::string_view category, std::string_view name) {
  const std::string_view text = WithoutQuotes(category);
  if (text == "fwdbwd" || text == "forward_backward") return kForwardBackward;
  const bool is_launch = text == "ac2g" || text == "async_cpu_to_gpu" || text == "async_gpu" ||
                         (text == "async" && WithoutQuotes(name) == "launch");
  return is_launch ? kLaunch : kOther;
}

void FlowRows::OnFlow(const RawEvent& event, char phase) {
  const std::optional<int64_t> time_ns = context_.TimeOf(event);
  if (!time_ns) return;
  Point point;
  point.time_ns = *time_ns;
  point.name_id = static_cast<uint32_t>(context_.strings.IdOf(event.name));
  point.key = KeyOf(event, point.name_id);
  point.track = context_.tracks.Of(event.pid, event.tid).index & kTrackMask;
  point.kind = KindOf(event.category, event.name);
  ++context_.events_read;
  // A step is the end of one arrow and the start of the next.
  if (phase != 's') AddPoint(point);
  point.is_start = true;
  if (phase != 'f') AddPoint(point);
}

void FlowRows::AddPoint(const Point& point) {
  if (has_spilled_) {
    if (!AppendToPart(point)) context_.ledger.Count(kFlowsLost, -1);
    return;
  }
  if (point.is_start) {
    AddStart(point);
  } else {
    AddEnd(point);
  }
  if (used_ > most_kept_) has_spilled_ = Spill();
}

template <typename Function>
void FlowRows::ForEachOf(uint64_t key, Function&& function) {
  const size_t mask = slots_.size() - 1;
  for (size_t at = (key >> 1) & mask; slots_[at].key != 0; at = (at + 1) & mask) {
    if (slots_[at].key == key) function(slots_[at]);
  }
}

void FlowRows::Insert(const Point& point) {
  if (used_ * 5 >= slots_.size() * 3) Grow();
  const size_t mask = slots_.size() - 1;
  size_t at = (point.key >> 1) & mask;
  while (slots_[at].key != 0) at = (at + 1) & mask;
  slots_[at] = point;
  ++used_;
}

void FlowRows::Grow() {
  std::vector<Point> old = std::exchange(slots_, std::vector<Point>(slots_.size() * 2));
  used_ = 0;
  for (const Point& point : old) {
    if (point.key != 0) Insert(point);
  }
}

void FlowRows::AddStart(const Point& start) {
  Point added = start;
  bool replaced = false;
  ForEachOf(start.key, [&](Point& other) {
    if (other.is_start) {
      // The id is used again: what follows belongs to the new start.
      if (!other.has_partner) ++dangling_;
      other = start;
      replaced = true;
    } else if (!other.has_partner) {
      other.has_partner = true;
      added.has_partner = true;
      Write(start, other);
    }
  });
  if (!replaced) return Insert(added);
  if (!added.has_partner) return;
  ForEachOf(start.key, [](Point& other) { other.has_partner = true; });
}

void FlowRows::AddEnd(const Point& end) {
  bool has_start = false;
  size_t waiting = 0;
  ForEachOf(end.key, [&](Point& start) {
    ++waiting;
    if (!start.is_start) return;
    start.has_partner = true;
    has_start = true;
    Write(start, end);
  });
  if (has_start) return;
  // So many ends of one arrow are no arrow; each would be looked at for every other.
  if (waiting < kMostWaiting) {
    Insert(end);
  } else {
    ++dangling_;
  }
}

void FlowRows::Write(const Point& start, const Point& end) {
  schema::FlowRow row;
  row.kind = kKindNames[start.kind];
  row.name_id = start.name_id;
  row.begin_ns = start.time_ns;
  row.end_ns = end.time_ns;
  const auto place = [this](const Point& point, std::optional<int64_t>& tid,
                            std::optional<int64_t>& device, std::optional<int64_t>& stream) {
    Track& track = context_.tracks.At(point.track);
    if (!track.is_stream) {
      tid = context_.tracks.RowTid(track);
      return;
    }
    device = track.pid;
    stream = track.name.empty() ? track.tid : StreamNumber(track.name).value_or(track.tid);
  };
  place(start, row.begin_tid, row.begin_device_id, row.begin_stream_id);
  place(end, row.end_tid, row.end_device_id, row.end_stream_id);
  context_.sink.Add(std::move(row));
}

// Moves all points to the file; those to come follow them. False: they stay in memory.
bool FlowRows::Spill() {
  for (auto& part : parts_) {
    part.reset(std::tmpfile());
    if (part == nullptr) {
      most_kept_ *= 2;  // better much memory than no arrows
      return false;
    }
  }
  for (const Point& point : slots_) {
    if (point.key != 0 && !AppendToPart(point)) context_.ledger.Count(kFlowsLost, -1);
  }
  slots_.assign(kFirstSlots, {});
  used_ = 0;
  return true;
}

bool FlowRows::AppendToPart(const Point& point) {
  return std::fwrite(&point, sizeof(point), 1, parts_[point.key >> 58].get()) == 1;
}

void FlowRows::JoinParts() {
  for (auto& part : parts_) {
    std::rewind(part.get());
    Point point;
    while (std::fread(&point, sizeof(point), 1, part.get()) == 1) {
      if (point.is_start) {
        AddStart(point);
      } else if (point.has_partner) {
        Insert(point);
      } else {
        AddEnd(point);
      }
    }
    part.reset();
    CountDangling();
  }
}

void FlowRows::CountDangling() {
  for (const Point& point : slots_) {
    dangling_ += point.key != 0 && !point.has_partner ? 1 : 0;
  }
  slots_.assign(kFirstSlots, {});
  used_ = 0;
}

void FlowRows::Finish() {
  if (has_spilled_) {
    JoinParts();
  } else {
    CountDangling();
  }
  if (dangling_ != 0) context_.ledger.Count(odd::kDanglingFlow, -1, {}, dangling_);
}

}  // namespace tutti::collector::importers::kineto
