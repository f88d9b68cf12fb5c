#include "exporter/perfetto/packet_writer.h"

#include <protozero/pbf_writer.hpp>

#include "exporter/perfetto/fields.h"

namespace tutti::exporter::perfetto {
namespace {

using protozero::pbf_writer;

constexpr uint32_t kDescriptorSequence = 1;

uint32_t UnitOf(std::string_view unit) {
  if (unit == "ns") return kUnitTimeNs;
  if (unit == "bytes") return kUnitSizeBytes;
  return unit == "count" ? kUnitCount : 0;
}

}  // namespace

void PacketWriter::Write(std::string_view packet) {
  std::string framed;
  pbf_writer(framed).add_message(kTracePacket, packet.data(), packet.size());
  output_.Write(framed);
}

void PacketWriter::SetWallClock(int64_t time_ns) {
  std::string packet;
  {
    pbf_writer writer(packet);
    pbf_writer snapshot(writer, kPacketClockSnapshot);
    for (const uint32_t clock_id : {kClockBoottime, kClockRealtime}) {
      pbf_writer clock(snapshot, kSnapshotClock);
      clock.add_uint32(kClockId, clock_id);
      clock.add_uint64(kClockTimestamp, static_cast<uint64_t>(time_ns));
    }
  }
  Write(packet);
}

uint64_t PacketWriter::WriteDescriptor(const TrackDescription& track, std::optional<uint32_t> field,
                                       const std::string& special) {
  const uint64_t uuid = ++tracks_;
  std::string packet;
  {
    pbf_writer writer(packet);
    writer.add_uint32(kPacketSequenceId, kDescriptorSequence);
    if (!has_descriptors_) writer.add_uint32(kPacketSequenceFlags, kIncrementalStateCleared);
    pbf_writer descriptor(writer, kPacketTrackDescriptor);
    descriptor.add_uint64(kTrackUuid, uuid);
    if (track.parent != 0) descriptor.add_uint64(kTrackParentUuid, track.parent);
    if (!track.name.empty()) descriptor.add_string(kTrackName, track.name);
    if (field) descriptor.add_message(*field, special);
    descriptor.add_enum(kTrackChildOrdering, static_cast<int32_t>(kOrderExplicit));
    descriptor.add_int32(kTrackSiblingOrderRank, static_cast<int32_t>(track.order));
  }
  has_descriptors_ = true;
  Write(packet);
  return uuid;
}

uint64_t PacketWriter::AddTrack(const TrackDescription& track) {
  return WriteDescriptor(track, std::nullopt, "");
}

uint64_t PacketWriter::AddProcess(const ProcessDescription& process) {
  std::string special;
  pbf_writer writer(special);
  writer.add_int32(kProcessPid, static_cast<int32_t>(process.pid));
  writer.add_int32(kProcessSortIndex, static_cast<int32_t>(process.order));
  writer.add_string(kProcessName, process.name);
  if (!process.label.empty()) writer.add_string(kProcessLabel, process.label);
  return WriteDescriptor({.name = process.name, .order = process.order}, kTrackProcess, special);
}

uint64_t PacketWriter::AddThread(int64_t pid, int64_t tid, const std::string& name) {
  std::string special;
  pbf_writer writer(special);
  writer.add_int32(kThreadPid, static_cast<int32_t>(pid));
  writer.add_int64(kThreadTid, tid);
  writer.add_string(kThreadName, name);
  return WriteDescriptor({}, kTrackThread, special);
}

uint64_t PacketWriter::AddCounter(const TrackDescription& track, std::string_view unit) {
  std::string special;
  pbf_writer writer(special);
  if (const uint32_t known = UnitOf(unit); known != 0) {
    writer.add_enum(kCounterUnit, static_cast<int32_t>(known));
  } else if (!unit.empty()) {
    writer.add_string(kCounterUnitName, unit.data(), unit.size());
  }
  return WriteDescriptor(track, kTrackCounter, special);
}

}  // namespace tutti::exporter::perfetto
