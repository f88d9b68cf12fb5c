#include "analyzer/replay/rank_events.h"

#include "analyzer/replay/cpu_events.h"
#include "analyzer/replay/gpu_events.h"
#include "analyzer/replay/host_events.h"

namespace tutti::analyzer {

Status AddRankEvents(const RankSource& source, JobGraph& job, std::vector<CallEvents>& calls) {
  if (source.windows.empty()) return OkStatus();
  const Interval range{source.windows.front().begin_ns, source.windows.back().end_ns};
  TUTTI_ASSIGN_OR_RETURN(const auto tracks, ReadHostTracks(source.rank, source.trace, source.lanes,
                                                           source.windows, range));
  RankLabels labels(source, job);
  return source.rank.device_kind == "gpu" ? AddGpuEvents(source, range, tracks, labels, calls)
                                          : AddCpuEvents(source, range, tracks[0], labels, calls);
}

}  // namespace tutti::analyzer
