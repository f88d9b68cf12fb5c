// Questions about all loaded events: those of some names, the next of the same name, sums over a
// range of time. Each looks at the packed columns of lanes directly: ten million events take some
// milliseconds.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "viewer/model/rank_trace.h"

namespace tutti::viewer {

// By slot; null where a rank is not loaded.
using RankTraces = std::vector<std::shared_ptr<const RankTrace>>;

const Lane* LaneOf(const RankTraces& ranks, const EventRef& ref);
std::optional<Event> EventAt(const RankTraces& ranks, const EventRef& ref);
// What identifies the lane of an event; its index is 0.
using LaneVisitor = std::function<void(const EventRef& lane_ref, const Lane& lane)>;
void ForEachLane(const RankTraces& ranks, const LaneVisitor& visit);

// Which names a search means.
class NameFilter {
 public:
  // `text` is part of a name, in any case; /…/ a regular expression (ECMAScript). kUsage if that
  // is none.
  static Result<NameFilter> Parse(const std::string& text);
  bool Matches(std::string_view name) const { return matches_(name); }

 private:
  std::function<bool(std::string_view)> matches_;
};

struct SearchResult {
  int64_t total = 0;           // events that match
  std::vector<EventRef> hits;  // in order of time; the first `limit` of each lane's
  std::set<NameId> names;      // that match
};
SearchResult Search(const RankTraces& ranks, const NameTable& names, const NameFilter& filter,
                    size_t limit);

// The same for the events of one name whose duration is in [least_ns, most_ns].
SearchResult SearchDurations(const RankTraces& ranks, NameId name, int64_t least_ns,
                             int64_t most_ns, size_t limit);

// The next (direction 1) or previous (-1) event of the same name on the same track.
std::optional<EventRef> NextOfSameName(const RankTraces& ranks, const EventRef& ref, int direction);
// The next or previous event of the same lane.
std::optional<EventRef> NextInLane(const RankTraces& ranks, const EventRef& ref, int direction);
// The event of a rank that is in this row of this table, nullopt none.
std::optional<EventRef> FindRow(const RankTraces& ranks, uint32_t rank, Source source,
                                uint32_t row_id);

struct NameTotal {
  NameId name = 0;
  Category category = Category::kHost;
  int64_t count = 0;     // that overlap the range
  int64_t total_ns = 0;  // inside the range
  int64_t longest_ns = 0;
};
struct RangeTotals {
  int64_t count = 0;
  std::vector<NameTotal> names;  // most time first
};
// Of all events in [begin_ns, end_ns) of the lanes that `wanted` accepts.
RangeTotals SumRange(const RankTraces& ranks, int64_t begin_ns, int64_t end_ns,
                     const std::function<bool(const EventRef&, const Track&)>& wanted);

// Durations of all finished events of one name and source, sorted, and each rank's median.
struct NameDurations {
  std::vector<int64_t> sorted_ns;
  std::vector<std::pair<uint32_t, int64_t>> rank_median_ns;  // (slot, median)
  // Share of events that are shorter, 0 to 1.
  double PercentileOf(int64_t duration_ns) const;
  int64_t Quantile(double q) const;  // lower nearest rank; 0 of none
  std::optional<int64_t> MedianOf(uint32_t slot) const;
};
NameDurations CollectDurations(const RankTraces& ranks, NameId name, Source source);

}  // namespace tutti::viewer
