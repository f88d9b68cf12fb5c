// Two runs as one whose ranks are those of both, on one axis of time with their steps side by side:
// whatever shows a run shows two. Ranks of run B have numbers from kFirstRankOfB on.
#pragma once

#include "viewer/model/run_summary.h"

namespace tutti::viewer {

// Run A keeps what is not about a rank or a time: its path, its replay.
RunSummary MergeRuns(RunSummary a, RunSummary b);

}  // namespace tutti::viewer
