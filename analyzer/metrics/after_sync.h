// The gaps of a device that the host makes by waiting for it: the device had to be empty before
// the host could give it more.
//
//   device  [=======)             [====
//   host    [sync========)  [launch)
//   gap                  [=========)
//
// Pure; callable from any thread.
#pragma once

#include "analyzer/metrics/breakdown.h"
#include "common/interval.h"

namespace tutti::analyzer {

// The host-bound moments (metrics/breakdown.h) that begin as a synchronisation returns in which
// something ran. The last gap has no end. O(intervals).
IntervalSet AfterSync(const ActivitySets& activity);

}  // namespace tutti::analyzer
