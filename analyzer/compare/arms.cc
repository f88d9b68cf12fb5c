#include "analyzer/compare/arms.h"

#include <algorithm>
#include <cmath>

#include "analyzer/compare/level.h"
#include "analyzer/metrics/steady.h"

namespace tutti::analyzer::compare {
namespace {

constexpr size_t kFewPairs = 6;

// Every step counts for finding the warm-up; the first one's length stands for its period.
std::vector<int64_t> SeriesOf(const Launch& launch) {
  std::vector<int64_t> series;
  for (const StepRecord& step : launch.steps) {
    series.push_back(step.period_ns.value_or(step.length_ns));
  }
  return series;
}

// Says which launches had not settled: at most three by name.
void NoteUnsteady(Comparison& comparison, const std::vector<std::string>& unsteady) {
  if (unsteady.empty()) return;
  std::string text = std::to_string(unsteady.size()) + " of " +
                     std::to_string(comparison.base.size() + comparison.fresh.size()) +
                     " launches are not steady after warm-up; record more steps:";
  for (size_t i = 0; i < unsteady.size() && i < 3; ++i) {
    text += (i == 0 ? " " : ", ") + unsteady[i];
  }
  comparison.notes.push_back(text + (unsteady.size() > 3 ? ", …" : ""));
}

// The longest warm-up of all launches is left out of each, so that all are measured alike; but
// at least half of the steps stay.
void FindWarmUp(Comparison& comparison) {
  size_t limit = SIZE_MAX;
  std::vector<std::string> unsteady;
  for (const auto* arm : {&comparison.base, &comparison.fresh}) {
    for (const Launch& launch : *arm) {
      const SteadyState state = FindSteadyState(SeriesOf(launch));
      comparison.warmup = std::max(comparison.warmup, state.warmup_steps);
      limit = std::min(limit, launch.steps.size() / 2);
      if (state.has_trend || state.at_limit) unsteady.push_back(launch.name);
    }
  }
  NoteUnsteady(comparison, unsteady);
  if (comparison.warmup > limit) {
    comparison.notes.push_back("warm-up of " + std::to_string(comparison.warmup) +
                               " steps is cut to " + std::to_string(limit) +
                               ": half of the shortest run");
    comparison.warmup = limit;
  }
}

Status CheckSteps(const Comparison& comparison) {
  for (const auto* arm : {&comparison.base, &comparison.fresh}) {
    for (const Launch& launch : *arm) {
      if (!PeriodsOf(launch, comparison.warmup).empty()) continue;
      return BadDataError(launch.name + ": no complete training step with a known period (of " +
                          std::to_string(launch.steps.size()) + " steps)");
    }
  }
  return OkStatus();
}

// Whether the launches ran as neighbouring pairs of one base and one new (A B B A …); then
// both are put in the order in which they ran.
bool PairInTime(std::vector<Launch>& base, std::vector<Launch>& fresh) {
  const auto known = [](const Launch& launch) { return launch.begin_ns.has_value(); };
  if (base.size() != fresh.size() || !std::ranges::all_of(base, known) ||
      !std::ranges::all_of(fresh, known)) {
    return false;
  }
  std::vector<std::pair<int64_t, bool>> order;  // begin, is new
  order.reserve(base.size() + fresh.size());
  for (const Launch& launch : base) order.emplace_back(*launch.begin_ns, false);
  for (const Launch& launch : fresh) order.emplace_back(*launch.begin_ns, true);
  std::ranges::sort(order);
  for (size_t i = 0; i < order.size(); i += 2) {
    if (order[i].second == order[i + 1].second) return false;
  }
  const auto earlier = [](const Launch& a, const Launch& b) { return a.begin_ns < b.begin_ns; };
  std::ranges::stable_sort(base, earlier);
  std::ranges::stable_sort(fresh, earlier);
  return true;
}

// All of one side before all of the other: what drifted between them looks like an effect.
bool RanApart(const std::vector<Launch>& base, const std::vector<Launch>& fresh) {
  const auto range = [](const std::vector<Launch>& arm) {
    std::pair<int64_t, int64_t> times{INT64_MAX, INT64_MIN};
    for (const Launch& launch : arm) {
      if (!launch.begin_ns) return std::pair<int64_t, int64_t>{0, 0};
      times.first = std::min(times.first, *launch.begin_ns);
      times.second = std::max(times.second, *launch.begin_ns);
    }
    return times;
  };
  const auto a = range(base);
  const auto b = range(fresh);
  return a.second < b.first || b.second < a.first;
}

Status ChooseDesign(Comparison& comparison) {
  auto& base = comparison.base;
  auto& fresh = comparison.fresh;
  const Pairing pairing = comparison.options.pairing;
  if (base.size() == 1 && fresh.size() == 1) {
    comparison.design = Design::kWithinLaunch;
    return OkStatus();
  }
  if (pairing == Pairing::kPaired && base.size() != fresh.size()) {
    return UsageError("pairs need as many new runs as base runs; there are " +
                      std::to_string(base.size()) + " and " + std::to_string(fresh.size()));
  }
  if (base.size() == 1 || fresh.size() == 1) {
    comparison.design = Design::kOneAgainst;
  } else if (pairing == Pairing::kPaired ||
             (pairing == Pairing::kAuto && PairInTime(base, fresh))) {
    comparison.design = Design::kPaired;
  } else {
    comparison.design = Design::kUnpaired;
  }
  return OkStatus();
}

void NoteLimits(Comparison& comparison) {
  const auto& base = comparison.base;
  const auto& fresh = comparison.fresh;
  if (comparison.design == Design::kWithinLaunch) {
    comparison.notes.push_back(
        "one launch against one: within-launch only; how much launches differ by themselves is "
        "not known, give several runs of each side");
    return;
  }
  const size_t fewest = std::min(base.size(), fresh.size());
  if (fewest < kFewPairs) {
    comparison.notes.push_back("only " + std::to_string(fewest) +
                               " launches of one side: six or more find 2 % changes of an "
                               "ordinarily noisy job");
  }
  if (comparison.design != Design::kPaired && RanApart(base, fresh)) {
    comparison.notes.push_back(
        "all runs of one side ran before those of the other: a drift of the machine between "
        "them looks like an effect; run them in turns (A B B A …)");
  }
}

double BaseLevel(const Comparison& comparison) {
  double sum = 0;
  for (const Launch& launch : comparison.base) {
    sum += std::log(StepLevelOf(PeriodsOf(launch, comparison.warmup)).trimmed_ns);
  }
  return std::exp(sum / static_cast<double>(comparison.base.size()));
}

// All that is compared of them is equal, not only how long the steps took.
bool HoldSameSteps(const Comparison& comparison) {
  return std::ranges::equal(comparison.base, comparison.fresh, [](const auto& a, const auto& b) {
    return a.steps == b.steps && a.names == b.names && a.memory_peak_bytes == b.memory_peak_bytes;
  });
}

}  // namespace

Status ArrangeArms(Comparison& comparison) {
  if (comparison.base.empty() || comparison.fresh.empty()) {
    return UsageError("a comparison needs runs on both sides: tutti compare BASE... -- NEW...");
  }
  TUTTI_RETURN_IF_ERROR(ChooseDesign(comparison));
  FindWarmUp(comparison);
  TUTTI_RETURN_IF_ERROR(CheckSteps(comparison));
  comparison.base_step_ns = BaseLevel(comparison);
  comparison.is_identical = HoldSameSteps(comparison);
  if (comparison.is_identical) {
    comparison.notes.push_back("both sides hold the very same steps: nothing was compared");
  }
  NoteLimits(comparison);
  return OkStatus();
}

}  // namespace tutti::analyzer::compare
