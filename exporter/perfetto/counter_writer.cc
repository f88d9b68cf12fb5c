#include "exporter/perfetto/counter_writer.h"

#include <memory>
#include <string>
#include <variant>

#include "exporter/perfetto/event_sequence.h"

namespace tutti::exporter::perfetto {
namespace {

// Columns: name, unit, time, value; by name and time.
constexpr const char* kMemory[] = {
    "SELECT 'allocated memory, ' || CASE WHEN device_id IS NULL THEN device_type"
    " ELSE device_type || ' ' || device_id END AS name, 'bytes', time_ns, allocated_bytes"
    " FROM memory_event WHERE allocated_bytes IS NOT NULL ORDER BY name, time_ns, id",
    "SELECT 'reserved memory, ' || CASE WHEN device_id IS NULL THEN device_type"
    " ELSE device_type || ' ' || device_id END AS name, 'bytes', time_ns, reserved_bytes"
    " FROM memory_event WHERE reserved_bytes IS NOT NULL ORDER BY name, time_ns, id"};
constexpr const char* kSamples =
    "SELECT c.name || CASE WHEN c.device_id IS NULL THEN '' ELSE ', GPU ' || c.device_id END,"
    " c.unit, s.time_ns, s.value FROM counter_sample AS s JOIN counter AS c ON c.id = s.counter_id"
    " ORDER BY s.counter_id, s.time_ns";

Status WriteSeries(schema::Database& trace, const char* sql, int64_t offset_ns,
                   PacketWriter& packets, RankTracks& tracks, EventCounts& counts) {
  TUTTI_ASSIGN_OR_RETURN(schema::Statement rows, trace.Prepare(sql));
  std::unique_ptr<EventSequence> sequence;
  std::string current;
  uint64_t track = 0;
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) return OkStatus();
    TUTTI_ASSIGN_OR_RETURN(const auto name, rows.Get<std::string>(0));
    TUTTI_ASSIGN_OR_RETURN(const auto unit, rows.Get<std::string>(1));
    TUTTI_ASSIGN_OR_RETURN(const auto time_ns, rows.Get<int64_t>(2));
    TUTTI_ASSIGN_OR_RETURN(const auto value, rows.Get<schema::Value>(3));
    int64_t aligned_ns = 0;
    const bool is_number =
        std::holds_alternative<int64_t>(value) || std::holds_alternative<double>(value);
    if (__builtin_add_overflow(time_ns, offset_ns, &aligned_ns) || aligned_ns < 0 || !is_number) {
      ++counts.impossible;
      continue;
    }
    if (sequence == nullptr || name != current) {
      current = name;
      track = tracks.Counter(name, unit);
      sequence = std::make_unique<EventSequence>(packets, track);
    }
    sequence->Write(
        {.type = EventType::kCounter, .track = track, .time_ns = aligned_ns, .value = value});
    ++counts.events;
  }
}

}  // namespace

Status WriteCounters(schema::Database& trace, int64_t offset_ns, PacketWriter& packets,
                     RankTracks& tracks, EventCounts& counts) {
  for (const char* sql : kMemory) {
    TUTTI_RETURN_IF_ERROR(WriteSeries(trace, sql, offset_ns, packets, tracks, counts));
  }
  return WriteSeries(trace, kSamples, offset_ns, packets, tracks, counts);
}

}  // namespace tutti::exporter::perfetto
