// Progress of an analysis on standard error: one line that is rewritten, on a terminal
// only. Nothing is shown for analyses that are done at once.
#pragma once

#include "analyzer/analyze.h"

namespace tutti::cli {

// Options for Analyze and EnsureAnalyzed with that progress. The line is removed when the
// options are destroyed.
analyzer::AnalyzeOptions WithProgress();

}  // namespace tutti::cli
