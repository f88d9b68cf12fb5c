#include "analyzer/metrics/breakdown.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>

namespace tutti::analyzer {
namespace {

// Gives `set` what nobody before it took, and marks that as taken.
IntervalSet Take(const IntervalSet& set, IntervalSet& taken) {
  IntervalSet own = Subtract(set, taken);
  taken = Merge(taken, set);
  return own;
}

// Charges the moments of one canonical interval list to late ranks.
struct Charge {
  Interval interval;
  int late_rank;
};

// Splits time at every begin and end of a wait; within a piece the charged rank is
// constant. Sweep with a set ordered by (latest end, lowest rank). O(n log n).
std::vector<Charge> ChargedPieces(std::span<const RankWait> waits) {
  struct Later {
    bool operator()(const RankWait* a, const RankWait* b) const {
      if (a->interval.end_ns != b->interval.end_ns) return a->interval.end_ns > b->interval.end_ns;
      if (a->late_rank != b->late_rank) return a->late_rank < b->late_rank;
      return a < b;
    }
  };
  std::vector<const RankWait*> by_begin;
  std::vector<int64_t> edges;
  for (const RankWait& wait : waits) {
    if (wait.interval.length_ns() <= 0) continue;
    by_begin.push_back(&wait);
    edges.push_back(wait.interval.begin_ns);
    edges.push_back(wait.interval.end_ns);
  }
  std::sort(by_begin.begin(), by_begin.end(), [](const RankWait* a, const RankWait* b) {
    return a->interval.begin_ns < b->interval.begin_ns;
  });
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());

  std::vector<Charge> pieces;
  std::set<const RankWait*, Later> active;
  auto next = by_begin.begin();
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    while (next != by_begin.end() && (*next)->interval.begin_ns <= edges[i]) active.insert(*next++);
    while (!active.empty() && (*active.rbegin())->interval.end_ns <= edges[i]) {
      active.erase(std::prev(active.end()));
    }
    if (!active.empty()) pieces.push_back({{edges[i], edges[i + 1]}, (*active.begin())->late_rank});
  }
  return pieces;
}

}  // namespace

std::vector<int64_t> TotalPerWindow(std::span<const Interval> set,
                                    std::span<const Interval> windows) {
  std::vector<int64_t> totals(windows.size(), 0);
  size_t first = 0;  // first interval that may reach into this window or a later one
  for (size_t w = 0; w < windows.size(); ++w) {
    assert(w == 0 || windows[w - 1].end_ns <= windows[w].begin_ns);
    while (first < set.size() && set[first].end_ns <= windows[w].begin_ns) ++first;
    for (size_t i = first; i < set.size() && set[i].begin_ns < windows[w].end_ns; ++i) {
      totals[w] += std::min(set[i].end_ns, windows[w].end_ns) -
                   std::max(set[i].begin_ns, windows[w].begin_ns);
    }
  }
  return totals;
}

std::vector<Breakdown> BreakDown(const ActivitySets& activity, std::span<const Interval> windows) {
  IntervalSet taken = activity.compute;
  std::vector<Breakdown> result(windows.size());
  const auto fill = [&](const IntervalSet& own, int64_t Breakdown::*part) {
    const std::vector<int64_t> totals = TotalPerWindow(own, windows);
    for (size_t w = 0; w < windows.size(); ++w) result[w].*part = totals[w];
  };
  fill(activity.compute, &Breakdown::compute_ns);
  fill(Take(activity.comm_transfer, taken), &Breakdown::exposed_comm_transfer_ns);
  fill(Take(activity.comm_wait, taken), &Breakdown::exposed_comm_wait_ns);
  fill(Take(activity.comm_unsplit, taken), &Breakdown::exposed_comm_unsplit_ns);
  fill(Take(activity.copy, taken), &Breakdown::exposed_copy_ns);
  fill(Take(activity.input_wait, taken), &Breakdown::input_wait_ns);
  fill(Take(activity.sync, taken), &Breakdown::sync_ns);
  fill(Take(activity.unexplained, taken), &Breakdown::idle_ns);
  for (size_t w = 0; w < windows.size(); ++w) {
    result[w].host_bound_ns = windows[w].length_ns() - result[w].total_ns();
  }
  return result;
}

IntervalSet ExposedWait(const ActivitySets& activity) {
  return Subtract(activity.comm_wait, Merge(activity.compute, activity.comm_transfer));
}

std::vector<std::vector<WaitFor>> SplitWait(std::span<const Interval> exposed_wait,
                                            std::span<const RankWait> waits,
                                            std::span<const Interval> windows) {
  std::map<int, std::vector<Interval>> by_rank;
  for (const Charge& piece : ChargedPieces(waits)) {
    by_rank[piece.late_rank].push_back(piece.interval);
  }
  std::vector<std::vector<WaitFor>> result(windows.size());
  for (const auto& [late_rank, pieces] : by_rank) {
    const std::vector<int64_t> totals =
        TotalPerWindow(Intersect(Union(pieces), exposed_wait), windows);
    for (size_t w = 0; w < windows.size(); ++w) {
      if (totals[w] > 0) result[w].push_back({late_rank, totals[w]});
    }
  }
  return result;
}

}  // namespace tutti::analyzer
