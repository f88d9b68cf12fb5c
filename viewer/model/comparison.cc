#include "viewer/model/comparison.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

namespace tutti::viewer {
namespace {

struct Sums {
  int64_t steps = 0;
  std::array<int64_t, kStepParts.size() + 1> a_ns = {};
  std::array<int64_t, kStepParts.size() + 1> b_ns = {};
};

void Add(const schema::StepBreakdownRow& row, std::array<int64_t, kStepParts.size() + 1>* sums) {
  (*sums)[0] += row.step_ns;
  const auto parts = PartsOf(row);
  for (size_t i = 0; i < parts.size(); ++i) (*sums)[i + 1] += parts[i];
}

Sums SumSteps(const RunSummary& summary, bool only_steady) {
  Sums sums;
  for (const schema::StepBreakdownRow& a : summary.breakdowns) {
    const auto step = static_cast<size_t>(a.step);
    if (a.rank >= kFirstRankOfB || step >= summary.steps.size()) continue;
    if (only_steady && summary.steps[step].is_steady == 0) continue;
    const auto* b = summary.FindBreakdown(a.rank + kFirstRankOfB, a.step);
    if (b == nullptr) continue;
    ++sums.steps;
    Add(a, &sums.a_ns);
    Add(*b, &sums.b_ns);
  }
  return sums;
}

}  // namespace

StepComparison CompareSteps(const RunSummary& summary) {
  Sums sums = SumSteps(summary, true);
  if (sums.steps == 0) sums = SumSteps(summary, false);
  StepComparison comparison;
  comparison.steps = sums.steps;
  if (sums.steps == 0) return comparison;
  for (size_t i = 0; i < sums.a_ns.size(); ++i) {
    comparison.parts.push_back({i == 0 ? "step" : kStepParts[i - 1], sums.a_ns[i] / sums.steps,
                                sums.b_ns[i] / sums.steps});
  }
  return comparison;
}

std::vector<NameDelta> CompareNames(const RangeTotals& a, const RangeTotals& b) {
  std::map<std::pair<NameId, Category>, NameDelta> by_name;
  const auto delta_of = [&](const NameTotal& total) -> NameDelta& {
    NameDelta& delta = by_name[{total.name, total.category}];
    delta.name = total.name;
    delta.category = total.category;
    return delta;
  };
  for (const NameTotal& total : a.names) {
    NameDelta& delta = delta_of(total);
    delta.a_count = total.count;
    delta.a_ns = total.total_ns;
  }
  for (const NameTotal& total : b.names) {
    NameDelta& delta = delta_of(total);
    delta.b_count = total.count;
    delta.b_ns = total.total_ns;
  }
  std::vector<NameDelta> deltas;
  for (const auto& [key, delta] : by_name) deltas.push_back(delta);
  std::stable_sort(deltas.begin(), deltas.end(), [](const NameDelta& x, const NameDelta& y) {
    return std::abs(x.b_ns - x.a_ns) > std::abs(y.b_ns - y.a_ns);
  });
  return deltas;
}

}  // namespace tutti::viewer
