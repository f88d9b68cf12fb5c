// The tree of rows: node → rank → GPU → stream, rank → thread, with what the user opened, pinned,
// hid or filtered. Pure functions of the run and these choices; no pixels.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "viewer/model/event_set.h"
#include "viewer/model/run_summary.h"

namespace tutti::viewer {

enum class RowKind : uint8_t { kNode, kRank, kDevice, kCounters, kTrack, kSeries, kNote, kDelta };

inline constexpr uint32_t kNoTrack = std::numeric_limits<uint32_t>::max();

struct TrackRef {
  uint32_t rank = 0;  // slot
  uint32_t track = 0;
  friend bool operator==(const TrackRef&, const TrackRef&) = default;
};

struct Row {
  std::string key;  // stays the same while a run is open: "r3/s0.7"
  RowKind kind = RowKind::kTrack;
  int depth = 0;  // in the tree
  std::string label;
  std::string badge;  // "r3": repeated where the rank's own row may be out of sight
  uint32_t rank = 0;  // slot; of a node, its first rank; of a delta, run A's
  uint32_t track = kNoTrack;
  bool can_open = false;
  bool is_open = false;
  bool is_pinned = false;
  uint32_t lanes = 0;          // of the track
  uint32_t lanes_shown = 0;    // the first of them; 0: a band in their place
  std::vector<TrackRef> band;  // whose lanes the band sums up
  float height = 0;            // pixels at scale 1
};

// Ranks that stand below one row.
struct RankGroup {
  std::string label;
  std::vector<uint32_t> slots;
};

// A row that was dragged: it stands before another of the same parent, "": behind them all.
struct RowMove {
  std::string key;
  std::string before;
};

// What the user chose. Rows are named by their keys.
struct RowChoices {
  std::set<std::string> flipped;           // open instead of closed or the other way round
  std::map<std::string, uint32_t> levels;  // shown of a row, at least 1; else kLevelsShown
  std::vector<std::string> pinned;
  std::set<std::string> hidden;
  std::vector<RowMove> moves;                  // in this order
  std::vector<RankGroup> groups;               // in place of nodes, if there are any
  std::map<uint32_t, std::string> rank_notes;  // by slot: said behind a rank's name
  std::string filter;                          // as row_filter.h reads it
  std::map<std::string, std::string> badges;   // said of pinned rows: "slowest"
};

inline constexpr float kLaneHeight = 18;
inline constexpr float kBandHeight = 16;
inline constexpr float kGroupHeight = 20;
inline constexpr float kSeriesHeight = 34;
inline constexpr float kDeltaHeight = 26;
inline constexpr uint32_t kLevelsShown = 6;
inline constexpr uint32_t kAllLevels = std::numeric_limits<uint32_t>::max();

// How many levels are shown of a row that is open, if it has as many.
uint32_t LevelsOf(const RowChoices& choices, const std::string& key);

struct RowTree {
  std::vector<Row> pinned;  // stay above the others
  std::vector<Row> rows;
};

// The tracks of a rank whose lanes say when it works: its streams, else its collectives and the
// threads that compute.
std::vector<TrackRef> WorkTracks(const RankTraces& ranks, uint32_t slot);

RowTree BuildRows(const RunSummary& summary, const RankTraces& ranks, const RowChoices& choices);

// Opens or closes whatever hides the row of a track (its rank, its GPU, itself).
void Reveal(const RunSummary& summary, const RankTraces& ranks, const EventRef& ref,
            RowChoices* choices);

}  // namespace tutti::viewer
