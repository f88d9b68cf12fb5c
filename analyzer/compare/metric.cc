#include "analyzer/compare/metric.h"

#include <algorithm>

#include "analyzer/compare/level.h"

namespace tutti::analyzer::compare {
namespace {

std::span<const StepRecord> CountedSteps(const Launch& launch, size_t warmup) {
  return std::span(launch.steps).subspan(std::min(warmup, launch.steps.size()));
}

bool HasBreakdown(const Launch& launch) {
  return std::ranges::any_of(launch.steps, [](const StepRecord& step) { return step.ranks > 0; });
}

template <typename Function>
std::vector<double> EachStep(const Launch& launch, size_t warmup, Function&& value) {
  std::vector<double> values;
  for (const StepRecord& step : CountedSteps(launch, warmup)) {
    if (step.ranks > 0) values.push_back(value(step));
  }
  return values;
}

double MeanOverRanks(const StepRecord& step, int64_t sum_ns) {
  return static_cast<double>(sum_ns) / static_cast<double>(step.ranks);
}

int64_t ExposedNs(const StepRecord& step) {
  return step.part_ns[kTransferPart] + step.part_ns[kWaitPart] + step.part_ns[kUnsplitPart];
}

std::vector<double> StepTime(const Launch& launch, size_t warmup) {
  const std::vector<int64_t> periods = PeriodsOf(launch, warmup);
  return {periods.begin(), periods.end()};
}

std::vector<double> ExposedComm(const Launch& launch, size_t warmup) {
  return EachStep(launch, warmup,
                  [](const StepRecord& step) { return MeanOverRanks(step, ExposedNs(step)); });
}

// Where some communication couldn't be told apart, neither part can be compared.
bool IsSplit(const Launch& launch) {
  return std::ranges::all_of(
      launch.steps, [](const StepRecord& step) { return step.part_ns[kUnsplitPart] == 0; });
}

template <size_t kPart>
std::vector<double> ExposedPart(const Launch& launch, size_t warmup) {
  if (!IsSplit(launch)) return {};
  return EachStep(launch, warmup,
                  [](const StepRecord& step) { return MeanOverRanks(step, step.part_ns[kPart]); });
}

std::vector<double> InputWait(const Launch& launch, size_t warmup) {
  return EachStep(launch, warmup, [](const StepRecord& step) {
    return static_cast<double>(step.longest_input_wait_ns);
  });
}

std::vector<double> RankSpread(const Launch& launch, size_t warmup) {
  if (launch.facts.ranks < 2) return {};
  return EachStep(launch, warmup,
                  [](const StepRecord& step) { return static_cast<double>(step.own_spread_ns); });
}

std::optional<double> PerSecond(const Launch& launch, size_t warmup,
                                std::optional<int64_t> StepRecord::*amount) {
  double total = 0;
  double ns = 0;
  for (const StepRecord& step : CountedSteps(launch, warmup)) {
    if (!step.period_ns || !(step.*amount)) continue;
    total += static_cast<double>(*(step.*amount));
    ns += static_cast<double>(*step.period_ns);
  }
  if (total <= 0 || ns <= 0) return {};
  return total / ns * 1e9;
}

std::optional<double> SamplesPerSecond(const Launch& launch, size_t warmup) {
  return PerSecond(launch, warmup, &StepRecord::samples);
}

std::optional<double> TokensPerSecond(const Launch& launch, size_t warmup) {
  return PerSecond(launch, warmup, &StepRecord::tokens);
}

std::optional<double> MemoryPeak(const Launch& launch, size_t) {
  if (launch.memory_peak_bytes.value_or(0) <= 0) return {};
  return static_cast<double>(*launch.memory_peak_bytes);
}

template <double StepLevel::*kField>
std::optional<double> OfStepLevel(const Launch& launch, size_t warmup) {
  const std::vector<int64_t> periods = PeriodsOf(launch, warmup);
  if (periods.empty()) return {};
  return StepLevelOf(periods).*kField;
}

constexpr Metric kMetrics[] = {
    {"step_time", "step time", Scale::kRatio, Unit::kNs, true, &StepTime, nullptr},
    {"exposed_comm", "exposed communication", Scale::kStepShare, Unit::kNs, true, &ExposedComm,
     nullptr},
    {"exposed_comm_transfer", "exposed transfer", Scale::kStepShare, Unit::kNs, true,
     &ExposedPart<kTransferPart>, nullptr},
    {"exposed_comm_wait", "exposed wait for late ranks", Scale::kStepShare, Unit::kNs, true,
     &ExposedPart<kWaitPart>, nullptr},
    {"input_wait", "input wait of the slowest rank", Scale::kStepShare, Unit::kNs, true, &InputWait,
     nullptr},
    {"rank_spread", "slowest less fastest rank", Scale::kStepShare, Unit::kNs, true, &RankSpread,
     nullptr},
    {"throughput", "samples per second", Scale::kRatio, Unit::kPerSecond, false, nullptr,
     &SamplesPerSecond},
    {"token_throughput", "tokens per second", Scale::kRatio, Unit::kPerSecond, false, nullptr,
     &TokensPerSecond},
    {"memory_peak", "highest memory of a rank", Scale::kRatio, Unit::kBytes, true, nullptr,
     &MemoryPeak},
    {"step_mean", "mean step with all stalls", Scale::kRatio, Unit::kNs, true, nullptr,
     &OfStepLevel<&StepLevel::mean_ns>},
    {"step_p99", "99th percentile of steps", Scale::kRatio, Unit::kNs, true, nullptr,
     &OfStepLevel<&StepLevel::p99_ns>},
    {"step_tail", "share of time in stalled steps", Scale::kShare, Unit::kShare, true, nullptr,
     &OfStepLevel<&StepLevel::tail_share>},
};

}  // namespace

std::span<const Metric> Metrics() { return kMetrics; }

const Metric* FindMetric(std::string_view name) {
  const auto* found = std::ranges::find(kMetrics, name, &Metric::name);
  return found == std::end(kMetrics) ? nullptr : found;
}

std::optional<double> LaunchValue(const Metric& metric, const Launch& launch, size_t warmup) {
  if (metric.launch_value != nullptr) return metric.launch_value(launch, warmup);
  const std::vector<double> values = metric.step_values(launch, warmup);
  if (values.empty()) return {};
  return TrimmedMeanOf(values);
}

std::vector<int64_t> PeriodsOf(const Launch& launch, size_t warmup) {
  std::vector<int64_t> periods;
  for (const StepRecord& step : CountedSteps(launch, warmup)) {
    if (step.period_ns.value_or(0) > 0) periods.push_back(*step.period_ns);
  }
  return periods;
}

std::optional<double> OverlapOf(const Launch& launch, size_t warmup) {
  if (!HasBreakdown(launch)) return {};
  double comm_ns = 0;
  double exposed_ns = 0;
  for (const StepRecord& step : CountedSteps(launch, warmup)) {
    comm_ns += static_cast<double>(step.comm_ns);
    exposed_ns += static_cast<double>(ExposedNs(step));
  }
  if (comm_ns <= 0) return {};
  return (comm_ns - std::min(exposed_ns, comm_ns)) / comm_ns;
}

}  // namespace tutti::analyzer::compare
