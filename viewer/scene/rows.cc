#include "viewer/scene/rows.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "viewer/scene/row_filter.h"

namespace tutti::viewer {
namespace {

constexpr size_t kRanksOpenAtFirst = 4;

std::string KeyOfTrack(uint32_t rank, const Track& track) {
  return "r" + std::to_string(rank) + "/" + std::to_string(static_cast<int>(track.kind)) + "." +
         std::to_string(track.device) + "." + std::to_string(track.id);
}

std::string KeyOfCounters(uint32_t rank) { return "r" + std::to_string(rank) + "/counters"; }

std::string KeyOfDevice(uint32_t rank, int64_t device) {
  return "r" + std::to_string(rank) + "/gpu" + std::to_string(device);
}

// Whether a track works or communicates, so that a rank's band shows it.
bool IsWork(const Track& track, bool has_streams) {
  if (has_streams) return track.kind == TrackKind::kStream;
  return track.kind == TrackKind::kCommunicator ||
         (track.kind == TrackKind::kThread && (track.role == "compute" || track.role.empty()));
}

// A thread that helps another is a band until it is opened.
bool OpensAtFirst(const Track& track) {
  return track.kind != TrackKind::kThread || track.role == "compute" || track.role == "host" ||
         track.role.empty();
}

class TreeBuilder {
 public:
  TreeBuilder(const RunSummary& summary, const RankTraces& ranks, const RowChoices& choices)
      : summary_(summary), ranks_(ranks), choices_(choices) {}

  RowTree Build() {
    if (summary_.has_two_runs()) {
      AddPairs();
    } else if (!choices_.groups.empty()) {
      AddGroups();
    } else {
      AddNodes();
    }
    for (const RowMove& move : choices_.moves) Apply(move);
    RemoveHidden();
    RowTree tree;
    tree.pinned = PinnedRows();
    ApplyFilter();
    tree.rows = std::move(rows_);
    return tree;
  }

 private:
  void AddNodes() {
    std::map<std::string, std::vector<uint32_t>> by_host;
    std::vector<std::string> hosts;  // in order of their first rank
    for (uint32_t slot = 0; slot < summary_.ranks.size(); ++slot) {
      std::vector<uint32_t>& of_host = by_host[summary_.ranks[slot].host];
      if (of_host.empty()) hosts.push_back(summary_.ranks[slot].host);
      of_host.push_back(slot);
    }
    for (const std::string& host : hosts) AddNode(host, by_host[host], hosts.size() > 1);
  }

  // Each rank of run A, how the same rank of run B differs, and that rank.
  void AddPairs() {
    for (uint32_t slot = 0; slot < summary_.ranks.size(); ++slot) {
      const std::optional<size_t> peer = summary_.PeerOf(slot);
      if (summary_.IsOfB(slot) && peer.has_value()) continue;
      AddRank(slot, 0);
      if (!peer.has_value()) continue;
      Row row;
      row.key = "r" + std::to_string(slot) + "/delta";
      row.kind = RowKind::kDelta;
      row.label = "step of B minus A";
      row.rank = slot;
      row.height = kDeltaHeight;
      rows_.push_back(row);
      AddRank(static_cast<uint32_t>(*peer), 0);
    }
  }

  void AddNode(const std::string& host, const std::vector<uint32_t>& slots, bool show) {
    if (show && !AddRanksAbove("n/" + host,
                               host + "  " + std::to_string(slots.size()) +
                                   (slots.size() == 1 ? " rank" : " ranks"),
                               slots)) {
      return;
    }
    for (const uint32_t slot : slots) AddRank(slot, show ? 1 : 0);
  }

  // Ranks are closed at first: a group's bands below one another show when each has work.
  void AddGroups() {
    ranks_added_ = kRanksOpenAtFirst;
    for (const RankGroup& group : choices_.groups) {
      if (!AddRanksAbove("g/" + group.label, group.label, group.slots)) continue;
      for (const uint32_t slot : group.slots) AddRank(slot, 1);
    }
  }

