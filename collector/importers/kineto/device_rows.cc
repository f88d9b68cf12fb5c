#include "collector/importers/kineto/device_rows.h"

#include <algorithm>
#include <array>
#include <string>

#include "collector/importers/kineto/json_text.h"
#include "collector/importers/kineto/number.h"

namespace tutti::collector::importers::kineto {
namespace {

constexpr size_t kMostStreams = 100'000;  // that get a row of their own
constexpr int64_t kAscendDevice = 0;      // msprof writes a file per device and does not name it

std::optional<int64_t> IntegerOf(const RawEvent& event, Arg arg) {
  return event.Has(arg) ? ParseInteger(event.Get(arg)) : std::nullopt;
}

// "[16384, 1, 1]", or the same in quotes.
std::array<std::optional<int64_t>, 3> TripleOf(std::string_view token) {
  std::array<std::optional<int64_t>, 3> triple;
  std::string_view text = WithoutQuotes(token);
  if (text.empty() || text.front() != '[') return triple;
  text.remove_prefix(1);
  for (std::optional<int64_t>& number : triple) {
    const size_t end = text.find_first_of(",]");
    if (end == std::string_view::npos) return triple;
    number = ParseInteger(text.substr(SkipSpace(text, 0), end - std::min(end, SkipSpace(text, 0))));
    text.remove_prefix(end + 1);
  }
  return triple;
}

struct GridAndBlock {
  std::array<std::optional<int64_t>, 3> grid;
  std::array<std::optional<int64_t>, 3> block;
};

// The end of a name as unitrace writes it: "[SIMD32 {64; 1; 1} {16; 16; 1}]".
GridAndBlock UnitraceGeometry(std::string_view name) {
  GridAndBlock geometry;
  name.remove_prefix(std::min(name.rfind("[SIMD"), name.size()));
  for (auto* triple : {&geometry.grid, &geometry.block}) {
    const size_t open = name.find('{');
    if (open == std::string_view::npos) break;
    name.remove_prefix(open + 1);
    for (std::optional<int64_t>& number : *triple) {
      const size_t end = name.find_first_of(";}");
      if (end == std::string_view::npos) return geometry;
      number = ParseInteger(name.substr(SkipSpace(name, 0), end - SkipSpace(name, 0)));
      name.remove_prefix(end + 1);
    }
  }
  return geometry;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

struct CopyKinds {
  std::string kind = "unknown";
  std::optional<std::string> source;
  std::optional<std::string> destination;
};

// "Memcpy HtoD (Pageable -> Device)".
CopyKinds ParseCopyName(std::string_view name) {
  CopyKinds kinds;
  constexpr std::string_view kPrefix = "Memcpy ";
  if (!name.starts_with(kPrefix)) return kinds;
  name.remove_prefix(kPrefix.size());
  const size_t open = name.find(" (");
  const std::string_view kind = name.substr(0, open);
  if (!kind.empty()) kinds.kind = kind;
  const size_t arrow = name.find(" -> ");
  if (open == std::string_view::npos || arrow == std::string_view::npos || arrow < open + 2 ||
      !name.ends_with(')')) {
    return kinds;
  }
  kinds.source = Lower(name.substr(open + 2, arrow - open - 2));
  kinds.destination = Lower(name.substr(arrow + 4, name.size() - arrow - 5));
  return kinds;
}

std::string SyncKind(std::string_view told) {
  if (told == "Event Sync") return "event";
  if (told == "Stream Wait Event") return "stream_wait_event";
  if (told == "Stream Sync") return "stream";
  if (told == "Context Sync") return "context";
  return told.empty() ? "unknown" : Lower(told);
}

// Kineto writes "no stream" as -1 or as the same in 32 unsigned bits.
std::optional<int64_t> StreamOrNone(std::optional<int64_t> stream) {
  if (!stream || *stream < 0 || *stream == 0xffffffff) return std::nullopt;
  return stream;
}

bool IsAscendWait(std::string_view task_type) {
  return task_type.starts_with("EVENT_") || task_type.starts_with("NOTIFY_");
}

}  // namespace

// Arguments first; pid and tid are the device and the stream in all traces that lack them.
Lane DeviceRows::LaneOf(const RawEvent& event) {
  Track& track = context_.tracks.Of(event.pid, event.tid);
  std::optional<int64_t> device = IntegerOf(event, Arg::kDevice);
  if (!device || *device < 0) device = track.pid < kFirstWordId ? track.pid : 0;
  std::optional<int64_t> stream = IntegerOf(event, Arg::kStream);
  if (!stream) stream = StreamNumber(event.tid);
  if (!stream) stream = track.tid;
  const Lane lane{*device, *stream};
  Saw(lane, track);
  return lane;
}

void DeviceRows::Saw(const Lane& lane, Track& track) {
  ++track.device_events;
  if (last_track_ == &track && last_lane_.device_id == lane.device_id &&
      last_lane_.stream_id == lane.stream_id) {
    return;
  }
  last_track_ = &track;
  last_lane_ = lane;
  track.is_stream = true;
  if (streams_.size() < kMostStreams) {
    streams_.try_emplace({lane.device_id, lane.stream_id}, track.index);
  }
}

std::optional<schema::KernelRow> DeviceRows::OnKernel(const RawEvent& event) {
  const std::optional<DeviceTimes> times = context_.DeviceTimesOf(event);
  if (!times) return std::nullopt;
  const Lane lane = LaneOf(event);
  GridAndBlock geometry{TripleOf(event.Get(Arg::kGrid)), TripleOf(event.Get(Arg::kBlock))};
  if (!geometry.grid[0] && event.name.ends_with("}]\"")) geometry = UnitraceGeometry(event.name);
  schema::KernelRow row;
  row.device_id = lane.device_id;
  row.context_id = IntegerOf(event, Arg::kContext);
  row.stream_id = lane.stream_id;
  row.name_id = context_.strings.IdOf(event.name);
  row.begin_ns = times->begin_ns;
  row.end_ns = times->end_ns;
  row.correlation_id = IntegerOf(event, Arg::kCorrelation);
  row.graph_node_id = IntegerOf(event, Arg::kGraphNodeId);
  row.grid_x = geometry.grid[0];
  row.grid_y = geometry.grid[1];
  row.grid_z = geometry.grid[2];
  row.block_x = geometry.block[0];
  row.block_y = geometry.block[1];
  row.block_z = geometry.block[2];
  row.registers_per_thread = IntegerOf(event, Arg::kRegisters);
  // Kineto adds up both kinds of shared memory.
  row.dynamic_shared_bytes = IntegerOf(event, Arg::kSharedBytes);
  const std::optional<int64_t> queued_ns = IntegerOf(event, Arg::kQueued);
  if (queued_ns && *queued_ns > 0) row.queued_ns = queued_ns;
  row.external_id = IntegerOf(event, Arg::kExternalId);
  row.id = context_.sink.NextId<schema::KernelRow>();
  context_.sink.Append(row);
  ++context_.events_read;
  return row;
}

void DeviceRows::OnMemcpy(const RawEvent& event) {
  const std::optional<DeviceTimes> times = context_.DeviceTimesOf(event);
  if (!times) return;
  const Lane lane = LaneOf(event);
  CopyKinds kinds = ParseCopyName(WithoutQuotes(event.name));
  const std::optional<int64_t> bytes = IntegerOf(event, Arg::kBytes);
  if (!bytes) context_.ledger.Count(odd::kBytesUnknown, event.offset, times->begin_ns);
  schema::MemcpyRow row;
  row.device_id = lane.device_id;
  row.stream_id = lane.stream_id;
  row.begin_ns = times->begin_ns;
  row.end_ns = times->end_ns;
  row.bytes = bytes.value_or(0);
  row.copy_kind = kinds.kind;
  if (kinds.kind == "unknown" && event.Has(Arg::kKind)) {
    row.copy_kind = DecodeString(event.Get(Arg::kKind));
  }
  row.source_kind = std::move(kinds.source);
  row.destination_kind = std::move(kinds.destination);
  row.correlation_id = IntegerOf(event, Arg::kCorrelation);
  row.graph_node_id = IntegerOf(event, Arg::kGraphNodeId);
  context_.sink.Add(std::move(row));
  ++context_.events_read;
}

void DeviceRows::OnMemset(const RawEvent& event) {
  const std::optional<DeviceTimes> times = context_.DeviceTimesOf(event);
  if (!times) return;
  const Lane lane = LaneOf(event);
  const std::optional<int64_t> bytes = IntegerOf(event, Arg::kBytes);
  if (!bytes) context_.ledger.Count(odd::kBytesUnknown, event.offset, times->begin_ns);
  schema::MemsetRow row;
  row.device_id = lane.device_id;
  row.stream_id = lane.stream_id;
  row.begin_ns = times->begin_ns;
  row.end_ns = times->end_ns;
  row.bytes = bytes.value_or(0);
  row.correlation_id = IntegerOf(event, Arg::kCorrelation);
  row.graph_node_id = IntegerOf(event, Arg::kGraphNodeId);
  context_.sink.Add(std::move(row));
  ++context_.events_read;
}

void DeviceRows::OnSync(const RawEvent& event) {
  Track& track = context_.tracks.Of(event.pid, event.tid);
  track.is_stream = true;
  Lane lane;
  lane.device_id =
      IntegerOf(event, Arg::kDevice).value_or(track.pid < kFirstWordId ? track.pid : 0);
  const std::string_view told = event.Has(Arg::kSyncKind) ? event.Get(Arg::kSyncKind) : event.name;
  AddSync(event, SyncKind(WithoutQuotes(told)), lane);
}

void DeviceRows::AddSync(const RawEvent& event, std::string_view kind, const Lane& lane) {
  const std::optional<DeviceTimes> times = context_.DeviceTimesOf(event);
  if (!times) return;
  schema::SyncRow row;
  row.kind = kind;
  row.device_id = lane.device_id;
  row.stream_id = StreamOrNone(event.Has(Arg::kTaskStream) ? IntegerOf(event, Arg::kTaskStream)
                                                           : IntegerOf(event, Arg::kStream));
  if (!row.stream_id) row.stream_id = StreamOrNone(IntegerOf(event, Arg::kWaitOnStream));
  row.event_id = IntegerOf(event, Arg::kWaitOnEvent);
  const std::optional<int64_t> record = IntegerOf(event, Arg::kWaitOnRecordCorrelation);
  if (record && *record >= 0) row.event_sync_id = record;
  row.begin_ns = times->begin_ns;
  row.end_ns = times->end_ns;
  row.correlation_id = IntegerOf(event, Arg::kCorrelation);
  context_.sink.Add(std::move(row));
  ++context_.events_read;
}

void DeviceRows::OnGpuRange(const RawEvent& event) {
  const std::optional<HostTimes> times = context_.HostTimesOf(event);
  if (!times) return;
  const Lane lane = LaneOf(event);
  schema::GpuRangeRow row;
  row.device_id = lane.device_id;
  row.stream_id = lane.stream_id;
  row.name_id = context_.strings.IdOf(event.name);
  row.begin_ns = times->begin_ns;
  row.end_ns = times->end_ns.value_or(times->begin_ns);
  context_.sink.Add(std::move(row));
  ++context_.events_read;
}

void DeviceRows::OnAscendTask(const RawEvent& event) {
  const std::string task_type = DecodeString(event.Get(Arg::kTaskType));
  Lane lane{kAscendDevice, IntegerOf(event, Arg::kTaskStream).value_or(0)};
  if (IsAscendWait(task_type)) return AddSync(event, Lower(task_type), lane);
  const std::optional<DeviceTimes> times = context_.DeviceTimesOf(event);
  if (!times) return;
  Saw(lane, context_.tracks.Of(event.pid, event.tid));
  ++context_.events_read;
  if (task_type.starts_with("MEMCPY") || task_type.starts_with("SDMA")) {
    context_.ledger.Count(odd::kBytesUnknown, event.offset, times->begin_ns);
    schema::MemcpyRow row;
    row.device_id = lane.device_id;
    row.stream_id = lane.stream_id;
    row.begin_ns = times->begin_ns;
    row.end_ns = times->end_ns;
    row.copy_kind = "unknown";
    context_.sink.Add(std::move(row));
    return;
  }
  schema::KernelRow row;
  row.device_id = lane.device_id;
  row.stream_id = lane.stream_id;
  row.name_id = context_.strings.IdOf(event.name);
  row.begin_ns = times->begin_ns;
  row.end_ns = times->end_ns;
  context_.sink.Add(std::move(row));
}

void DeviceRows::AddDevice(schema::DeviceRow row) { devices_[row.id] = std::move(row); }

std::optional<int64_t> DeviceRows::BusiestDevice() const {
  std::map<int64_t, int64_t> work;
  for (const auto& [lane, track] : streams_) {
    work[lane.first] += context_.tracks.At(track).device_events;
  }
  if (work.empty()) return std::nullopt;
  return std::max_element(work.begin(), work.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

void DeviceRows::Finish() {
  for (const auto& [lane, track_index] : streams_) {
    const auto [device, is_new] = devices_.try_emplace(lane.first);
    if (is_new) {
      device->second.id = lane.first;
      device->second.name = context_.tracks.Labels(lane.first);  // "GPU 3"
    }
    std::string name = context_.tracks.At(track_index).name;
    while (!name.empty() && name.back() == ' ') name.pop_back();
    schema::StreamRow row{lane.first, lane.second, std::nullopt, std::nullopt};
    // "stream 7" says nothing that the number does not.
    if (!name.empty() && !StreamNumber(name)) row.name = name;
    context_.sink.Append(std::move(row));
  }
  for (const auto& [id, row] : devices_) context_.sink.Append(row);
}

}  // namespace tutti::collector::importers::kineto
