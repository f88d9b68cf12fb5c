#include "analyzer/metrics/steps.h"

#include <algorithm>
#include <limits>
#include <map>

#include "analyzer/metrics/percentile.h"

namespace tutti::analyzer {
namespace {

constexpr size_t kFewestPeriods = 3;
constexpr double kRegularShare = 0.95;
constexpr size_t kMostRunsPerStep = 8;
constexpr double kAlternatingRatio = 1.2;
constexpr size_t kFewestAlternations = 8;

// Steps that end at `ends`; what comes before the first is part of it.
std::vector<HostStep> StepsBetween(std::span<const int64_t> ends, int64_t capture_begin_ns) {
  std::vector<HostStep> steps;
  int64_t begin = std::min(capture_begin_ns, ends.empty() ? capture_begin_ns : ends.front());
  for (const int64_t end : ends) {
    steps.push_back({static_cast<int64_t>(steps.size()), {begin, end}, steps.empty()});
    begin = end;
  }
  return steps;
}

// Optimizer runs without backward between them, and what they and the backward functions
// before or in them are.
struct OptimizerGroup {
  int64_t end_ns = 0;
  std::vector<int64_t> names;  // optimizer runs in order, then backward functions sorted
};

std::vector<OptimizerGroup> GroupRuns(std::span<const OptimizerRun> optimizer,
                                      std::span<const BackwardBegin> backward) {
  std::vector<OptimizerGroup> groups;
  auto next = backward.begin();
  for (const OptimizerRun& run : optimizer) {
    std::vector<int64_t> names;
    // Inside the run are those of a closure; PyTorch Lightning trains in one.
    for (; next != backward.end() && next->time_ns < run.time.end_ns; ++next) {
      names.push_back(next->name_id);
    }
    if (!groups.empty() && !backward.empty() && names.empty()) {
      groups.back().end_ns = std::max(groups.back().end_ns, run.time.end_ns);
      groups.back().names.push_back(run.name_id);
      continue;
    }
    // Threads of several devices run backward functions in any order.
    std::sort(names.begin(), names.end());
    names.insert(names.begin(), run.name_id);
    groups.push_back({run.time.end_ns, std::move(names)});
  }
  return groups;
}

// Whether short and long turns alternate from the second one on (the first holds set-up).
bool LengthsAlternate(std::span<const OptimizerGroup> groups) {
  size_t pairs = 0;
  size_t odd_longer = 0;
  size_t even_longer = 0;
  for (size_t i = 1; i + 1 < groups.size(); ++i) {
    const auto length = static_cast<double>(groups[i].end_ns - groups[i - 1].end_ns);
    const auto next = static_cast<double>(groups[i + 1].end_ns - groups[i].end_ns);
    ++pairs;
    if (length > kAlternatingRatio * next) ++(i % 2 == 1 ? odd_longer : even_longer);
    if (next > kAlternatingRatio * length) ++(i % 2 == 1 ? even_longer : odd_longer);
  }
  return pairs >= kFewestAlternations && static_cast<double>(std::max(odd_longer, even_longer)) >=
                                             kRegularShare * static_cast<double>(pairs);
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

void CutAtGaps(std::span<const Interval> gaps, std::vector<HostStep>& steps) {
  for (HostStep& step : steps) {
    for (const Interval& gap : gaps) {
      if (gap.begin_ns >= step.host.end_ns || gap.end_ns <= step.host.begin_ns) continue;
      step.host.begin_ns = std::min(gap.end_ns, step.host.end_ns);
      step.is_partial = true;
    }
  }
}

std::vector<HostStep> StepsAroundGaps(std::span<const Interval> gaps, Interval whole) {
  std::vector<HostStep> steps;
  int64_t begin_ns = whole.begin_ns;
  const auto add = [&](int64_t end_ns) {
    if (end_ns <= begin_ns) return;
    steps.push_back({static_cast<int64_t>(steps.size()), {begin_ns, end_ns}, false});
  };
  for (const Interval& gap : gaps) {
    add(std::min(gap.begin_ns, whole.end_ns));
    begin_ns = std::max(begin_ns, gap.end_ns);
  }
  add(whole.end_ns);
  if (steps.empty()) steps = {{0, whole, false}};
  return steps;
}

void ForgetGaps(std::span<const Interval> gaps, std::vector<StepWindow>& windows) {
  auto gap = gaps.begin();
  for (size_t i = 1; i < windows.size(); ++i) {
    const int64_t begin_ns = windows[i - 1].window.end_ns;
    while (gap != gaps.end() && gap->end_ns <= begin_ns) ++gap;
    if (gap == gaps.end()) return;
    if (gap->begin_ns < windows[i].window.begin_ns) windows[i].between_steps_ns.reset();
  }
}

std::optional<Period> FindPeriod(std::span<const int64_t> symbols) {
  for (size_t period = 1; period * kFewestPeriods <= symbols.size(); ++period) {
    if (const std::optional<size_t> first = FirstRegular(symbols, period)) {
      return Period{period, *first};
    }
  }
  return std::nullopt;
}

OptimizerSteps StepsFromOptimizer(std::span<const OptimizerRun> optimizer,
                                  std::span<const BackwardBegin> backward,
                                  int64_t capture_begin_ns) {
  const std::vector<OptimizerGroup> groups = GroupRuns(optimizer, backward);
  std::map<std::vector<int64_t>, int64_t> symbol_of;
  std::vector<int64_t> symbols;
  for (const OptimizerGroup& group : groups) {
    const auto next = static_cast<int64_t>(symbol_of.size());
    symbols.push_back(symbol_of.emplace(group.names, next).first->second);
  }
  Period period = FindPeriod(symbols).value_or(Period{1, 0});
  if (period.period > kMostRunsPerStep) period = {1, 0};  // a rare extra, no longer step
  if (symbol_of.size() == 1 && LengthsAlternate(groups)) period = {2, 0};
  std::vector<int64_t> ends;
  const size_t last_of_step = (period.first + period.period - 1) % period.period;
  for (size_t i = last_of_step; i < groups.size(); i += period.period) {
    ends.push_back(groups[i].end_ns);
  }
  return {StepsBetween(ends, capture_begin_ns), period.period};
}

std::vector<HostStep> StepsFromCollectives(std::span<const int64_t> symbols,
                                           std::span<const Interval> intervals,
                                           int64_t capture_begin_ns) {
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
  return StepsBetween(ends, capture_begin_ns);
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

std::optional<StepMarker> StepMarkerOf(const std::string& name, std::span<const Interval> times,
                                       Interval capture) {
  constexpr size_t kFewest = 3;
  if (times.size() < kFewest || capture.length_ns() <= 0) return std::nullopt;
  StepMarker marker{name, static_cast<int64_t>(times.size()), 0, 0};
  std::vector<int64_t> lengths_ns;
  int64_t covered_ns = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    if (i > 0 && times[i].begin_ns < times[i - 1].end_ns) return std::nullopt;
    lengths_ns.push_back(times[i].length_ns());
    covered_ns += times[i].length_ns();
  }
  const int64_t span_ns = times.back().end_ns - times.front().begin_ns;
  if (covered_ns < span_ns / 2 || covered_ns < capture.length_ns() / 4) return std::nullopt;
  marker.median_ns = LowerNearestRank(lengths_ns, 500);
  marker.covered_frac = static_cast<double>(covered_ns) / static_cast<double>(capture.length_ns());
  return marker;
}

}  // namespace tutti::analyzer
