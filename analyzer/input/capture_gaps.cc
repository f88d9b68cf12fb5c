#include "analyzer/input/capture_gaps.h"

#include <vector>

namespace tutti::analyzer {

Result<IntervalSet> CaptureGaps(RankTrace& trace) {
  TUTTI_ASSIGN_OR_RETURN(const auto stats, trace.Stats());
  std::vector<Interval> gaps;
  for (const schema::TraceStatRow& stat : stats) {
    if (stat.name != "capture_gap" && stat.name != "capture_paused") continue;
    if (stat.begin_ns && stat.end_ns && *stat.begin_ns < *stat.end_ns) {
      gaps.push_back({*stat.begin_ns, *stat.end_ns});
    }
  }
  SortByBegin(gaps);
  return Union(gaps);
}

}  // namespace tutti::analyzer
