#include "viewer/model/stragglers.h"

#include <algorithm>
#include <utility>

namespace tutti::viewer {
namespace {

// (median of own time, slot) of each rank with steps.
std::vector<std::pair<int64_t, size_t>> OwnTimes(const RunSummary& summary, bool only_steady) {
  std::vector<std::vector<int64_t>> own_ns(summary.ranks.size());
  for (const schema::StepBreakdownRow& row : summary.breakdowns) {
    const auto step = static_cast<size_t>(row.step);
    const std::optional<size_t> slot = summary.SlotOf(row.rank);
    if (!slot.has_value() || step >= summary.steps.size()) continue;
    if (only_steady && summary.steps[step].is_steady == 0) continue;
    own_ns[*slot].push_back(row.step_ns - row.exposed_comm_wait_ns);
  }
  std::vector<std::pair<int64_t, size_t>> medians;
  for (size_t slot = 0; slot < own_ns.size(); ++slot) {
    std::vector<int64_t>& all = own_ns[slot];
    if (all.empty()) continue;
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) / 2);
    std::nth_element(all.begin(), middle, all.end());
    medians.emplace_back(*middle, slot);
  }
  std::sort(medians.begin(), medians.end());
  return medians;
}

}  // namespace

std::optional<Stragglers> FindStragglers(const RunSummary& summary) {
  std::vector<std::pair<int64_t, size_t>> ranks = OwnTimes(summary, true);
  if (ranks.size() < 2) ranks = OwnTimes(summary, false);
  if (ranks.size() < 2) return std::nullopt;
  return Stragglers{ranks.back().second, ranks[(ranks.size() - 1) / 2].second,
                    ranks.front().second};
}

}  // namespace tutti::viewer
