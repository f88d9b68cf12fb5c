// Comparisons as JUnit XML, which most CI systems show as tests.
#include "analyzer/compare/figures.h"
#include "analyzer/compare/page.h"
#include "analyzer/compare/render.h"

namespace tutti::analyzer::compare {
namespace {

struct Tally {
  size_t tests = 0;
  size_t failures = 0;
  size_t errors = 0;
  size_t skipped = 0;
};

std::string Suite(const Tally& tally, const std::string& cases) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"tutti "
         "compare\" tests=\"" +
         std::to_string(tally.tests) + "\" failures=\"" + std::to_string(tally.failures) +
         "\" errors=\"" + std::to_string(tally.errors) + "\" skipped=\"" +
         std::to_string(tally.skipped) + "\">\n" + cases + "  </testsuite>\n</testsuites>\n";
}

std::string FiguresOf(const MetricResult& gate, const Comparison& comparison) {
  std::string text = std::string(gate.metric->title) + " " + ChangeOf(gate, comparison);
  if (gate.estimate) {
    text += " " + IntervalOf(gate, comparison) + ", p " + PValue(DecidingP(gate));
  }
  if (gate.detectable) text += ", MDE " + DetectableOf(gate, comparison);
  if (!gate.remark.empty()) text += "; " + gate.remark;
  return text + "; " + RuleInWords(comparison);
}

// What a gate's case says inside; "" passed.
std::string OutcomeOf(const MetricResult& gate, const Comparison& comparison, Tally& tally) {
  const std::string figures = Escaped(FiguresOf(gate, comparison));
  if (!comparison.gates() || comparison.control_moved) {
    ++tally.skipped;
    return "      <skipped message=\"" + Escaped(HeadlineOf(comparison)) + "\"/>\n";
  }
  if (gate.verdict == Verdict::kRegression) {
    ++tally.failures;
    return "      <failure type=\"regression\" message=\"" + figures + "\"/>\n";
  }
  if (gate.verdict == Verdict::kInconclusive) {
    ++tally.skipped;
    return "      <skipped message=\"inconclusive: " + figures + "\"/>\n";
  }
  return "";
}

}  // namespace

std::string RenderJUnit(std::span<const NamedComparison> comparisons) {
  Tally tally;
  std::string cases;
  for (const NamedComparison& one : comparisons) {
    for (const MetricResult& gate : one.comparison.metrics) {
      if (!gate.is_gate) continue;
      ++tally.tests;
      const std::string outcome = OutcomeOf(gate, one.comparison, tally);
      const std::string group = one.name.empty() ? "tutti.compare" : "tutti.compare." + one.name;
      cases += "    <testcase classname=\"" + Escaped(group) + "\" name=\"" +
               Escaped(std::string(gate.metric->name)) + "\">\n" + outcome + "      <system-out>" +
               Escaped(FiguresOf(gate, one.comparison)) + "</system-out>\n    </testcase>\n";
    }
  }
  return Suite(tally, cases);
}

std::string RenderJUnitError(const std::string& message) {
  return Suite({.tests = 1, .errors = 1},
               "    <testcase classname=\"tutti.compare\" name=\"comparison\">\n      <error "
               "type=\"bad_data\" message=\"" +
                   Escaped(message) + "\"/>\n    </testcase>\n");
}

}  // namespace tutti::analyzer::compare