  // A row that sums up several ranks; whether it is open.
  bool AddRanksAbove(const std::string& key, const std::string& label,
                     const std::vector<uint32_t>& slots) {
    Row row = Group(key, RowKind::kNode, 0, label, slots.front(), true);
    for (const uint32_t slot : slots) AddBand(slot, &row);
    rows_.push_back(row);
    return row.is_open;
  }

  // The row behind the last of those that stand below this one.
  size_t EndOf(size_t row) const {
    size_t end = row + 1;
    while (end < rows_.size() && rows_[end].depth > rows_[row].depth) ++end;
    return end;
  }

  // A row and those below it, to before another that has the same parent, or behind the last such.
  void Apply(const RowMove& move) {
    const auto place_of = [&](const std::string& key) {
      const auto found =
          std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.key == key; });
      return static_cast<size_t>(found - rows_.begin());
    };
    const size_t from = place_of(move.key);
    if (from == rows_.size()) return;
    const int depth = rows_[from].depth;
    size_t first = from;  // of its parent's rows
    while (first > 0 && rows_[first - 1].depth >= depth) --first;
    size_t to = first;
    while (to < rows_.size() && rows_[to].depth >= depth && rows_[to].key != move.before) ++to;
    const bool is_found = to < rows_.size() && rows_[to].key == move.before;
    if (!move.before.empty() && (!is_found || rows_[to].depth != depth)) return;
    const size_t end = EndOf(from);
    const auto at = [&](size_t row) { return rows_.begin() + static_cast<std::ptrdiff_t>(row); };
    if (to < from) std::rotate(at(to), at(from), at(end));
    if (to > end) std::rotate(at(from), at(end), at(to));
  }

  Row Group(std::string key, RowKind kind, int depth, std::string label, uint32_t slot,
            bool open_at_first) const {
    Row row;
    row.is_open = choices_.flipped.contains(key) != open_at_first;
    row.key = std::move(key);
    row.kind = kind;
    row.depth = depth;
    row.label = std::move(label);
    row.rank = slot;
    row.can_open = true;
    row.height = kGroupHeight;
    return row;
  }

  void AddBand(uint32_t slot, Row* row) const {
    const std::vector<TrackRef> tracks = WorkTracks(ranks_, slot);
    row->band.insert(row->band.end(), tracks.begin(), tracks.end());
  }

  void AddRank(uint32_t slot, int depth) {
    const bool open_at_first = ranks_added_++ < kRanksOpenAtFirst;
    Row row = Group("r" + std::to_string(slot), RowKind::kRank, depth,
                    summary_.RankName(summary_.ranks[slot].rank), slot, open_at_first);
    AddBand(slot, &row);
    if (const auto note = choices_.rank_notes.find(slot); note != choices_.rank_notes.end()) {
      row.label += "  " + note->second;
    }
    rows_.push_back(row);
    if (!row.is_open) return;
    if (ranks_[slot] == nullptr) return AddNote(slot, depth + 1, "loading");
    if (!ranks_[slot]->status.ok()) AddNote(slot, depth + 1, ranks_[slot]->status.message());
    AddTracks(slot, depth + 1);
  }

  void AddNote(uint32_t slot, int depth, const std::string& text) {
    Row row;
    row.key = "r" + std::to_string(slot) + "/note";
    row.kind = RowKind::kNote;
    row.depth = depth;
    row.label = text;
    row.rank = slot;
    row.height = kLaneHeight;
    rows_.push_back(row);
  }

