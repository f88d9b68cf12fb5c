// How run B differs from run A, of two that share an axis (two_runs.h). Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "viewer/model/event_set.h"
#include "viewer/model/run_summary.h"

namespace tutti::viewer {

struct PartDelta {
  const char* part = "";  // "step", then as in kStepParts
  int64_t a_ns = 0;       // mean of the compared steps
  int64_t b_ns = 0;
};

struct StepComparison {
  int64_t steps = 0;             // steps of ranks that both runs have
  std::vector<PartDelta> parts;  // empty if there are none
};

// Of the steps that count in both runs; of all in common if none does.
StepComparison CompareSteps(const RunSummary& summary);

struct NameDelta {
  NameId name = 0;
  Category category = Category::kHost;
  int64_t a_count = 0;
  int64_t b_count = 0;
  int64_t a_ns = 0;
  int64_t b_ns = 0;
};

// Every name of either, the greatest difference of times first.
std::vector<NameDelta> CompareNames(const RangeTotals& a, const RangeTotals& b);

}  // namespace tutti::viewer
