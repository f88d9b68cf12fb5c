// Comparisons as one page: the verdict, what it rests on in charts and tables, what changed.
#include <cmath>

#include "analyzer/compare/charts.h"
#include "analyzer/compare/confirmation.h"
#include "analyzer/compare/figures.h"
#include "analyzer/compare/page.h"
#include "analyzer/compare/render.h"

namespace tutti::analyzer::compare {
namespace {

constexpr size_t kMostNames = 100;

std::string_view KindOf(Verdict verdict) {
  if (verdict == Verdict::kRegression) return "worse";
  if (verdict == Verdict::kImprovement) return "better";
  return verdict == Verdict::kInconclusive || verdict == Verdict::kEnvironmentChanged ? "open" : "";
}

std::string Paragraph(std::string_view text, std::string_view kind = "") {
  if (text.empty()) return "";
  return "<p" + (kind.empty() ? "" : " class=\"" + std::string(kind) + "\"") + ">" + Escaped(text) +
         "</p>\n";
}

TableRow RowOf(const MetricResult& result, const Comparison& comparison) {
  const Unit unit = result.metric->unit;
  return {{std::string(result.metric->name), result.is_gate ? "gate" : "",
           result.base ? Value(unit, *result.base) : "-",
           result.now ? Value(unit, *result.now) : "-", ChangeOf(result, comparison),
           IntervalOf(result, comparison), result.estimate ? PValue(DecidingP(result)) : "-",
           result.is_gate ? DetectableOf(result, comparison) : "", VerdictOf(result)},
          result.is_gate && result.verdict ? KindOf(*result.verdict) : ""};
}

std::string MetricsOf(const Comparison& comparison) {
  std::vector<TableRow> rows;
  for (const MetricResult& result : comparison.metrics) rows.push_back(RowOf(result, comparison));
  if (comparison.base_overlap && comparison.new_overlap) {
    rows.push_back(
        {{"overlap", "", Percent(*comparison.base_overlap), Percent(*comparison.new_overlap),
          SignedPercent(*comparison.new_overlap - *comparison.base_overlap), "", "", "",
          "never gated"}});
  }
  if (comparison.control) {
    rows.push_back({{"control", "", "", "", SignedPercent(std::expm1(comparison.control->delta)),
                     "", "", "", ControlInWords(comparison)},
                    comparison.control_moved ? "open" : ""});
  }
  return Table({"metric", "", "base", "new", "change", "95 % interval", "p or q", "MDE", "verdict"},
               rows, 2);
}

std::string PartsOf(const Comparison& comparison) {
  if (!comparison.explanation) return "";
  std::vector<TableRow> rows;
  const auto ns = [](int64_t value) { return std::to_string(value); };
  for (const PartChange& part : comparison.explanation->parts) {
    rows.push_back(
        {{PartInWords(part.part), ns(part.base_ns), ns(part.new_ns), ns(part.change_ns())}});
  }
  rows.push_back({{"mean step", ns(comparison.explanation->base_ns),
                   ns(comparison.explanation->new_ns), ns(comparison.explanation->change_ns())}});
  return Table({"part", "base ns", "new ns", "change ns"}, rows, 1);
}

std::string PresenceText(const NamedChange& change) {
  switch (change.presence) {
    case Presence::kNew:
      return "new";
    case Presence::kVanished:
      return "gone";
    case Presence::kRenamed:
      return "was " + change.old_name;
    case Presence::kBoth:
      return "";
  }
  return "";
}

std::string NamesOf(const Comparison& comparison) {
  std::vector<TableRow> rows;
  size_t more = 0;
  for (const NamedChange& change : comparison.names) {
    if (!change.listed && change.presence == Presence::kBoth) continue;
    if (rows.size() == kMostNames) {
      ++more;
      continue;
    }
    rows.push_back(
        {{change.kind, change.name, PresenceText(change), Duration(change.base.ns_per_step),
          Duration(change.now.ns_per_step), SignedDuration(change.change_ns()), PValue(change.q)},
         change.change_ns() > 0 ? "worse" : "better"});
  }
  if (rows.empty()) return "";
  return Table({"kind", "name", "", "base a step", "new a step", "change", "q"}, rows, 3) +
         Paragraph(more > 0 ? std::to_string(more) + " more are not shown" : "", "soft");
}

std::string LaunchesOf(const Comparison& comparison) {
  std::vector<TableRow> rows;
  for (const auto* arm : {&comparison.base, &comparison.fresh}) {
    for (const Launch& launch : *arm) {
      const auto step_time = LaunchValue(*FindMetric("step_time"), launch, comparison.warmup);
      rows.push_back({{arm == &comparison.base ? "base" : "new", launch.name, launch.facts.hosts,
                       std::to_string(launch.steps.size()), step_time ? Duration(*step_time) : "-",
                       launch.control_ns ? Duration(*launch.control_ns) : "-",
                       std::to_string(launch.events_lost)}});
    }
  }
  return Table({"side", "run", "host", "steps", "step time", "control", "events lost"}, rows, 3);
}

std::string NotesOf(const Comparison& comparison) {
  std::string text;
  for (const std::string& forced : comparison.forced) text += Paragraph("forced: " + forced);
  for (const std::string& note : comparison.notes) text += Paragraph(note);
  return text;
}

std::string BodyOf(const NamedComparison& one) {
  const Comparison& comparison = one.comparison;
  const std::string kind(KindOf(comparison.verdict));
  return "<h1" + (kind.empty() ? "" : " class=\"" + kind + "\"") + ">" +
         Escaped((one.name.empty() ? "" : one.name + ": ") +
                 std::string(VerdictWords(comparison.verdict))) +
         "</h1>\n" + Paragraph(HeadlineOf(comparison)) +
         Paragraph(LaunchesInWords(comparison) + "; " + RuleInWords(comparison), "soft") +
         Paragraph(ConfirmationInWords(comparison)) + Section("Effects", EffectChart(comparison)) +
         Section("Step times", StepTimeChart(comparison)) +
         Section("Metrics", MetricsOf(comparison)) +
         Section("What changed", Paragraph(WhatChanged(comparison)) + BreakdownChart(comparison) +
                                     PartsOf(comparison)) +
         Section("Operators, kernels and collectives", NamesOf(comparison)) +
         Section("Notes", NotesOf(comparison)) + Section("Launches", LaunchesOf(comparison));
}

}  // namespace

std::string RenderHtml(std::span<const NamedComparison> comparisons) {
  std::string body;
  for (const NamedComparison& one : comparisons) body += BodyOf(one);
  return Page("tutti: " + std::string(VerdictWords(WorstVerdict(comparisons))), body);
}

}  // namespace tutti::analyzer::compare
