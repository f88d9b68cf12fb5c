// Progress of an analysis or an import on standard error: one line that is rewritten, on a terminal
// only. Nothing is shown for what is done at once.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "analyzer/analyze.h"

namespace tutti::cli {

// Options for Analyze and EnsureAnalyzed with that progress. The line is removed when the
// options are destroyed.
analyzer::AnalyzeOptions WithProgress();

// The same of an import: for ImportOptions::progress.
std::function<void(std::string_view name, size_t index, size_t count)> ImportProgress();

}  // namespace tutti::cli
