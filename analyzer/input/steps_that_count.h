// The steps that medians, totals and findings are made of: the steady ones; where there
// is none (a very short run), all complete training steps; else all steps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/run_context.h"
#include "common/status.h"

namespace tutti::analyzer {

struct StepsThatCount {
  std::vector<schema::RunStepRow> steps;  // in order
  std::string basis;                      // 'steady', 'complete' or 'all'
  std::string condition;                  // in SQL, on a row of run_step: whether it counts

  // Place in `steps` by step.
  std::map<int64_t, size_t> Places() const;
};

Result<StepsThatCount> ReadStepsThatCount(RunContext& context);

// The rank's windows of those steps, in order.
Result<std::vector<schema::StepWindowRow>> ReadWindowsThatCount(RunContext& context, int64_t rank);

}  // namespace tutti::analyzer
