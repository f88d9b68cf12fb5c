#include "exporter/perfetto/rank_tracks.h"

#include <utility>

#include "schema/reader.h"

namespace tutti::exporter::perfetto {
namespace {

// Places of a process's tracks among each other; threads come after them.
constexpr int64_t kCollectivesOrder = 10;
constexpr int64_t kDevicesOrder = 20;  // + device
constexpr int64_t kCountersOrder = 1'000'000;

}  // namespace

RankTracks::RankTracks(PacketWriter& packets, ProcessDescription process,
                       std::function<int64_t(int64_t)> unique_tid)
    : packets_(&packets),
      process_(std::move(process)),
      unique_tid_(std::move(unique_tid)),
      process_track_(packets.AddProcess(process_)) {}

Result<RankTracks> RankTracks::Make(schema::Database& trace, PacketWriter& packets,
                                    ProcessDescription process,
                                    std::function<int64_t(int64_t)> unique_tid) {
  RankTracks tracks(packets, std::move(process), std::move(unique_tid));
  TUTTI_RETURN_IF_ERROR(
      schema::ForEach<schema::ThreadRow>(trace, "", [&](const schema::ThreadRow& row) {
        tracks.threads_[row.tid] = row.name.value_or(row.role.value_or("thread"));
      }));
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::DeviceRow>(
      trace, "", [&](const schema::DeviceRow& row) { tracks.devices_[row.id] = row.name; }));
  TUTTI_RETURN_IF_ERROR(
      schema::ForEach<schema::StreamRow>(trace, "", [&](const schema::StreamRow& row) {
        if (row.name) tracks.streams_[{row.device_id, row.stream_id}] = *row.name;
      }));
  return tracks;
}

LaneTrack RankTracks::Thread(int64_t tid) {
  const auto known = threads_.find(tid);
  const std::string name = known == threads_.end() ? "thread" : known->second;
  return {packets_->AddThread(process_.pid, unique_tid_(tid), name), name + ", overlapping"};
}

uint64_t RankTracks::Device(int64_t device_id) {
  uint64_t& track = device_tracks_[device_id];
  if (track != 0) return track;
  std::string name = device_id < 0 ? "GPU" : "GPU " + std::to_string(device_id);
  const auto known = devices_.find(device_id);
  if (known != devices_.end() && !known->second.empty()) name += " (" + known->second + ")";
  track = packets_->AddTrack(
      {.name = name, .parent = process_track_, .order = kDevicesOrder + device_id});
  return track;
}

LaneTrack RankTracks::Stream(int64_t device_id, int64_t stream_id) {
  const auto known = streams_.find({device_id, stream_id});
  std::string name = "stream " + std::to_string(stream_id);
  if (known != streams_.end()) name += " " + known->second;
  const uint64_t parent = Device(device_id);
  return {packets_->AddTrack({.name = name, .parent = parent, .order = stream_id}), name};
}

LaneTrack RankTracks::Sync(int64_t device_id) {
  const uint64_t parent = Device(device_id);
  return {packets_->AddTrack({.name = "waits for the GPU", .parent = parent, .order = -1}),
          "waits for the GPU"};
}

LaneTrack RankTracks::Plain(const std::string& name, int64_t order) {
  return {packets_->AddTrack({.name = name, .parent = process_track_, .order = order}), name};
}

uint64_t RankTracks::CollectiveGroup() {
  if (collective_group_ == 0) {
    collective_group_ = packets_->AddTrack(
        {.name = "collectives", .parent = process_track_, .order = kCollectivesOrder});
  }
  return collective_group_;
}

LaneTrack RankTracks::Collectives(const std::string& name) {
  return {packets_->AddTrack({.name = name, .parent = CollectiveGroup()}), name};
}

uint64_t RankTracks::Counter(const std::string& name, const std::string& unit) {
  return packets_->AddCounter({.name = name, .parent = process_track_, .order = kCountersOrder},
                              unit);
}

}  // namespace tutti::exporter::perfetto
