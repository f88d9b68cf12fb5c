// When nothing of a rank was recorded although it went on: between captures of one process that
// were joined, and while capture was switched off. One thread.
#pragma once

#include "analyzer/input/rank_trace.h"
#include "common/interval.h"
#include "common/status.h"

namespace tutti::analyzer {

Result<IntervalSet> CaptureGaps(RankTrace& trace);

}  // namespace tutti::analyzer
