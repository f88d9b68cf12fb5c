// Events of a rank that computes on the CPU: its training threads, which hand collectives to
// Gloo's threads and wait for them.
//
//   training  [compute)[hand over)[compute)......|[compute)
//   Gloo                  [all-reduce ==========)  ^ stands still until it has ended
//
// No event says that a thread waits for a collective: where it did nothing until one had
// ended, and that took more than half of the time, it waited for it and for all that had
// ended since its last wait.
#pragma once

#include <vector>

#include "analyzer/replay/host_events.h"

namespace tutti::analyzer {

Status AddCpuEvents(const RankSource& source, Interval range, const HostTrack& track,
                    RankLabels& labels, std::vector<CallEvents>& calls);

}  // namespace tutti::analyzer
