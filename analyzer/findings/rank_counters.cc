#include "analyzer/findings/rank_counters.h"

#include <algorithm>

#include "common/parallel.h"

namespace tutti::analyzer {

Result<RankCounters> ReadRankCounters(RunContext& context, const FindingFacts& facts,
                                      const std::string& name) {
  RankCounters counters(facts.ranks.size());
  std::vector<Status> statuses(facts.ranks.size(), OkStatus());
  ParallelFor(facts.ranks.size(), [&](size_t i) {
    auto points = ReadCounter(context, facts.ranks[i], name);
    statuses[i] = points.status();
    if (points.ok()) counters[i] = std::move(*points);
  });
  for (const Status& status : statuses) TUTTI_RETURN_IF_ERROR(status);
  return counters;
}

double GrowthInStep(const std::vector<CounterPoint>& points, const schema::StepWindowRow& window) {
  const int64_t middle_ns = window.begin_ns + window.step_ns / 2;
  return RateAt(points, middle_ns) * static_cast<double>(window.step_ns) / 1e9;
}

namespace {

// Per ns, the median over the readings but the first.
double UsualRate(const std::vector<CounterPoint>& points) {
  std::vector<double> rates;
  for (size_t i = 1; i < points.size(); ++i) {
    const auto elapsed_ns = static_cast<double>(points[i].time_ns - points[i - 1].time_ns);
    if (elapsed_ns > 0) rates.push_back((points[i].value - points[i - 1].value) / elapsed_ns);
  }
  if (rates.empty()) return 0;
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>((rates.size() - 1) / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  return *middle;
}

}  // namespace

double ExtraGrowthAround(const std::vector<CounterPoint>& points, int64_t begin_ns,
                         int64_t end_ns) {
  if (points.size() < 2 || begin_ns < points.front().time_ns || end_ns > points.back().time_ns) {
    return 0;
  }
  const auto is_before = [](const CounterPoint& point, int64_t ns) { return point.time_ns < ns; };
  const auto after = std::lower_bound(points.begin(), points.end(), end_ns, is_before);
  auto before = std::lower_bound(points.begin(), points.end(), begin_ns + 1, is_before);
  --before;
  const auto elapsed_ns = static_cast<double>(after->time_ns - before->time_ns);
  return after->value - before->value - UsualRate(points) * elapsed_ns;
}

std::vector<double> MeanGrowthInSteps(const FindingFacts& facts, const RankCounters& counters) {
  std::vector<double> means(counters.size(), 0);
  for (size_t rank = 0; rank < counters.size(); ++rank) {
    double count = 0;
    for (const schema::RunStepRow& step : facts.counted.steps) {
      const auto window = facts.windows.find({step.step, facts.ranks[rank].rank});
      if (window == facts.windows.end()) continue;
      means[rank] += GrowthInStep(counters[rank], window->second);
      count += 1;
    }
    if (count > 0) means[rank] /= count;
  }
  return means;
}

}  // namespace tutti::analyzer