  void AddTracks(uint32_t slot, int depth) {
    const std::vector<Track>& tracks = ranks_[slot]->tracks;
    int64_t device = -1;
    bool device_open = true;
    bool counters_open = true;
    for (uint32_t i = 0; i < tracks.size(); ++i) {
      const bool is_counter = tracks[i].kind == TrackKind::kCounter;
      if (is_counter && (i == 0 || tracks[i - 1].kind != TrackKind::kCounter)) {
        counters_open = AddCounters(slot, depth, tracks.size() - i);
      }
      if (is_counter && !counters_open) continue;
      const bool is_stream = tracks[i].kind == TrackKind::kStream;
      if (is_stream && tracks[i].device != device) {
        device = tracks[i].device;
        device_open = AddDevice(slot, depth, device);
      }
      if (is_stream && !device_open) continue;
      AddTrack(slot, i, depth + (is_stream || is_counter ? 1 : 0));
    }
  }

  bool AddCounters(uint32_t slot, int depth, size_t count) {
    rows_.push_back(Group(KeyOfCounters(slot), RowKind::kCounters, depth,
                          std::to_string(count) + (count == 1 ? " counter" : " counters"), slot,
                          false));
    return rows_.back().is_open;
  }

  bool AddDevice(uint32_t slot, int depth, int64_t device) {
    Row row = Group(KeyOfDevice(slot, device), RowKind::kDevice, depth,
                    "GPU " + std::to_string(device), slot, true);
    const std::vector<Track>& tracks = ranks_[slot]->tracks;
    for (uint32_t i = 0; i < tracks.size(); ++i) {
      if (tracks[i].kind == TrackKind::kStream && tracks[i].device == device) {
        row.band.push_back({slot, i});
      }
    }
    rows_.push_back(row);
    return row.is_open;
  }

  void AddTrack(uint32_t slot, uint32_t index, int depth) {
    const Track& track = ranks_[slot]->tracks[index];
    Row row;
    row.key = KeyOfTrack(slot, track);
    row.depth = depth;
    row.label = track.label;
    row.rank = slot;
    row.track = index;
    if (track.lanes.empty()) {
      row.kind = RowKind::kSeries;
      row.height = kSeriesHeight;
      rows_.push_back(row);
      return;
    }
    row.lanes = static_cast<uint32_t>(track.lanes.size());
    row.can_open = true;
    row.is_open = choices_.flipped.contains(row.key) != OpensAtFirst(track);
    row.band.push_back({slot, index});
    if (row.is_open) row.lanes_shown = std::min(row.lanes, LevelsOf(choices_, row.key));
    row.height = row.is_open ? kLaneHeight * static_cast<float>(row.lanes_shown) : kBandHeight;
    row.height += 2;
    rows_.push_back(row);
  }

  // Hidden rows, and all that stand below them.
  void RemoveHidden() {
    std::optional<int> hidden_depth;  // of the last hidden row, while those below it are passed
    std::erase_if(rows_, [&](const Row& row) {
      if (hidden_depth.has_value() && row.depth > *hidden_depth) return true;
      hidden_depth.reset();
      if (choices_.hidden.contains(row.key)) hidden_depth = row.depth;
      return hidden_depth.has_value();
    });
  }

  bool IsWanted(const RowFilter& filter, const Row& row) const {
    // A node's row is of several ranks.
    if (filter.ranks && row.kind == RowKind::kNode) return false;
    const int64_t rank = summary_.ranks[row.rank].rank;
    if (!filter.WantsRank(rank % kFirstRankOfB) || !filter.WantsLabel(row.label)) return false;
    return !filter.categories || HasAny(*filter.categories, row);
  }

  bool HasAny(const std::bitset<kCategories>& categories, const Row& row) const {
    if (row.track == kNoTrack) return false;
    const std::vector<Lane>& lanes = ranks_[row.rank]->tracks[row.track].lanes;
    return std::any_of(lanes.begin(), lanes.end(), [&](const Lane& lane) {
      return std::any_of(
          lane.categories().begin(), lane.categories().end(),
          [&](Category category) { return categories[static_cast<size_t>(category)]; });
    });
  }

