// Events of a rank that computes on GPUs: the host's calls and the work on the streams.
// Callable from any thread that owns the trace.
#pragma once

#include <span>
#include <vector>

#include "analyzer/replay/host_events.h"

namespace tutti::analyzer {

Status AddGpuEvents(const RankSource& source, Interval range, std::span<const HostTrack> tracks,
                    RankLabels& labels, std::vector<CallEvents>& calls);

}  // namespace tutti::analyzer
