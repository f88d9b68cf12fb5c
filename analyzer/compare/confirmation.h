// Whether a regression shows once more, in launches that had no part in finding it. Who compares a
// hundred changes a week at alpha 0.01 finds one regression a week that isn't there; asking again
// costs launches only where a regression was found, and nearly all of the rest are left.
// Pure functions; callable from any thread.
#pragma once

#include <string>

#include "analyzer/compare/comparison.h"

namespace tutti::analyzer::compare {

// One-sided, over the gates that are to be confirmed together. With that of the finding before:
// one false alarm in 2,000 comparisons at alpha 0.01.
inline constexpr double kConfirmationAlpha = 0.05;

// How the further launches are compared: by the gates that show a regression, the same effects
// that matter, and that level.
CompareOptions ConfirmationOptions(const Comparison& found);

// Keeps those regressions of `found` that `further` shows too. The others become inconclusive, as
// all do where the control moved meanwhile. `further` was compared with the options above.
void Confirm(Comparison& found, Comparison further);

// "confirmed by 6 further pairs: step_time +5.02 % [+4.10, +5.90] %, p <0.0001"; "" where nothing
// had to be.
std::string ConfirmationInWords(const Comparison& comparison);

}  // namespace tutti::analyzer::compare
