#include "viewer/model/event_set.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>

namespace tutti::viewer {
namespace {

// Which entries of a lane's dictionary a predicate accepts; empty if none.
template <typename Predicate>
std::vector<bool> Accepted(const Lane& lane, Predicate&& predicate) {
  std::vector<bool> accepted(lane.names().size());
  bool any = false;
  for (size_t i = 0; i < accepted.size(); ++i) {
    accepted[i] = predicate(lane.names()[i]);
    any = any || accepted[i];
  }
  if (!any) accepted.clear();
  return accepted;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

int64_t MedianOfSorted(const std::vector<int64_t>& sorted) {
  return sorted.empty() ? 0 : sorted[(sorted.size() - 1) / 2];
}

}  // namespace

const Lane* LaneOf(const RankTraces& ranks, const EventRef& ref) {
  if (ref.rank >= ranks.size() || ranks[ref.rank] == nullptr) return nullptr;
  const std::vector<Track>& tracks = ranks[ref.rank]->tracks;
  if (ref.track >= tracks.size() || ref.lane >= tracks[ref.track].lanes.size()) return nullptr;
  return &tracks[ref.track].lanes[ref.lane];
}

std::optional<Event> EventAt(const RankTraces& ranks, const EventRef& ref) {
  const Lane* lane = LaneOf(ranks, ref);
  if (lane == nullptr || ref.index >= lane->size()) return std::nullopt;
  return lane->event(ref.index);
}

void ForEachLane(const RankTraces& ranks, const LaneVisitor& visit) {
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank] == nullptr) continue;
    const std::vector<Track>& tracks = ranks[rank]->tracks;
    for (uint32_t track = 0; track < tracks.size(); ++track) {
      const std::vector<Lane>& lanes = tracks[track].lanes;
      for (uint32_t lane = 0; lane < lanes.size(); ++lane) {
        visit({rank, track, lane, 0}, lanes[lane]);
      }
    }
  }
}

Result<NameFilter> NameFilter::Parse(const std::string& text) {
  NameFilter filter;
  if (text.size() >= 3 && text.front() == '/' && text.back() == '/') {
    try {
      const std::regex pattern(text.substr(1, text.size() - 2), std::regex::icase);
      filter.matches_ = [pattern](std::string_view name) {
        // The library's matcher recurses: a long name could exhaust the stack.
        const std::string_view head = name.substr(0, 1000);
        return std::regex_search(head.begin(), head.end(), pattern);
      };
    } catch (const std::regex_error& error) {
      return UsageError(text + ": no regular expression (" + error.what() + ")");
    }
  } else {
    filter.matches_ = [part = Lower(text)](std::string_view name) {
      return Lower(name).find(part) != std::string::npos;
    };
  }
  return filter;
}

SearchResult Search(const RankTraces& ranks, const NameTable& names, const NameFilter& filter,
                    size_t limit) {
  std::map<NameId, bool> known;
  SearchResult result;
  std::vector<std::pair<int64_t, EventRef>> hits;
  ForEachLane(ranks, [&](EventRef ref, const Lane& lane) {
    const std::vector<bool> accepted = Accepted(lane, [&](const LaneName& entry) {
      const auto [found, is_new] = known.try_emplace(entry.name, false);
      if (is_new) found->second = filter.Matches(names.Text(entry.name));
      return found->second;
    });
    if (accepted.empty()) return;
    size_t of_lane = 0;
    for (ref.index = 0; ref.index < lane.size(); ++ref.index) {
      if (!accepted[lane.name_index(ref.index)]) continue;
      ++result.total;
      if (of_lane++ < limit) hits.emplace_back(lane.begin_ns(ref.index), ref);
    }
  });
  std::sort(hits.begin(), hits.end());
  result.hits.reserve(hits.size());
  for (const auto& [begin_ns, ref] : hits) result.hits.push_back(ref);
  for (const auto& [name, matches] : known) {
    if (matches) result.names.insert(name);
  }
  return result;
}

