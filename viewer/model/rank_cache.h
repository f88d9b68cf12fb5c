// A rank's packed events in a file, so that a run that was looked at before is there at once: the
// file is mapped and its lanes are used as they lie in it.
//
// An entry belongs to a state of the rank's file and of the analysis (path, size, time, SQLite's
// change counter); of another state it is not found. What is damaged is not found either: all bytes
// are checked. Entries that were not used for a week are removed, and the oldest when all take more
// than 8 GiB. Thread-safe; several processes may share a folder.
//
//   header     lengths, checksum of all that follows
//   key        what the entry belongs to
//   catalogue  names, tracks, series, and where each lane lies
//   lanes      as in lane_columns.h, each aligned
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "viewer/model/rank_trace.h"

namespace tutti::viewer {

class RankCache {
 public:
  // In `folder`, which exists and is the user's own; "": finds and stores nothing. Ranks with fewer
  // than `least_events` are read as fast from their own files and not stored.
  explicit RankCache(std::string folder, int64_t least_events = 100'000)
      : folder_(std::move(folder)), least_events_(least_events) {}

  // nullopt: not there. Two runs that share an axis have times of their own and no entries.
  std::optional<RankTrace> Load(const RunSummary& summary, size_t slot, NameTable* names) const;
  // Whether there is an entry now; of some ranks none is wanted. Nothing is lost if it can't be
  // written.
  Result<bool> Store(const RunSummary& summary, size_t slot, const NameTable& names,
                     const RankTrace& trace) const;

 private:
  std::string KeyOf(const RunSummary& summary, size_t slot) const;  // "": has none
  std::string PathOf(const std::string& key) const;
  void RemoveOld() const;

  std::string folder_;
  int64_t least_events_;
};

}  // namespace tutti::viewer
