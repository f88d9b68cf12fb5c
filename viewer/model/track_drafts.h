// A rank's tracks while its tables are read: events and samples in any order, which become lanes
// and series at last.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "viewer/model/rank_trace.h"

namespace tutti::viewer {

struct TrackDraft {
  Track track;
  std::vector<Event> events;
  std::vector<Sample> samples;
  bool is_cumulative = false;  // samples are sums since the start
};

class TrackDrafts {
 public:
  // Of the rank in place `slot` of the summary, which outlives this.
  TrackDrafts(const RunSummary& summary, size_t slot)
      : summary_(summary), rank_(summary.ranks[slot]), times_(summary.TimesOf(slot)) {}

  // Of this kind, device and id. The label is only asked for where the track is new.
  template <typename Label>
  TrackDraft& Of(TrackKind kind, int64_t device, int64_t id, Label&& label) {
    const auto [found, is_new] = drafts_.try_emplace(Key(kind, device, id));
    if (is_new) Begin(found->first, label(), &found->second.track);
    return found->second;
  }

  // A time of the rank's file in the run's time.
  int64_t Aligned(int64_t time_ns) const;
  // An event between times of the rank's file. What is still open ends with the rank.
  void Add(TrackDraft& draft, int64_t begin_ns, std::optional<int64_t> end_ns, Event event) const;
  // The same of times that are in place already.
  void AddAligned(TrackDraft& draft, int64_t begin_ns, std::optional<int64_t> end_ns,
                  Event event) const;

  // The tracks, in order; those that are empty are left out.
  std::vector<Track> Take();

 private:
  using Key = std::tuple<TrackKind, int64_t, int64_t>;  // kind, device, id
  void Begin(const Key& key, std::string label, Track* track) const;

  const RunSummary& summary_;
  const schema::RankRow& rank_;
  const TimeMap& times_;
  std::map<Key, TrackDraft> drafts_;
};

}  // namespace tutti::viewer
