// The charts of a comparison's page. Pure functions; callable from any thread.
#pragma once

#include <string>

#include "analyzer/compare/comparison.h"

namespace tutti::analyzer::compare {

// Each gate's effect with its 95 % interval, between the limits that matter; "" without gates.
std::string EffectChart(const Comparison& comparison);

// How long the steps of both sides took, as shares of their steps, and each launch's own value.
std::string StepTimeChart(const Comparison& comparison);

// From the mean base step to the new one, part by part: the bars add up. "" without a breakdown.
std::string BreakdownChart(const Comparison& comparison);

}  // namespace tutti::analyzer::compare
