#include "analyzer/metrics/steps.h"

#include <algorithm>
#include <limits>

namespace tutti::analyzer {
namespace {

constexpr size_t kFewestPeriods = 3;
constexpr double kRegularShare = 0.95;

// Steps that end at `ends`, with what comes before the first and after the last as
// partial ones.
std::vector<HostStep> StepsBetween(std::span<const int64_t> ends, Interval capture) {
  std::vector<HostStep> steps;
  int64_t begin = capture.begin_ns;
  for (const int64_t end : ends) {
    steps.push_back({static_cast<int64_t>(steps.size()), {begin, end}, steps.empty()});
    begin = end;
  }
  if (!steps.empty() && begin < capture.end_ns) {
    steps.push_back({static_cast<int64_t>(steps.size()), {begin, capture.end_ns}, true});
  }
  return steps;
}

// First index from which the series repeats with `period`, allowing few exceptions.
std::optional<size_t> FirstRegular(std::span<const int64_t> symbols, size_t period) {
  const size_t pairs = symbols.size() - period;
  size_t first = 0;
  size_t mismatches = 0;
  for (size_t i = pairs; i-- > 0;) {
    if (symbols[i] == symbols[i + period]) continue;
    ++mismatches;
    const auto seen = static_cast<double>(pairs - i);
    if (static_cast<double>(mismatches) > (1 - kRegularShare) * seen) {
      first = i + 1;
      break;
    }
  }
  if (first > symbols.size() / 3) return std::nullopt;
  if (symbols.size() - first < kFewestPeriods * period) return std::nullopt;
  return first;
}

}  // namespace

std::vector<StepWindow> BuildWindows(std::span<const HostStep> steps,
                                     std::span<const LaunchedWork> work) {
  std::vector<StepWindow> windows;
  size_t next = 0;
  for (const HostStep& step : steps) {
    while (next < work.size() && work[next].launch_ns < step.host.begin_ns) ++next;
    int64_t end = step.host.end_ns;
    for (; next < work.size() && work[next].launch_ns < step.host.end_ns; ++next) {
      end = std::max(end, work[next].end_ns);
    }
    StepWindow window{.step = step, .window = {step.host.begin_ns, end}, .between_steps_ns = {}};
    if (!windows.empty()) {
      const int64_t previous_end = windows.back().window.end_ns;
      window.window.begin_ns = std::max(window.window.begin_ns, previous_end);
      window.window.end_ns = std::max(window.window.end_ns, window.window.begin_ns);
      window.between_steps_ns = window.window.begin_ns - previous_end;
    }
    windows.push_back(window);
  }
  return windows;
}

std::vector<HostStep> StepsFromOptimizer(std::span<const Interval> optimizer,
                                         std::span<const int64_t> backward_begin_ns,
                                         Interval capture) {
  std::vector<int64_t> ends;
  auto backward = backward_begin_ns.begin();
  for (const Interval& run : optimizer) {
    bool backward_between = ends.empty() || backward_begin_ns.empty();
    while (backward != backward_begin_ns.end() && *backward < run.begin_ns) {
      backward_between = backward_between || *backward >= ends.back();
      ++backward;
    }
    if (backward_between) {
      ends.push_back(run.end_ns);
    } else {
      ends.back() = std::max(ends.back(), run.end_ns);
    }
  }
  return StepsBetween(ends, capture);
}

std::optional<Period> FindPeriod(std::span<const int64_t> symbols) {
  for (size_t period = 1; period * kFewestPeriods <= symbols.size(); ++period) {
    if (const std::optional<size_t> first = FirstRegular(symbols, period)) {
      return Period{period, *first};
    }
  }
  return std::nullopt;
}

std::vector<HostStep> StepsFromCollectives(std::span<const int64_t> symbols,
                                           std::span<const Interval> intervals, Interval capture) {
  const std::optional<Period> period = FindPeriod(symbols);
  if (!period) return {};
  // The period may begin anywhere in a step: it is cut where the longest pauses between
  // collectives are, which is where forward and the optimizer run.
  std::vector<int64_t> pause_ns(period->period, 0);
  for (size_t i = period->first; i + 1 < intervals.size(); ++i) {
    pause_ns[(i - period->first) % period->period] +=
        std::max<int64_t>(intervals[i + 1].begin_ns - intervals[i].end_ns, 0);
  }
  const auto cut =
      static_cast<size_t>(std::max_element(pause_ns.begin(), pause_ns.end()) - pause_ns.begin());
  std::vector<int64_t> ends;
  for (size_t i = period->first + cut; i < intervals.size(); i += period->period) {
    const size_t first = i + 1 >= period->period ? i + 1 - period->period : 0;
    int64_t end = intervals[i].end_ns;
    for (size_t k = first; k < i; ++k) end = std::max(end, intervals[k].end_ns);
    if (ends.empty() || end > ends.back()) ends.push_back(end);
  }
  return StepsBetween(ends, capture);
}

std::vector<StepKey> KeysOf(std::span<const int64_t> numbers) {
  std::map<int64_t, int64_t> seen;
  std::vector<StepKey> keys;
  for (const int64_t number : numbers) keys.push_back({number, seen[number]++});
  return keys;
}

std::map<StepKey, int64_t> NumberSteps(std::span<const std::vector<StepKey>> ranks) {
  // Merges the ranks' orders: a key that the merged order lacks goes behind the key that
  // the rank met before it.
  std::vector<StepKey> order;
  for (const std::vector<StepKey>& keys : ranks) {
    std::map<StepKey, size_t> place;
    for (size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    std::vector<std::vector<StepKey>> behind(order.size() + 1);  // 0: before everything
    size_t last = 0;
    for (const StepKey& key : keys) {
      const auto found = place.find(key);
      if (found == place.end()) {
        behind[last].push_back(key);
      } else {
        last = found->second + 1;
      }
    }
    std::vector<StepKey> merged = behind[0];
    for (size_t i = 0; i < order.size(); ++i) {
      merged.push_back(order[i]);
      merged.insert(merged.end(), behind[i + 1].begin(), behind[i + 1].end());
    }
    order = std::move(merged);
  }
  std::map<StepKey, int64_t> index;
  for (const StepKey& key : order) index.emplace(key, static_cast<int64_t>(index.size()));
  return index;
}

}  // namespace tutti::analyzer