SearchResult SearchDurations(const RankTraces& ranks, NameId name, int64_t least_ns,
                             int64_t most_ns, size_t limit) {
  SearchResult result;
  std::vector<std::pair<int64_t, EventRef>> hits;
  ForEachLane(ranks, [&](EventRef ref, const Lane& lane) {
    const std::vector<bool> accepted =
        Accepted(lane, [&](const LaneName& entry) { return entry.name == name; });
    if (accepted.empty()) return;
    size_t of_lane = 0;
    for (ref.index = 0; ref.index < lane.size(); ++ref.index) {
      if (!accepted[lane.name_index(ref.index)]) continue;
      const int64_t duration = lane.duration_ns(ref.index);
      if (duration < least_ns || duration > most_ns) continue;
      ++result.total;
      if (of_lane++ < limit) hits.emplace_back(lane.begin_ns(ref.index), ref);
    }
  });
  std::sort(hits.begin(), hits.end());
  for (const auto& [begin_ns, ref] : hits) result.hits.push_back(ref);
  if (!hits.empty()) result.names.insert(name);
  return result;
}

std::optional<EventRef> NextOfSameName(const RankTraces& ranks, const EventRef& ref,
                                       int direction) {
  const std::optional<Event> event = EventAt(ranks, ref);
  if (!event.has_value()) return std::nullopt;
  const std::vector<Lane>& lanes = ranks[ref.rank]->tracks[ref.track].lanes;
  std::optional<std::pair<int64_t, EventRef>> best;
  for (uint32_t i = 0; i < lanes.size(); ++i) {
    const Lane& lane = lanes[i];
    const std::vector<bool> accepted =
        Accepted(lane, [&](const LaneName& entry) { return entry.name == event->name; });
    if (accepted.empty()) continue;
    // Same moment in another lane: ordered by lane.
    const auto is_beyond = [&](uint32_t index) {
      const auto here = std::tuple(event->begin_ns, ref.lane, ref.index);
      const auto there = std::tuple(lane.begin_ns(index), i, index);
      return direction > 0 ? there > here : there < here;
    };
    uint32_t index = lane.FirstBeginningAt(event->begin_ns);
    if (direction > 0) {
      while (index < lane.size() && !(accepted[lane.name_index(index)] && is_beyond(index)))
        ++index;
      if (index == lane.size()) continue;
    } else {
      index = std::min(lane.size(), lane.FirstBeginningAt(event->begin_ns + 1, index));
      while (index > 0 && !(accepted[lane.name_index(index - 1)] && is_beyond(index - 1))) --index;
      if (index-- == 0) continue;
    }
    const std::pair candidate(lane.begin_ns(index), EventRef{ref.rank, ref.track, i, index});
    const bool is_nearer =
        !best.has_value() || (direction > 0 ? candidate < *best : candidate > *best);
    if (is_nearer) best = candidate;
  }
  if (!best.has_value()) return std::nullopt;
  return best->second;
}

std::optional<EventRef> NextInLane(const RankTraces& ranks, const EventRef& ref, int direction) {
  const Lane* lane = LaneOf(ranks, ref);
  if (lane == nullptr) return std::nullopt;
  EventRef next = ref;
  if (direction > 0 && ref.index + 1 < lane->size()) {
    ++next.index;
  } else if (direction < 0 && ref.index > 0) {
    --next.index;
  } else {
    return std::nullopt;
  }
  return next;
}

std::optional<EventRef> FindRow(const RankTraces& ranks, uint32_t rank, Source source,
                                uint32_t row_id) {
  if (rank >= ranks.size() || ranks[rank] == nullptr) return std::nullopt;
  std::optional<EventRef> result;
  const RankTraces one = [&] {
    RankTraces only(rank + 1);
    only[rank] = ranks[rank];
    return only;
  }();
  ForEachLane(one, [&](EventRef ref, const Lane& lane) {
    if (result.has_value()) return;
    const std::vector<bool> accepted =
        Accepted(lane, [&](const LaneName& entry) { return entry.source == source; });
    if (accepted.empty()) return;
    for (ref.index = 0; ref.index < lane.size(); ++ref.index) {
      if (lane.row_id(ref.index) == row_id && accepted[lane.name_index(ref.index)]) {
        result = ref;
        return;
      }
    }
  });
  return result;
}

