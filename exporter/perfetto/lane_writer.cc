#include "exporter/perfetto/lane_writer.h"

#include <memory>
#include <tuple>
#include <utility>
#include <variant>

namespace tutti::exporter::perfetto {
namespace {

// The row that comes first: by lane, begin, the longer, then in the order of the sources.
SliceCursor* First(std::vector<SliceCursor>& cursors) {
  SliceCursor* first = nullptr;
  for (SliceCursor& cursor : cursors) {
    const Slice* slice = cursor.slice();
    if (slice == nullptr) continue;
    const auto key = [](const Slice& s) { return std::tuple(s.lane, s.begin_ns, ~s.end_ns); };
    if (first == nullptr || key(*slice) < key(*first->slice())) first = &cursor;
  }
  return first;
}

// A number that is the same at both ends of an arrow and nowhere else (splitmix64).
uint64_t FlowId(uint64_t trace, FlowKind kind, int64_t key) {
  uint64_t mixed =
      static_cast<uint64_t>(key) + 0x9e3779b97f4a7c15u * (trace * 4 + static_cast<uint64_t>(kind));
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 31);
}

Result<std::string> NameOf(const Slice& slice, TextTable& texts) {
  if (!slice.name) return std::string();
  if (const auto* id = std::get_if<int64_t>(&*slice.name)) {
    TUTTI_ASSIGN_OR_RETURN(const std::string* text, texts.Find(*id));
    return *text;
  }
  const auto* text = std::get_if<std::string>(&*slice.name);
  return text == nullptr ? std::string() : *text;
}

}  // namespace

struct LaneWriter::Lane {
  Lane(PacketWriter& packets, LaneKey lane_key, LaneTrack track)
      : key(lane_key), name(track.name), events(packets, track.uuid), tracks{track.uuid} {}

  LaneKey key;
  std::string name;
  EventSequence events;
  SliceNesting nesting;
  std::vector<uint64_t> tracks;  // the lane's own, then further ones for slices that cross
};

void LaneWriter::EndUntil(Lane& lane, int64_t time_ns) {
  while (const auto ended = lane.nesting.PopEnded(time_ns)) {
    lane.events.Write(
        {.type = EventType::kEnd, .track = lane.tracks[ended->track], .time_ns = ended->time_ns});
  }
}

Status LaneWriter::WriteSlice(Lane& lane, const LaneInput& input, const SliceCursor& cursor) {
  const Slice& slice = *cursor.slice();
  int64_t begin_ns = 0;
  int64_t end_ns = SliceNesting::kNever;
  const bool is_open = slice.end_ns == SliceNesting::kNever;
  if (__builtin_add_overflow(slice.begin_ns, input.offset_ns, &begin_ns) || begin_ns < 0 ||
      (!is_open && (slice.end_ns < slice.begin_ns ||
                    __builtin_add_overflow(slice.end_ns, input.offset_ns, &end_ns)))) {
    ++counts_.impossible;
    return OkStatus();
  }
  EndUntil(lane, begin_ns);
  const size_t place = cursor.is_mark() ? 0 : lane.nesting.Place(end_ns);
  if (place == lane.tracks.size()) {
    lane.tracks.push_back(packets_.AddTrack(
        {.name = lane.name, .parent = lane.tracks.front(), .order = static_cast<int64_t>(place)}));
  }
  TUTTI_ASSIGN_OR_RETURN(const std::string name, NameOf(slice, *input.texts));
  Event event{.type = cursor.is_mark() ? EventType::kInstant : EventType::kBegin,
              .track = lane.tracks[place],
              .time_ns = begin_ns,
              .name = name,
              .category = slice.category};
  for (size_t i = 0; i < slice.annotations.size(); ++i) {
    event.annotations.push_back({cursor.annotation_names()[i], &slice.annotations[i]});
  }
  if (slice.flow_out) {
    event.flows.push_back(FlowId(input.trace, cursor.flow(), *slice.flow_out));
  }
  if (slice.flow_in) {
    event.terminated_flows.push_back(FlowId(input.trace, cursor.flow(), *slice.flow_in));
  }
  lane.events.Write(event);
  ++counts_.events;
  if (is_open) ++counts_.open;
  return OkStatus();
}

Status LaneWriter::Write(const LaneInput& input,
                         const std::function<LaneTrack(LaneKey)>& track_of) {
  std::vector<SliceCursor> cursors;
  for (const SliceSource& source : *input.sources) {
    TUTTI_ASSIGN_OR_RETURN(SliceCursor cursor,
                           SliceCursor::Open(*input.database, source, input.parameter));
    cursors.push_back(std::move(cursor));
  }
  std::unique_ptr<Lane> lane;
  while (SliceCursor* cursor = First(cursors)) {
    if (lane == nullptr || lane->key != cursor->slice()->lane) {
      if (lane != nullptr) EndUntil(*lane, SliceNesting::kNever - 1);
      const LaneKey key = cursor->slice()->lane;
      lane = std::make_unique<Lane>(packets_, key, track_of(key));
    }
    TUTTI_RETURN_IF_ERROR(WriteSlice(*lane, input, *cursor));
    TUTTI_RETURN_IF_ERROR(cursor->Next());
  }
  if (lane != nullptr) EndUntil(*lane, SliceNesting::kNever - 1);
  return OkStatus();
}

}  // namespace tutti::exporter::perfetto
