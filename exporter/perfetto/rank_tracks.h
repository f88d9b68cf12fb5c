// The tracks of one rank: its process, and below it one for each lane. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "common/status.h"
#include "exporter/perfetto/lane_writer.h"
#include "exporter/perfetto/packet_writer.h"
#include "schema/database.h"
#include "schema/rows.h"

namespace tutti::exporter::perfetto {

class RankTracks {
 public:
  // |unique_tid| turns a thread's number into one that the whole file has once.
  static Result<RankTracks> Make(schema::Database& trace, PacketWriter& packets,
                                 ProcessDescription process,
                                 std::function<int64_t(int64_t)> unique_tid);

  LaneTrack Thread(int64_t tid);
  LaneTrack Stream(int64_t device_id, int64_t stream_id);
  LaneTrack Sync(int64_t device_id);
  // A lane of the process itself.
  LaneTrack Plain(const std::string& name, int64_t order);
  // |name| says which group.
  LaneTrack Collectives(const std::string& name);
  uint64_t Counter(const std::string& name, const std::string& unit);

 private:
  RankTracks(PacketWriter& packets, ProcessDescription process,
             std::function<int64_t(int64_t)> unique_tid);
  // Made when they are first needed.
  uint64_t Device(int64_t device_id);
  uint64_t CollectiveGroup();

  PacketWriter* packets_;
  ProcessDescription process_;
  std::function<int64_t(int64_t)> unique_tid_;
  uint64_t process_track_;
  std::map<int64_t, std::string> threads_;
  std::map<int64_t, std::string> devices_;
  std::map<std::pair<int64_t, int64_t>, std::string> streams_;
  std::map<int64_t, uint64_t> device_tracks_;
  uint64_t collective_group_ = 0;
};

}  // namespace tutti::exporter::perfetto
