#include "analyzer/input/device_events.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace tutti::analyzer {

LaunchIndex::LaunchIndex(std::span<const ApiEvent> calls) {
  entries_.reserve(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].correlation_id == 0) continue;
    entries_.push_back({calls[i].correlation_id, static_cast<int64_t>(i), calls[i].begin_ns});
  }
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.correlation_id, a.begin_ns) < std::tie(b.correlation_id, b.begin_ns);
  });
  // Drops calls inside another one with the same id.
  size_t kept = 0;
  for (const Entry& entry : entries_) {
    const bool is_inner = kept > 0 && entries_[kept - 1].correlation_id == entry.correlation_id &&
                          calls[static_cast<size_t>(entry.place)].end_ns <=
                              calls[static_cast<size_t>(entries_[kept - 1].place)].end_ns;
    if (!is_inner) entries_[kept++] = entry;
  }
  entries_.resize(kept);
}

int64_t LaunchIndex::Find(int64_t correlation_id, int64_t work_begin_ns) const {
  if (correlation_id == 0) return -1;
  const auto first =
      std::lower_bound(entries_.begin(), entries_.end(), correlation_id,
                       [](const Entry& entry, int64_t id) { return entry.correlation_id < id; });
  if (first == entries_.end() || first->correlation_id != correlation_id) return -1;
  auto best = first;
  for (auto it = first; it != entries_.end() && it->correlation_id == correlation_id; ++it) {
    if (it->begin_ns > work_begin_ns) break;
    best = it;
  }
  return best->place;
}

void SetRoles(std::span<DeviceEvent> events, std::span<const DeviceCollective> collectives,
              const KernelRules& rules, const std::function<const std::string&(int64_t)>& name_of) {
  std::unordered_set<int64_t> by_correlation;
  std::set<std::tuple<int64_t, int64_t, int64_t>> by_place;
  for (const DeviceCollective& collective : collectives) {
    if (collective.correlation_id != 0) by_correlation.insert(collective.correlation_id);
    if (collective.device_id && collective.stream_id && collective.begin_ns) {
      by_place.emplace(*collective.device_id, *collective.stream_id, *collective.begin_ns);
    }
  }
  struct Named {
    KernelRole role;
    bool is_told;
  };
  std::unordered_map<int64_t, Named> by_name;
  for (DeviceEvent& event : events) {
    if (event.kind != DeviceEvent::Kind::kKernel) continue;
    const bool of_collective =
        event.graph_node_id == 0
            ? event.correlation_id != 0 && by_correlation.contains(event.correlation_id)
            : by_place.contains({event.device_id, event.stream_id, event.begin_ns});
    if (of_collective) {
      event.role = KernelRole::kCommunication;
      event.role_is_told = true;
      continue;
    }
    auto named = by_name.find(event.name_id);
    if (named == by_name.end()) {
      const std::string& name = name_of(event.name_id);
      const std::optional<KernelRole> told = rules.RoleOf(name);
      named =
          by_name.emplace(event.name_id, Named{told.value_or(RoleOfKernel(name)), !!told}).first;
    }
    event.role = named->second.role;
    event.role_is_told = named->second.is_told;
  }
}

}  // namespace tutti::analyzer
