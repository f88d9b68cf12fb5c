#include "analyzer/history/trend.h"

#include <algorithm>
#include <cmath>

namespace tutti::analyzer::history {
namespace {

using compare::Metric;
using compare::Scale;

// On a scale on which differences are shares of the level: logarithms, but for what may be 0 or
// is a share already.
double OnScale(const Metric& metric, double value, double typical) {
  if (metric.scale == Scale::kRatio) return std::log(value);
  return metric.scale == Scale::kStepShare ? value / typical : value;
}

double InUnit(const Metric& metric, double on_scale, double typical) {
  if (metric.scale == Scale::kRatio) return std::exp(on_scale);
  return metric.scale == Scale::kStepShare ? on_scale * typical : on_scale;
}

bool Has(const StoredLaunch& launch, const Metric& metric) {
  const auto value = launch.values.find(std::string(metric.name));
  return value != launch.values.end() && (metric.scale != Scale::kRatio || value->second > 0);
}

// What times within a step are shares of: the median step of the series.
double TypicalStep(std::span<const StoredLaunch> launches) {
  std::vector<double> steps;
  for (const StoredLaunch& launch : launches) {
    const auto step = launch.values.find("step_time");
    if (step != launch.values.end()) steps.push_back(step->second);
  }
  if (steps.empty()) return 1;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::ranges::nth_element(steps, middle);
  return *middle > 0 ? *middle : 1;
}

Level LevelOf(const Trend& trend, std::span<const double> values, size_t begin, size_t end,
              double typical) {
  Level level{.begin = begin, .end = end};
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += values[i];
  const double mean = sum / static_cast<double>(end - begin);
  double squares = 0;
  for (size_t i = begin; i < end; ++i) squares += (values[i] - mean) * (values[i] - mean);
  if (end - begin > 1) level.spread = std::sqrt(squares / static_cast<double>(end - begin - 1));
  level.mean = InUnit(*trend.metric, mean, typical);
  return level;
}

// The levels of launches [begin, end), which are of one epoch.
void AddEpoch(Trend& trend, std::span<const double> values, size_t begin, size_t end,
              double typical, const ChangeRule& rule) {
  size_t level_begin = begin;
  std::optional<ChangePoint> change;
  const auto add = [&](size_t level_end) {
    trend.levels.push_back(LevelOf(trend, values, level_begin, level_end, typical));
    trend.levels.back().new_epoch = level_begin == begin && begin > 0;
    trend.levels.back().change = change;
    level_begin = level_end;
  };
  for (const ChangePoint& found : FindChangePoints(values.subspan(begin, end - begin), rule)) {
    add(begin + found.index);
    change = found;
    change->index += begin;
  }
  add(end);
}

Trend TrendOf(std::span<const StoredLaunch> series, const Metric& metric, const ChangeRule& rule) {
  Trend trend;
  trend.metric = &metric;
  trend.series = series.front().series;
  std::ranges::copy_if(series, std::back_inserter(trend.launches),
                       [&](const StoredLaunch& launch) { return Has(launch, metric); });
  const double typical = TypicalStep(trend.launches);
  std::vector<double> values;
  for (size_t i = 0; i < trend.launches.size(); ++i) {
    values.push_back(OnScale(metric, trend.Value(i), typical));
  }
  for (size_t begin = 0; begin < values.size();) {
    size_t end = begin + 1;
    while (end < values.size() && trend.launches[end].epoch == trend.launches[begin].epoch) ++end;
    AddEpoch(trend, values, begin, end, typical, rule);
    begin = end;
  }
  return trend;
}

}  // namespace

double Trend::Value(size_t index) const {
  return launches[index].values.at(std::string(metric->name));
}

std::vector<Trend> FindTrends(std::span<const StoredLaunch> history, const Metric& metric,
                              const ChangeRule& rule) {
  std::vector<Trend> trends;
  for (size_t begin = 0; begin < history.size();) {
    size_t end = begin + 1;
    while (end < history.size() && history[end].series == history[begin].series) ++end;
    Trend trend = TrendOf(history.subspan(begin, end - begin), metric, rule);
    if (!trend.launches.empty()) trends.push_back(std::move(trend));
    begin = end;
  }
  return trends;
}

Fit FitToTrend(const Trend* trend, const StoredLaunch& launch, const Metric& metric,
               const compare::Rule& verdict_rule, const ChangeRule& rule) {
  Fit fit;
  if (!Has(launch, metric)) {
    fit.remark = "it has no " + std::string(metric.name);
    return fit;
  }
  if (trend == nullptr || trend->launches.back().epoch != launch.epoch) {
    fit.remark = trend == nullptr ? "the history has no such series"
                                  : "machine or libraries are not those of the last launch: a new "
                                    "epoch begins";
    return fit;
  }
  const Level& level = trend->levels.back();
  fit.launches = level.end - level.begin;
  if (fit.launches < rule.enough_before) {
    fit.remark =
        "only " + std::to_string(fit.launches) + (fit.launches == 1 ? " launch" : " launches") +
        " before it since the last change; " + std::to_string(rule.enough_before) + " are needed";
    return fit;
  }
  const double typical = TypicalStep(trend->launches);
  std::vector<double> before;
  for (size_t i = level.begin; i < level.end; ++i) {
    before.push_back(OnScale(metric, trend->Value(i), typical));
  }
  const double value = OnScale(metric, launch.values.at(std::string(metric.name)), typical);
  fit.estimate = compare::OneAgainstEstimate(before, std::vector<double>{value});
  compare::Rule scaled = verdict_rule;
  if (metric.scale == Scale::kRatio) scaled.min_effect = std::log1p(scaled.min_effect);
  fit.verdict = compare::Judge(*fit.estimate, {fit.estimate->p_up, fit.estimate->p_down},
                               metric.higher_is_worse, scaled);
  return fit;
}

}  // namespace tutti::analyzer::history
