// A comparison for people and for machines. Pure functions; callable from any thread.
#pragma once

#include <span>
#include <string>

#include "analyzer/compare/comparison.h"

namespace tutti::analyzer::compare {

// A comparison with the name of its pair, "" where there is only one.
struct NamedComparison {
  std::string name;
  Comparison comparison;
};

// The worst of all; kInconclusive for none.
Verdict WorstVerdict(std::span<const NamedComparison> comparisons);

// For a terminal: the verdict first, then what it rests on.
std::string RenderText(std::span<const NamedComparison> comparisons, bool colour);
// One object of schema tutti.compare/1; several are {"schema": "tutti.comparisons/1",
// "verdict": …, "comparisons": [ … ]}.
std::string RenderJson(std::span<const NamedComparison> comparisons);
// For one comment on a pull request, marked so that it can be found and edited, and for step
// summaries: GitHub's Markdown, below `limit` bytes; what is left out is counted.
std::string RenderMarkdown(std::span<const NamedComparison> comparisons, size_t limit = 60'000);
// One HTML file with charts; fetches nothing, has no script.
std::string RenderHtml(std::span<const NamedComparison> comparisons);
// JUnit XML with a case per gate: regression = failure, inconclusive = skipped.
std::string RenderJUnit(std::span<const NamedComparison> comparisons);
// The same where there is no comparison: one case in error.
std::string RenderJUnitError(const std::string& message);
// OpenMetrics text, rounded to four digits because GitLab compares metrics as strings.
std::string RenderOpenMetrics(std::span<const NamedComparison> comparisons);

// Parts that several renderers use.
std::string HeadlineOf(const Comparison& comparison);  // "step_time +8.10 % [+7.40, +8.80] …"
std::string ChangeOf(const MetricResult& result, const Comparison& comparison);    // "+8.10 %"
std::string IntervalOf(const MetricResult& result, const Comparison& comparison);  // "[+7.4 …]"
std::string DetectableOf(const MetricResult& result, const Comparison& comparison);
// "stable", "MOVED", or "open" where its own noise is larger than what matters.
std::string ControlInWords(const Comparison& comparison);
// "what changed: compute +4.9 ms", or that it is no more than chance, "" without a breakdown.
std::string WhatChanged(const Comparison& comparison);
std::string RuleInWords(const Comparison& comparison);
// "6 pairs", "5 against 6 launches"; `kind` stands before what they are.
std::string LaunchesInWords(const Comparison& comparison, const std::string& kind = "");
// The p of the direction in which it moved, as the verdict used it.
double DecidingP(const MetricResult& result);
std::string VerdictOf(
    const MetricResult& result);  // in words; of those that don't gate: "worse", …

}  // namespace tutti::analyzer::compare
