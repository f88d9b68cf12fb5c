#include "analyzer/metrics/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <map>
#include <utility>

#include "analyzer/metrics/percentile.h"

namespace tutti::analyzer {
namespace {

constexpr size_t kMostStretches = 64;
constexpr size_t kFewestPerDrift = 16;
constexpr double kMostDrift = 500e-6;  // crystals differ by less than a fifth, slewing is no more

// other = own + offset + drift * (own - from)
struct Line {
  int64_t offset_ns = 0;
  double drift = 0;
  int64_t from_ns = 0;

  int64_t At(int64_t own_ns) const {
    return offset_ns + std::llround(drift * static_cast<double>(own_ns - from_ns));
  }
};

// Of two clocks: what makes the second one's time the first one's, and how sure that is.
struct Edge {
  size_t to = 0;
  Line line;
  int64_t error_ns = 0;
  int64_t readings = 0;
};

// When the second of two clocks saw an event, and the first one's time minus its own.
struct Difference {
  int64_t time_ns = 0;
  int64_t ns = 0;
};
using Differences = std::map<std::pair<size_t, size_t>, std::vector<Difference>>;

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
      differences[{lowest->clock, reading.clock}].push_back(
          {reading.time_ns, lowest->time_ns - reading.time_ns});
    }
  }
  return differences;
}

template <typename Value>
int64_t MedianDifference(std::span<const Difference> differences, Value value) {
  std::vector<int64_t> values;
  for (const Difference& difference : differences) values.push_back(value(difference));
  return LowerNearestRank(values, 500);
}

// Nine in ten differences are as near to the line.
int64_t ErrorOf(const Line& line, std::span<const Difference> differences) {
  std::vector<int64_t> errors_ns;
  for (const Difference& difference : differences) {
    errors_ns.push_back(std::abs(difference.ns - line.At(difference.time_ns)));
  }
  return LowerNearestRank(errors_ns, 900);
}

// Medians of stretches of time with as many differences each. `differences` sorted by time.
std::vector<Difference> Thinned(std::span<const Difference> differences) {
  const size_t stretches = std::min(kMostStretches, differences.size());
  std::vector<Difference> medians;
  for (size_t i = 0; i < stretches; ++i) {
    const size_t first = i * differences.size() / stretches;
    const size_t end = (i + 1) * differences.size() / stretches;
    const auto stretch = differences.subspan(first, end - first);
    medians.push_back({MedianDifference(stretch, [](const auto& each) { return each.time_ns; }),
                       MedianDifference(stretch, [](const auto& each) { return each.ns; })});
  }
  return medians;
}

double MedianSlope(std::span<const Difference> points) {
  std::vector<double> slopes;
  for (size_t i = 0; i < points.size(); ++i) {
    for (size_t j = i + 1; j < points.size(); ++j) {
      if (points[j].time_ns == points[i].time_ns) continue;
      slopes.push_back(static_cast<double>(points[j].ns - points[i].ns) /
                       static_cast<double>(points[j].time_ns - points[i].time_ns));
    }
  }
  return slopes.empty() ? 0 : LowerNearestRank(std::span<double>(slopes), 500);
}

Line LineThrough(double drift, std::span<const Difference> differences) {
  Line line;
  line.drift = drift;
  line.from_ns = differences[differences.size() / 2].time_ns;
  line.offset_ns = MedianDifference(differences, [&](const Difference& difference) {
    return difference.ns - line.At(difference.time_ns);
  });
  return line;
}

Edge EdgeOf(size_t to, std::vector<Difference>& differences) {
  const auto constant_ns = MedianDifference(differences, [](const auto& each) { return each.ns; });
  Edge edge{to, Line{constant_ns, 0, 0}, 0, static_cast<int64_t>(differences.size())};
  edge.error_ns = ErrorOf(edge.line, differences);
  if (differences.size() < kFewestPerDrift) return edge;
  std::sort(differences.begin(), differences.end(),
            [](const Difference& a, const Difference& b) { return a.time_ns < b.time_ns; });
  const double drift = MedianSlope(Thinned(differences));
  if (std::abs(drift) > kMostDrift) return edge;
  const Line line = LineThrough(drift, differences);
  const int64_t error_ns = ErrorOf(line, differences);
  if (2 * error_ns < edge.error_ns) {
    edge.line = line;
    edge.error_ns = error_ns;
  }
  return edge;
}

Edge Reversed(const Edge& edge, size_t to) {
  Edge back = edge;
  back.to = to;
  back.line.offset_ns = -edge.line.offset_ns;
  back.line.drift = 1 / (1 + edge.line.drift) - 1;
  if (edge.line.drift != 0) back.line.from_ns += edge.line.offset_ns;
  return back;
}

// From `edge.to` over `from` to the reference.
Line Joined(const ClockFit& from, const Edge& edge) {
  const Line rest{from.offset_ns, from.drift, from.from_ns};
  if (rest.drift == 0) {
    return {rest.offset_ns + edge.line.offset_ns, edge.line.drift, edge.line.from_ns};
  }
  const int64_t from_ns =
      edge.line.drift != 0 ? edge.line.from_ns : rest.from_ns - edge.line.offset_ns;
  const int64_t there_ns = from_ns + edge.line.At(from_ns);
  return {there_ns + rest.At(there_ns) - from_ns, (1 + edge.line.drift) * (1 + rest.drift) - 1,
          from_ns};
}

std::vector<std::vector<Edge>> EdgesOf(Differences& differences, size_t clocks, size_t fewest) {
  std::vector<std::vector<Edge>> edges(clocks);
  for (auto& [pair, values] : differences) {
    if (values.size() < fewest) continue;
    const Edge edge = EdgeOf(pair.second, values);
    edges[pair.first].push_back(edge);
    edges[pair.second].push_back(Reversed(edge, pair.first));
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
        const Line line = Joined(from, edge);
        fits[edge.to] = {
            first,        line.offset_ns, line.drift, line.from_ns, from.error_ns + edge.error_ns,
            edge.readings};
        next.push_back(edge.to);
      }
    }
  }
  return fits;
}

}  // namespace tutti::analyzer
