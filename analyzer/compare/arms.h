// How launches are set against each other: which form pairs, what is warm-up, what limits it.
#pragma once

#include "analyzer/compare/comparison.h"

namespace tutti::analyzer::compare {

// Orders `base` and `fresh` of the comparison by pairs and fills its design, warmup,
// base_step_ns and is_identical; adds notes. kUsage if the pairing asked for can't be;
// kBadData if a run has no step whose period is known.
Status ArrangeArms(Comparison& comparison);

}  // namespace tutti::analyzer::compare
