// Everything of one rank that has a place on the timeline. Immutable once loaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"
#include "viewer/model/lane.h"
#include "viewer/model/name_table.h"
#include "viewer/model/run_summary.h"
#include "viewer/model/series.h"

namespace tutti::viewer {

// In the order in which a rank's tracks are shown.
enum class TrackKind : uint8_t {
  kSteps,
  kPhases,
  kLoader,        // waits for input
  kStream,        // kernels, copies and fills of a GPU's stream
  kSync,          // synchronisations, profiling overhead
  kCommunicator,  // collectives of one group
  kThread,
  kMemory,   // allocated bytes of one allocator
  kCounter,  // any other value over time
};

struct Track {
  TrackKind kind = TrackKind::kThread;
  int64_t device = -1;  // GPU, -1 none
  int64_t id = 0;       // stream, thread, communicator or counter
  std::string label;    // e.g. "stream 7"
  std::string role;     // what the analyzer says that it does, "" unknown
  std::string unit;     // of a series
  std::vector<Lane> lanes;
  Series series;

  int64_t events() const;  // in its lanes
};

struct RankTrace {
  std::vector<Track> tracks;  // by kind, device, id
  Status status;              // why events are missing, if they are
  int64_t events() const;
  size_t bytes() const;
};

// Reads the events of the rank in place `slot` of the summary. Never fails as a whole: what could
// be read is there, `status` tells of the rest. Any number of ranks at a time.
RankTrace LoadRankTrace(const RunSummary& summary, size_t slot, NameTable* names);

}  // namespace tutti::viewer
