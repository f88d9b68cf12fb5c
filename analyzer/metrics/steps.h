// Step windows: the time that belongs to each training step of one rank, from markers
// or inferred from what repeats, and the numbering of steps over ranks.
// Pure functions; callable from any thread. All times ns.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/interval.h"

namespace tutti::analyzer {

// A step as the host sees it.
struct HostStep {
  int64_t number = 0;       // as the program called it; index where inferred
  Interval host;            // host enters and leaves it
  bool is_partial = false;  // cut off by the begin or end of the trace
};

// Work that the host started (a collective, a kernel) and when it was done.
struct LaunchedWork {
  int64_t launch_ns = 0;
  int64_t end_ns = 0;
};

struct StepWindow {
  HostStep step;
  Interval window;  // begin = max(end of the previous window, host begin);
                    // end = max(host end, end of the last work launched in it)
  std::optional<int64_t> between_steps_ns;  // gap to the previous window, nothing for the first
};

//   host      [step 0 ......)[step 1 ......)
//   kernels        [======)  ·  [==============)
//   launched in    0         ·  1
//   window    [0             |1                )
//
// `steps` sorted by host.begin_ns, `work` by launch_ns. Windows never overlap. O(n).
std::vector<StepWindow> BuildWindows(std::span<const HostStep> steps,
                                     std::span<const LaunchedWork> work);

// Times in which nothing was recorded although the program went on: capture was off for a while.
// Sorted and apart from each other, as all `gaps` below.
//
// Of inferred steps that a gap lies in, what follows it is left, a partial step: where they began
// isn't known.
void CutAtGaps(std::span<const Interval> gaps, std::vector<HostStep>& steps);
// What of `whole` lies outside of gaps, a step each.
std::vector<HostStep> StepsAroundGaps(std::span<const Interval> gaps, Interval whole);
// Makes the time between two windows unknown if a gap lies in it.
void ForgetGaps(std::span<const Interval> gaps, std::vector<StepWindow>& windows);

struct OptimizerRun {
  Interval time;
  int64_t name_id = 0;
};
struct BackwardBegin {
  int64_t time_ns = 0;
  int64_t name_id = 0;
};
struct OptimizerSteps {
  std::vector<HostStep> steps;
  size_t runs_per_step = 1;  // optimizer runs, those without backward between them as one
};

// Steps that end with the optimizer, from `capture_begin_ns` on. Optimizer runs without a
// backward function of their own, before them or in their closure (parameter groups), are
// one; without any backward function each stands alone. Where runs differ in turn (generator and
// critic), by name, by the backward functions before them or, of two, by the time they take, a step
// is the shortest sequence that repeats, of at most eight, and begins with the first one. The first
// step holds set-up: partial. What follows the last is none: the program's end, or less than a
// step. `optimizer` and `backward` sorted by time. O(n log n).
OptimizerSteps StepsFromOptimizer(std::span<const OptimizerRun> optimizer,
                                  std::span<const BackwardBegin> backward,
                                  int64_t capture_begin_ns);

// What repeats in a series of symbols: s[i] == s[i + period] from `first` on.
struct Period {
  size_t period = 0;
  size_t first = 0;
};
// The shortest period that holds for all but 5 % of the series after an irregular start
// of at most a third of it, and that is seen at least three times. O(n * period).
std::optional<Period> FindPeriod(std::span<const int64_t> symbols);

// Steps that end with the last collective of each period; the first is partial and none
// follows the last, as above. `symbols` says what each collective is (communicator, op,
// bytes), `intervals` when it ran; both in order of time. Empty if nothing repeats.
std::vector<HostStep> StepsFromCollectives(std::span<const int64_t> symbols,
                                           std::span<const Interval> intervals,
                                           int64_t capture_begin_ns);

// Steps of different ranks are the same if the program called them the same: by number
// and occurrence (numbers start again with each epoch in many programs).
struct StepKey {
  int64_t number = 0;
  int64_t occurrence = 0;
  friend auto operator<=>(const StepKey&, const StepKey&) = default;
};
// Occurrences counted over the numbers of one rank in order of time.
std::vector<StepKey> KeysOf(std::span<const int64_t> numbers);
// Dense index of every key over all ranks, in the order in which ranks met them; an
// order that all ranks agree on is kept. Input: the keys of each rank in order of time.
std::map<StepKey, int64_t> NumberSteps(std::span<const std::vector<StepKey>> ranks);

// A named range that may mark steps.
struct StepMarker {
  std::string name;
  int64_t count = 0;
  int64_t median_ns = 0;    // length, lower nearest rank
  double covered_frac = 0;  // of the capture
};

// `times` of the ranges with one name, by begin. A candidate occurs at least three times,
// never within itself, and covers at least half of the time from its first to its last end
// and a quarter of the capture. O(n).
std::optional<StepMarker> StepMarkerOf(const std::string& name, std::span<const Interval> times,
                                       Interval capture);

}  // namespace tutti::analyzer