  // Rows that match, and the groups above them.
  void ApplyFilter() {
    const RowFilter filter = ParseRowFilter(choices_.filter);
    if (filter.is_empty()) return;
    std::vector<Row> kept;
    int wanted_above = -1;  // depth of the row above that the rows kept so far stand below
    for (size_t i = rows_.size(); i-- > 0;) {
      Row& row = rows_[i];
      const bool is_above = row.depth < wanted_above;
      if (IsWanted(filter, row) || is_above) {
        wanted_above = row.depth;
        kept.push_back(std::move(row));
      }
    }
    std::reverse(kept.begin(), kept.end());
    rows_ = std::move(kept);
  }

  // They stay whatever the others are filtered by.
  std::vector<Row> PinnedRows() {
    std::vector<Row> pinned;
    for (const std::string& key : choices_.pinned) {
      const auto found =
          std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.key == key; });
      if (found == rows_.end()) continue;
      found->is_pinned = true;
      pinned.push_back(*found);
      pinned.back().badge = BadgeOf(found->rank);
      if (const auto badge = choices_.badges.find(key); badge != choices_.badges.end()) {
        pinned.back().badge = badge->second;
      }
      pinned.back().depth = 0;
    }
    return pinned;
  }

  const RunSummary& summary_;
  const RankTraces& ranks_;
  std::string BadgeOf(uint32_t slot) const {
    const int64_t rank = summary_.ranks[slot].rank;
    if (!summary_.has_two_runs()) return "r" + std::to_string(rank);
    return summary_.IsOfB(slot) ? "B r" + std::to_string(rank - kFirstRankOfB)
                                : "A r" + std::to_string(rank);
  }

  const RowChoices& choices_;
  std::vector<Row> rows_;
  size_t ranks_added_ = 0;
};

}  // namespace

std::vector<TrackRef> WorkTracks(const RankTraces& ranks, uint32_t slot) {
  std::vector<TrackRef> work;
  if (ranks[slot] == nullptr) return work;
  const std::vector<Track>& tracks = ranks[slot]->tracks;
  const bool has_streams = std::any_of(tracks.begin(), tracks.end(), [](const Track& track) {
    return track.kind == TrackKind::kStream;
  });
  for (uint32_t i = 0; i < tracks.size(); ++i) {
    if (IsWork(tracks[i], has_streams)) work.push_back({slot, i});
  }
  return work;
}

uint32_t LevelsOf(const RowChoices& choices, const std::string& key) {
  const auto chosen = choices.levels.find(key);
  return chosen == choices.levels.end() ? kLevelsShown : chosen->second;
}

RowTree BuildRows(const RunSummary& summary, const RankTraces& ranks, const RowChoices& choices) {
  return TreeBuilder(summary, ranks, choices).Build();
}

void Reveal(const RunSummary& summary, const RankTraces& ranks, const EventRef& ref,
            RowChoices* choices) {
  if (LaneOf(ranks, ref) == nullptr) return;
  const Track& track = ranks[ref.rank]->tracks[ref.track];
  const std::string key = KeyOfTrack(ref.rank, track);
  choices->filter.clear();
  // Closed rows hide those below them, so from the top down.
  std::vector<std::string> path = {"n/" + summary.ranks[ref.rank].host};
  for (const RankGroup& group : choices->groups) path.push_back("g/" + group.label);
  path.push_back("r" + std::to_string(ref.rank));
  if (track.kind == TrackKind::kStream) path.push_back(KeyOfDevice(ref.rank, track.device));
  path.push_back(key);
  for (const std::string& step : path) {
    choices->hidden.erase(step);
    for (const Row& row : BuildRows(summary, ranks, *choices).rows) {
      if (row.key != step || !row.can_open || row.is_open) continue;
      if (choices->flipped.erase(step) == 0) choices->flipped.insert(step);
      break;
    }
  }
  if (ref.lane >= LevelsOf(*choices, key)) choices->levels[key] = kAllLevels;
}

}  // namespace tutti::viewer
