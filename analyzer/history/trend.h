// How a metric of a series went over time: epochs, levels within them, where they changed, and
// whether a new launch fits. Pure functions; callable from any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/compare/estimate.h"
#include "analyzer/compare/metric.h"
#include "analyzer/compare/verdict.h"
#include "analyzer/history/change_points.h"
#include "analyzer/history/store.h"

namespace tutti::analyzer::history {

// Launches between two changes.
struct Level {
  size_t begin = 0;  // indices into Trend::launches
  size_t end = 0;
  double mean = 0;         // in the metric's unit; of ratios the geometric mean
  double spread = 0;       // sample standard deviation as a share of it; 0 of one launch
  bool new_epoch = false;  // it begins because machine or libraries changed
  std::optional<ChangePoint> change = {};  // else: how it differs from the level before
};

struct Trend {
  std::string series;
  const compare::Metric* metric = nullptr;
  std::vector<StoredLaunch> launches;  // those that have the metric, by time
  std::vector<Level> levels;           // one after the other, all of them

  double Value(size_t index) const;
};

// Of each series of the history; those without the metric are left out.
std::vector<Trend> FindTrends(std::span<const StoredLaunch> history, const compare::Metric& metric,
                              const ChangeRule& rule = {});

// A launch against the last level of its trend.
struct Fit {
  size_t launches = 0;  // of that level, in the same epoch
  std::optional<compare::Estimate> estimate;
  compare::Verdict verdict = compare::Verdict::kInconclusive;
  std::string remark;  // why nothing can be said
};
// t of a prediction with at least rule.enough_before launches (ci.md, rule 6).
Fit FitToTrend(const Trend* trend, const StoredLaunch& launch, const compare::Metric& metric,
               const compare::Rule& verdict_rule, const ChangeRule& rule = {});

}  // namespace tutti::analyzer::history
