#include "analyzer/metrics/clock_fit.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <utility>

#include "analyzer/metrics/percentile.h"

namespace tutti::analyzer {
namespace {

// Of two clocks: by how much the second must be moved, and how sure that is.
struct Edge {
  size_t to = 0;
  int64_t offset_ns = 0;
  int64_t error_ns = 0;
  int64_t readings = 0;
};

using Differences = std::map<std::pair<size_t, size_t>, std::vector<int64_t>>;

// Time of the lower clock minus that of the other, for each event and each clock but its
// lowest: all pairs would be many and say the same.
Differences CompareToLowest(std::span<const ClockReading> readings) {
  std::vector<ClockReading> sorted(readings.begin(), readings.end());
  std::sort(sorted.begin(), sorted.end(), [](const ClockReading& a, const ClockReading& b) {
    return std::pair(a.event, a.clock) < std::pair(b.event, b.clock);
  });
  Differences differences;
  const ClockReading* lowest = nullptr;
  for (const ClockReading& reading : sorted) {
    if (lowest == nullptr || lowest->event != reading.event) {
      lowest = &reading;
    } else if (lowest->clock != reading.clock) {
      differences[{lowest->clock, reading.clock}].push_back(lowest->time_ns - reading.time_ns);
    }
  }
  return differences;
}

Edge EdgeOf(size_t to, std::vector<int64_t>& differences_ns) {
  Edge edge{to, LowerNearestRank(differences_ns, 500), 0,
            static_cast<int64_t>(differences_ns.size())};
  for (int64_t& difference_ns : differences_ns) {
    difference_ns = std::abs(difference_ns - edge.offset_ns);
  }
  edge.error_ns = LowerNearestRank(differences_ns, 900);
  return edge;
}

std::vector<std::vector<Edge>> EdgesOf(Differences& differences, size_t clocks, size_t fewest) {
  std::vector<std::vector<Edge>> edges(clocks);
  for (auto& [pair, values] : differences) {
    if (values.size() < fewest) continue;
    Edge edge = EdgeOf(pair.second, values);
    edges[pair.first].push_back(edge);
    edge.to = pair.first;
    edge.offset_ns = -edge.offset_ns;
    edges[pair.second].push_back(edge);
  }
  return edges;
}

}  // namespace

std::vector<ClockFit> FitClocks(std::span<const ClockReading> readings, size_t clocks,
                                size_t fewest) {
  Differences differences = CompareToLowest(readings);
  const std::vector<std::vector<Edge>> edges = EdgesOf(differences, clocks, fewest);
  std::vector<ClockFit> fits(clocks);
  std::vector<bool> done(clocks, false);
  for (size_t first = 0; first < clocks; ++first) {
    if (done[first]) continue;
    done[first] = true;
    fits[first].reference = first;
    for (std::deque<size_t> next = {first}; !next.empty(); next.pop_front()) {
      const ClockFit& from = fits[next.front()];
      for (const Edge& edge : edges[next.front()]) {
        if (done[edge.to]) continue;
        done[edge.to] = true;
        fits[edge.to] = {first, from.offset_ns + edge.offset_ns, from.error_ns + edge.error_ns,
                         edge.readings};
        next.push_back(edge.to);
      }
    }
  }
  return fits;
}

}  // namespace tutti::analyzer
