// A run as one Perfetto trace (TrackEvent protobuf; opens in ui.perfetto.dev):
//
//   rank → process           steps, loose ranges       a track each
//     thread                 operators, Python calls, CUDA calls, ranges, phases, waits for data
//     collectives → group    each call from arrival to end, with wait and transfer (derived tables)
//     GPU → stream           kernels, copies, fills, projected ranges; waits for the GPU
//     counters               allocated and reserved memory, everything of `counter_sample`
//     data loss              what is missing, where it has a time
//   arrows                   launch call → its first work, forward → backward
//
// Slices of a lane that cross go to further tracks below it, for Perfetto's must nest. Times
// are aligned over ranks, nanoseconds since the Unix epoch. Every lane is a packet sequence of
// its own whose times never go back. Memory does not grow with the trace. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/output_file.h"
#include "common/status.h"
#include "exporter/perfetto/lane_writer.h"
#include "exporter/perfetto/packet_writer.h"
#include "schema/database.h"

namespace tutti::exporter::perfetto {

// What the derived tables tell about a trace.
struct RankContext {
  schema::Database* analysis = nullptr;  // null: not analyzed; collectives are left out then
  std::optional<int64_t> rank = {};      // as it was analyzed; empty: this trace was not
  int64_t offset_ns = 0;                 // aligned time minus the trace's own
};

class PerfettoExport {
 public:
  explicit PerfettoExport(OutputFile& output) : packets_(output) {}

  // Appends a rank's trace. Messages: what the format can't hold, one plain line each.
  Result<std::vector<std::string>> AddRank(schema::Database& trace, const RankContext& context);
  int64_t events() const { return events_; }

 private:
  // The number itself where it is a valid one that no other process or thread has, else a free one.
  static int64_t UniqueNumber(int64_t number, std::set<int64_t>& taken);

  PacketWriter packets_;
  std::set<int64_t> pids_;
  std::set<int64_t> tids_;
  uint64_t traces_ = 0;
  int64_t events_ = 0;
};

}  // namespace tutti::exporter::perfetto