RangeTotals SumRange(const RankTraces& ranks, int64_t begin_ns, int64_t end_ns,
                     const std::function<bool(const EventRef&, const Track&)>& wanted) {
  RangeTotals totals;
  std::map<std::pair<NameId, Category>, NameTotal> by_name;
  ForEachLane(ranks, [&](const EventRef& ref, const Lane& lane) {
    if (!wanted(ref, ranks[ref.rank]->tracks[ref.track])) return;
    std::vector<NameTotal> of_lane(lane.names().size());
    for (uint32_t i = lane.FirstEndingAfter(begin_ns); i < lane.size(); ++i) {
      const int64_t begin = lane.begin_ns(i);
      if (begin >= end_ns) break;
      NameTotal& total = of_lane[lane.name_index(i)];
      const int64_t duration = lane.duration_ns(i);
      ++total.count;
      total.total_ns += std::min(end_ns, begin + duration) - std::max(begin_ns, begin);
      total.longest_ns = std::max(total.longest_ns, duration);
    }
    for (size_t i = 0; i < of_lane.size(); ++i) {
      if (of_lane[i].count == 0) continue;
      NameTotal& total = by_name[{lane.names()[i].name, lane.names()[i].category}];
      total.name = lane.names()[i].name;
      total.category = lane.names()[i].category;
      total.count += of_lane[i].count;
      total.total_ns += of_lane[i].total_ns;
      total.longest_ns = std::max(total.longest_ns, of_lane[i].longest_ns);
    }
  });
  for (const auto& [key, total] : by_name) {
    totals.count += total.count;
    totals.names.push_back(total);
  }
  std::stable_sort(totals.names.begin(), totals.names.end(),
                   [](const NameTotal& a, const NameTotal& b) { return a.total_ns > b.total_ns; });
  return totals;
}

double NameDurations::PercentileOf(int64_t duration_ns) const {
  if (sorted_ns.empty()) return 0;
  const auto shorter = std::lower_bound(sorted_ns.begin(), sorted_ns.end(), duration_ns);
  return static_cast<double>(shorter - sorted_ns.begin()) / static_cast<double>(sorted_ns.size());
}

int64_t NameDurations::Quantile(double q) const {
  if (sorted_ns.empty()) return 0;
  return sorted_ns[static_cast<size_t>(q * static_cast<double>(sorted_ns.size() - 1))];
}

std::optional<int64_t> NameDurations::MedianOf(uint32_t slot) const {
  for (const auto& [rank, median_ns] : rank_median_ns) {
    if (rank == slot) return median_ns;
  }
  return std::nullopt;
}

NameDurations CollectDurations(const RankTraces& ranks, NameId name, Source source) {
  std::map<uint32_t, std::vector<int64_t>> by_rank;
  ForEachLane(ranks, [&](const EventRef& ref, const Lane& lane) {
    const std::vector<bool> accepted = Accepted(lane, [&](const LaneName& entry) {
      return entry.name == name && entry.source == source && !entry.is_open;
    });
    if (accepted.empty()) return;
    std::vector<int64_t>& durations = by_rank[ref.rank];
    for (uint32_t i = 0; i < lane.size(); ++i) {
      if (accepted[lane.name_index(i)]) durations.push_back(lane.duration_ns(i));
    }
  });
  NameDurations result;
  for (auto& [rank, durations] : by_rank) {
    std::sort(durations.begin(), durations.end());
    result.rank_median_ns.emplace_back(rank, MedianOfSorted(durations));
    result.sorted_ns.insert(result.sorted_ns.end(), durations.begin(), durations.end());
  }
  std::sort(result.sorted_ns.begin(), result.sorted_ns.end());
  return result;
}

}  // namespace tutti::viewer
