#include "analyzer/input/step_index.h"

#include <algorithm>

namespace tutti::analyzer {
namespace {

std::optional<size_t> PlaceOf(std::span<const Interval> intervals, int64_t time_ns) {
  const auto after =
      std::upper_bound(intervals.begin(), intervals.end(), time_ns,
                       [](int64_t t, const Interval& interval) { return t < interval.begin_ns; });
  if (after == intervals.begin() || time_ns >= std::prev(after)->end_ns) return std::nullopt;
  return static_cast<size_t>(after - intervals.begin()) - 1;
}

}  // namespace

StepIndex::StepIndex(std::span<const schema::StepWindowRow> windows) {
  std::vector<const schema::StepWindowRow*> sorted;
  for (const schema::StepWindowRow& row : windows) sorted.push_back(&row);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return a->host_begin_ns != b->host_begin_ns ? a->host_begin_ns < b->host_begin_ns
                                                : a->step < b->step;
  });
  for (const schema::StepWindowRow* row : sorted) {
    windows_.push_back({row->begin_ns, row->end_ns});
    hosts_.push_back({row->host_begin_ns, row->host_end_ns});
    steps_.push_back(row->step);
  }
}

std::optional<int64_t> StepIndex::ByHost(int64_t time_ns) const {
  const std::optional<size_t> place = PlaceOf(hosts_, time_ns);
  return place ? std::optional(steps_[*place]) : std::nullopt;
}

std::optional<int64_t> StepIndex::ByWindow(int64_t time_ns) const {
  const std::optional<size_t> place = PlaceOf(windows_, time_ns);
  return place ? std::optional(steps_[*place]) : std::nullopt;
}

}  // namespace tutti::analyzer
