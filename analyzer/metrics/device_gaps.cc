#include "analyzer/metrics/device_gaps.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace tutti::analyzer {
namespace {

void Append(IntervalSet& set, int64_t begin_ns, int64_t end_ns) {
  if (begin_ns >= end_ns) return;
  if (!set.empty() && set.back().end_ns == begin_ns) {
    set.back().end_ns = end_ns;
  } else {
    set.push_back({begin_ns, end_ns});
  }
}

// The latest launch among the work that begins at `begin_ns`, from `first` on: until then the
// gap could not have ended as it did. Empty if one of them is not known.
std::optional<int64_t> LatestLaunch(std::span<const DeviceWork> work, size_t first,
                                    int64_t begin_ns) {
  std::optional<int64_t> latest;
  for (size_t i = first; i < work.size() && work[i].time.begin_ns == begin_ns; ++i) {
    if (work[i].time.length_ns() == 0) continue;
    if (!work[i].launched_ns) return std::nullopt;
    latest = std::max(latest.value_or(*work[i].launched_ns), *work[i].launched_ns);
  }
  return latest;
}

// Gaps after `busy_until_ns`; that is moved to the end of the last work.
std::vector<DeviceGap> GapsAfter(std::span<const DeviceWork> work, int64_t& busy_until_ns) {
  std::vector<DeviceGap> gaps;
  for (size_t i = 0; i < work.size(); ++i) {
    const Interval& time = work[i].time;
    if (time.length_ns() == 0) continue;
    if (time.begin_ns > busy_until_ns) {
      gaps.push_back({{busy_until_ns, time.begin_ns}, LatestLaunch(work, i, time.begin_ns)});
    }
    busy_until_ns = std::max(busy_until_ns, time.end_ns);
  }
  return gaps;
}

}  // namespace

std::vector<DeviceGap> GapsBetween(std::span<const DeviceWork> work) {
  const auto first = std::find_if(work.begin(), work.end(),
                                  [](const DeviceWork& w) { return w.time.length_ns() > 0; });
  if (first == work.end()) return {};
  int64_t busy_until_ns = first->time.end_ns;
  return GapsAfter(work, busy_until_ns);
}

std::vector<DeviceGap> DeviceGaps(std::span<const DeviceWork> work, Interval capture) {
  int64_t busy_until_ns = capture.begin_ns;
  std::vector<DeviceGap> gaps = GapsAfter(work, busy_until_ns);
  if (busy_until_ns < capture.end_ns) {
    const bool any_launch = std::any_of(
        work.begin(), work.end(), [](const DeviceWork& w) { return w.launched_ns.has_value(); });
    gaps.push_back({{busy_until_ns, capture.end_ns},
                    any_launch ? std::optional(capture.end_ns) : std::nullopt});
  }
  return gaps;
}

GapCauses CausesOf(std::span<const DeviceGap> gaps) {
  GapCauses causes;
  for (const DeviceGap& gap : gaps) {
    if (!gap.launched_ns) {
      Append(causes.unknown, gap.time.begin_ns, gap.time.end_ns);
      continue;
    }
    const int64_t launched_ns = std::clamp(*gap.launched_ns, gap.time.begin_ns, gap.time.end_ns);
    Append(causes.host, gap.time.begin_ns, launched_ns);
    Append(causes.launched, launched_ns, gap.time.end_ns);
  }
  return causes;
}

std::vector<int64_t> ConcurrencyNs(std::span<const IntervalSet> sets, Interval span) {
  std::vector<std::pair<int64_t, int>> edges;
  for (const IntervalSet& set : sets) {
    for (const Interval& interval : set) {
      const int64_t begin_ns = std::max(interval.begin_ns, span.begin_ns);
      const int64_t end_ns = std::min(interval.end_ns, span.end_ns);
      if (begin_ns >= end_ns) continue;
      edges.emplace_back(begin_ns, 1);
      edges.emplace_back(end_ns, -1);
    }
  }
  std::sort(edges.begin(), edges.end());
  std::vector<int64_t> total_ns(sets.size() + 1, 0);
  int64_t now_ns = span.begin_ns;
  size_t active = 0;
  for (const auto& [time_ns, change] : edges) {
    total_ns[active] += time_ns - now_ns;
    now_ns = time_ns;
    active += static_cast<size_t>(change);
  }
  total_ns[active] += span.end_ns - now_ns;
  return total_ns;
}

}  // namespace tutti::analyzer
