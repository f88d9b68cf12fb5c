#include "viewer/model/alignment.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tutti::viewer {
namespace {

using Steps = std::span<const schema::RunStepRow>;

std::vector<AlignedStep> PairByPlace(size_t a, size_t b) {
  std::vector<AlignedStep> pairs(std::max(a, b));
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (i < a) pairs[i].a = i;
    if (i < b) pairs[i].b = i;
  }
  return pairs;
}

std::vector<AlignedStep> PairByNumber(Steps a, Steps b) {
  std::map<std::pair<int64_t, int64_t>, size_t> places;
  for (size_t i = 0; i < b.size(); ++i) places.emplace(std::pair(b[i].number, b[i].occurrence), i);
  std::vector<AlignedStep> pairs;
  size_t next_b = 0;
  size_t matches = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto found = places.find({a[i].number, a[i].occurrence});
    if (found == places.end() || found->second < next_b) {
      pairs.push_back({i, std::nullopt, 0});
      continue;
    }
    while (next_b < found->second) pairs.push_back({std::nullopt, next_b++, 0});
    pairs.push_back({i, next_b++, 0});
    ++matches;
  }
  while (next_b < b.size()) pairs.push_back({std::nullopt, next_b++, 0});
  return matches > 0 ? pairs : PairByPlace(a.size(), b.size());
}

// From the begin of a step to that of the next; of the last to its end.
int64_t PeriodOf(Steps steps, std::optional<size_t> place) {
  if (!place.has_value()) return 0;
  const int64_t end_ns =
      *place + 1 < steps.size() ? steps[*place + 1].begin_ns : steps[*place].end_ns;
  return std::max<int64_t>(0, end_ns - steps[*place].begin_ns);
}

int64_t LeadOf(Steps steps, int64_t begin_ns) {
  return steps.empty() ? 0 : std::max<int64_t>(0, steps.front().begin_ns - begin_ns);
}

}  // namespace

Alignment AlignSteps(Steps a, int64_t begin_a_ns, Steps b, int64_t begin_b_ns) {
  Alignment alignment;
  if (a.empty() || b.empty()) {
    alignment.times_b.Add(begin_b_ns, begin_a_ns - begin_b_ns);
    alignment.steps = PairByPlace(a.size(), b.size());
    for (AlignedStep& step : alignment.steps) {
      step.begin_ns = step.a ? a[*step.a].begin_ns : alignment.times_b(b[*step.b].begin_ns);
    }
    return alignment;
  }
  alignment.steps = PairByNumber(a, b);
  int64_t at_ns = begin_a_ns + std::max(LeadOf(a, begin_a_ns), LeadOf(b, begin_b_ns));
  for (AlignedStep& step : alignment.steps) {
    step.begin_ns = at_ns;
    if (step.a) alignment.times_a.Add(a[*step.a].begin_ns, at_ns - a[*step.a].begin_ns);
    if (step.b) alignment.times_b.Add(b[*step.b].begin_ns, at_ns - b[*step.b].begin_ns);
    at_ns += std::max(PeriodOf(a, step.a), PeriodOf(b, step.b));
  }
  return alignment;
}

}  // namespace tutti::viewer
