#include "collector/importers/kineto/flow_rows.h"

#include <xxhash.h>

#include <string>
#include <utility>

#include "collector/importers/kineto/json_text.h"

namespace tutti::collector::importers::kineto {
namespace {

constexpr const char* kKindNames[] = {"forward_backward", "launch", "other"};
constexpr Oddity kFlowsLost = {Severity::kDataLoss, "flow_lost",
                               "arrows were too many and could not be kept in a temporary file",
                               "set TMPDIR to a folder with room"};

// 64 bits over all parts of what an arrow is known by; ids are numbers or words.
uint64_t KeyOf(const RawEvent& event) {
  uint64_t key = 0;
  for (const std::string_view part :
       {event.category, event.name, WithoutQuotes(event.id), event.scope}) {
    key = XXH3_64bits_withSeed(part.data(), part.size(), key + 1);
  }
  return key;
}

}  // namespace

FlowRows::FlowRows(Context& context, size_t most_kept) : context_(context), most_kept_(most_kept) {}

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
  point.key = KeyOf(event);
  point.time_ns = *time_ns;
  point.name_id = context_.strings.IdOf(event.name);
  point.track = static_cast<uint32_t>(context_.tracks.Of(event.pid, event.tid).index);
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
  if (starts_.size() + ends_.size() > most_kept_) has_spilled_ = Spill();
}

void FlowRows::AddStart(const Point& start) {
  auto [place, is_new] = starts_.try_emplace(start.key, start);
  if (!is_new) {
    // The id is used again: what follows belongs to the new start.
    if (!place->second.has_partner) ++dangling_;
    place->second = start;
  }
  const auto [first, last] = ends_.equal_range(start.key);
  for (auto end = first; end != last; ++end) {
    Write(start, end->second);
    place->second.has_partner = true;
  }
  ends_.erase(first, last);
}

void FlowRows::AddEnd(const Point& end) {
  const auto start = starts_.find(end.key);
  if (start == starts_.end()) {
    ends_.emplace(end.key, end);
    return;
  }
  start->second.has_partner = true;
  Write(start->second, end);
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
  for (const auto& [key, start] : starts_) {
    if (!AppendToPart(start)) context_.ledger.Count(kFlowsLost, -1);
  }
  for (const auto& [key, end] : ends_) {
    if (!AppendToPart(end)) context_.ledger.Count(kFlowsLost, -1);
  }
  starts_ = {};
  ends_ = {};
  return true;
}

bool FlowRows::AppendToPart(const Point& point) {
  return std::fwrite(&point, sizeof(point), 1, parts_[point.key % kParts].get()) == 1;
}

void FlowRows::JoinParts() {
  for (auto& part : parts_) {
    std::rewind(part.get());
    Point point;
    while (std::fread(&point, sizeof(point), 1, part.get()) == 1) {
      if (point.is_start) {
        AddStart(point);
      } else {
        AddEnd(point);
      }
    }
    part.reset();
    CountDangling();
  }
}

void FlowRows::CountDangling() {
  for (const auto& [key, start] : starts_) dangling_ += start.has_partner ? 0 : 1;
  dangling_ += static_cast<int64_t>(ends_.size());
  starts_.clear();
  ends_.clear();
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
