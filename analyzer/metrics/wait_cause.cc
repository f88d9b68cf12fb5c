#include "analyzer/metrics/wait_cause.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace tutti::analyzer {
namespace {

// Of fewer causes the smallest are forgotten: their waits are then charged to who was late.
constexpr size_t kMostCauses = 16;

void KeepLargest(std::map<int64_t, int64_t>& delays) {
  while (delays.size() > kMostCauses) {
    delays.erase(std::min_element(delays.begin(), delays.end(),
                                  [](auto& a, auto& b) { return a.second < b.second; }));
  }
}

}  // namespace

std::shared_ptr<const WaitCauses::Delays> WaitCauses::DelaysOf(int64_t rank) const {
  static const auto kNone = std::make_shared<const Delays>();
  const auto found = delays_.find(rank);
  return found == delays_.end() ? kNone : found->second;
}

std::vector<CausedWait> WaitCauses::Add(int64_t late, std::span<const Waiting> members) {
  const std::shared_ptr<const Delays> carried = DelaysOf(late);
  std::vector<CausedWait> causes;
  int64_t own_ns = std::numeric_limits<int64_t>::max();  // that the last is late by itself
  for (const Waiting& member : members) {
    if (member.rank == late) continue;
    const std::shared_ptr<const Delays> own = DelaysOf(member.rank);
    int64_t rest_ns = member.wait_ns;
    std::vector<std::pair<int64_t, int64_t>> excess;  // ns and cause, largest first
    if (own != carried) {
      for (const auto& [cause, ns] : *carried) {
        const auto same = own->find(cause);
        const int64_t more_ns = ns - (same == own->end() ? 0 : same->second);
        // Who waits can't have been the cause of it.
        if (more_ns > 0 && cause != member.rank) excess.emplace_back(-more_ns, cause);
      }
      std::sort(excess.begin(), excess.end());
    }
    for (const auto& [ns, cause] : excess) {
      const int64_t part_ns = std::min(-ns, rest_ns);
      if (part_ns <= 0) break;
      causes.push_back({member.rank, cause, part_ns});
      rest_ns -= part_ns;
    }
    if (rest_ns > 0) causes.push_back({member.rank, late, rest_ns});
    own_ns = std::min(own_ns, rest_ns);
  }
  if (own_ns == std::numeric_limits<int64_t>::max()) return causes;
  auto after = std::make_shared<Delays>(*carried);
  if (own_ns > 0) (*after)[late] += own_ns;
  KeepLargest(*after);
  for (const Waiting& member : members) delays_[member.rank] = after;
  return causes;
}

}  // namespace tutti::analyzer
