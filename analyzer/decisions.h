// What a user decides about an analysis, ready for the passes.
#pragma once

#include <string>

#include "analyzer/analyze.h"
#include "analyzer/run_context.h"
#include "common/status.h"

namespace tutti::analyzer {

struct Decisions {
  PassOptions options;
  std::string key;  // differs where the decisions do
};

// Reads the user's file of rules; kNotFound or kUsage if that can't be.
Result<Decisions> DecisionsOf(const AnalyzeOptions& options);

}  // namespace tutti::analyzer
