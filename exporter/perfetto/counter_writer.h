// What is counted over time: allocated and reserved memory, and the samples of every counter.
// Each is a track and a packet sequence. One thread.
#pragma once

#include "common/status.h"
#include "exporter/perfetto/lane_writer.h"
#include "exporter/perfetto/packet_writer.h"
#include "exporter/perfetto/rank_tracks.h"
#include "schema/database.h"

namespace tutti::exporter::perfetto {

Status WriteCounters(schema::Database& trace, int64_t offset_ns, PacketWriter& packets,
                     RankTracks& tracks, EventCounts& counts);

}  // namespace tutti::exporter::perfetto
