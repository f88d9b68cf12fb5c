// Writes lanes: merges the sources of each, makes its tracks, nests its slices. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "exporter/perfetto/event_sequence.h"
#include "exporter/perfetto/packet_writer.h"
#include "exporter/perfetto/slice_nesting.h"
#include "exporter/perfetto/slice_source.h"
#include "exporter/text_table.h"

namespace tutti::exporter::perfetto {

// The track that stands for a lane, and what further tracks of it are called.
struct LaneTrack {
  uint64_t uuid = 0;
  std::string name;
};

struct EventCounts {
  int64_t events = 0;      // slices, marks and counter values
  int64_t open = 0;        // slices that begin and do not end
  int64_t impossible = 0;  // times before 1970, ends before begins
};

struct LaneInput {
  schema::Database* database;
  TextTable* texts;  // of names that are ids
  const std::vector<SliceSource>* sources;
  std::optional<int64_t> parameter = {};
  int64_t offset_ns = 0;  // added to every time
  uint64_t trace = 0;     // keeps arrows of one trace apart from those of others
};

class LaneWriter {
 public:
  // |track_of| is called once for each lane that has events.
  LaneWriter(PacketWriter& packets, EventCounts& counts) : packets_(packets), counts_(counts) {}

  Status Write(const LaneInput& input, const std::function<LaneTrack(LaneKey)>& track_of);

 private:
  struct Lane;

  Status WriteSlice(Lane& lane, const LaneInput& input, const SliceCursor& cursor);
  void EndUntil(Lane& lane, int64_t time_ns);

  PacketWriter& packets_;
  EventCounts& counts_;
};

}  // namespace tutti::exporter::perfetto
