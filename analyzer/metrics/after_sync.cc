#include "analyzer/metrics/after_sync.h"

#include <iterator>
#include <limits>

namespace tutti::analyzer {

IntervalSet AfterSync(const ActivitySets& activity) {
  IntervalSet busy = Merge(activity.compute, activity.copy);
  for (const IntervalSet* set :
       {&activity.comm_transfer, &activity.comm_wait, &activity.comm_unsplit}) {
    busy = Merge(busy, *set);
  }
  const IntervalSet taken =
      Merge(Merge(busy, activity.sync), Merge(activity.input_wait, activity.unexplained));
  IntervalSet after;
  auto run = busy.begin();
  auto next = taken.begin();
  for (const Interval& sync : activity.sync) {
    while (run != busy.end() && run->end_ns <= sync.begin_ns) ++run;
    if (run == busy.end()) break;
    if (run->begin_ns >= sync.end_ns) continue;
    while (next != taken.end() && next->end_ns < sync.end_ns) ++next;
    if (next->end_ns != sync.end_ns) continue;  // something goes on
    const auto following = std::next(next);
    after.push_back({sync.end_ns, following == taken.end() ? std::numeric_limits<int64_t>::max()
                                                           : following->begin_ns});
  }
  return after;
}

}  // namespace tutti::analyzer
