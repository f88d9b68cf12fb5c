// Comparisons for a terminal.
#include "common/text.h"

#include <algorithm>
#include <cmath>

#include "analyzer/compare/confirmation.h"
#include "analyzer/compare/figures.h"
#include "analyzer/compare/render.h"

namespace tutti::analyzer::compare {
namespace {

constexpr size_t kMostNames = 15;
constexpr size_t kNameWidth = 48;
constexpr size_t kColumns = 100;

using Rows = std::vector<std::vector<std::string>>;

std::string Coloured(const std::string& text, Verdict verdict, bool colour) {
  if (!colour) return text;
  const char* code = verdict == Verdict::kRegression     ? "\033[1;31m"
                     : verdict == Verdict::kImprovement  ? "\033[1;32m"
                     : verdict == Verdict::kNoRegression ? "\033[32m"
                                                         : "\033[33m";
  return code + text + "\033[0m";
}

std::string Shortened(const std::string& name) {
  std::string clean = ToPrintableText(name);
  if (clean.size() <= kNameWidth) return clean;
  size_t end = kNameWidth - 3;
  while (end > 0 && (static_cast<unsigned char>(clean[end]) & 0xC0) == 0x80) --end;
  return clean.substr(0, end) + "…";
}

std::string NamesOf(const std::vector<Launch>& launches) {
  std::string names;
  for (size_t i = 0; i < launches.size(); ++i) {
    if (i >= 2 && i + 1 < launches.size()) continue;
    names += (i == 0 ? "" : i >= 2 && launches.size() > 3 ? " … " : " ");
    names += ToPrintableText(launches[i].name);
  }
  return names;
}

std::string DescribeRuns(const Comparison& comparison) {
  const RunFacts& facts = comparison.base.front().facts;
  std::string text;
  const auto add = [&](const std::string& fact) {
    if (fact.empty()) return;
    if (!text.empty()) text += ", ";
    text += ToPrintableText(fact);
  };
  add(facts.workload);
  if (facts.ranks_expected > 0) {
    add(std::to_string(facts.ranks_expected) + (facts.ranks_expected == 1 ? " rank" : " ranks"));
  }
  add(facts.gpus.empty() ? facts.device_kind : facts.gpus);
  if (!facts.torch_version.empty()) add("torch " + facts.torch_version);
  add(comparison.warmup == 1 ? "first step of each launch left out as warm-up"
                             : "first " + std::to_string(comparison.warmup) +
                                   " steps of each launch left out as warm-up");
  return text;
}

std::string HeaderOf(const Comparison& comparison) {
  return Columns({{"base", NamesOf(comparison.base)},
                  {"new", NamesOf(comparison.fresh)},
                  {"of", DescribeRuns(comparison)}},
                 2);
}

std::vector<std::string> RowOf(const MetricResult& result, const Comparison& comparison) {
  const Unit unit = result.metric->unit;
  return {std::string(result.metric->name),
          result.base ? Value(unit, *result.base) : "-",
          result.now ? Value(unit, *result.now) : "-",
          ChangeOf(result, comparison),
          IntervalOf(result, comparison),
          result.estimate ? PValue(DecidingP(result)) : "-",
          result.is_gate ? DetectableOf(result, comparison) : "",
          VerdictOf(result)};
}

std::string MetricsOf(const Comparison& comparison) {
  Rows rows = {{"gate", "base", "new", "change", "95 % interval", "p", "MDE", "verdict"}};
  bool in_rest = false;
  for (const MetricResult& result : comparison.metrics) {
    if (!result.is_gate && !in_rest) rows.push_back({"also compared", "", "", "", "", "q"});
    in_rest = !result.is_gate;
    rows.push_back(RowOf(result, comparison));
  }
  if (comparison.base_overlap && comparison.new_overlap) {
    const double change = *comparison.new_overlap - *comparison.base_overlap;
    rows.push_back({"overlap", Percent(*comparison.base_overlap), Percent(*comparison.new_overlap),
                    SignedPercent(change), "", "", "", "never gated"});
  }
  if (comparison.control) {
    rows.push_back({"control", "", "", SignedPercent(std::expm1(comparison.control->delta)), "", "",
                    "", ControlInWords(comparison)});
  }
  return Columns(rows, 1);
}

std::string ExplanationOf(const Comparison& comparison) {
  if (!comparison.explanation) return "";
  const Explanation& explanation = *comparison.explanation;
  Rows rows;
  for (const PartChange& part : explanation.parts) {
    rows.push_back({PartInWords(part.part), Duration(static_cast<double>(part.base_ns)),
                    Duration(static_cast<double>(part.new_ns)),
                    SignedDuration(static_cast<double>(part.change_ns()))});
  }
  rows.push_back({"mean step", Duration(static_cast<double>(explanation.base_ns)),
                  Duration(static_cast<double>(explanation.new_ns)),
                  SignedDuration(static_cast<double>(explanation.change_ns()))});
  return "\n" + WhatChanged(comparison) + "\n" + Columns(rows, 1);
}

std::string NameRowsOf(const Comparison& comparison) {
  Rows rows;
  size_t listed = 0;
  for (const NamedChange& change : comparison.names) {
    if (!change.listed) continue;
    if (++listed > kMostNames) continue;
    rows.push_back({change.kind, Shortened(change.name), Duration(change.base.ns_per_step),
                    Duration(change.now.ns_per_step), SignedDuration(change.change_ns()),
                    change.estimate ? "q " + PValue(change.q) : "not tested"});
  }
  if (rows.empty()) return "";
  std::string text = "\ntime a step by name (" + std::to_string(listed) + " of " +
                     std::to_string(comparison.names.size()) + " changed)\n" + Columns(rows, 2);
  if (listed > kMostNames) text += "  and " + std::to_string(listed - kMostNames) + " more\n";
  return text;
}

std::string PresencesOf(const Comparison& comparison) {
  std::string text;
  size_t told = 0;
  size_t all = 0;
  for (const NamedChange& change : comparison.names) {
    if (change.presence == Presence::kBoth) continue;
    ++all;
    if (told == kMostNames) continue;
    ++told;
    const bool renamed = change.presence == Presence::kRenamed;
    text += std::string("  ") + (renamed                             ? "renamed"
                                 : change.presence == Presence::kNew ? "new    "
                                                                     : "gone   ");
    text += " " + change.kind + " " + (renamed ? Shortened(change.old_name) + " -> " : "") +
            Shortened(change.name) + "\n";
  }
  if (all > told) text += "  and " + std::to_string(all - told) + " more\n";
  return text.empty() ? "" : "\nnames that come or go\n" + text;
}

// One paragraph, broken at spaces; lines after the first are indented.
std::string Wrapped(const std::string& paragraph) {
  std::string text;
  size_t column = 0;
  for (size_t begin = 0; begin < paragraph.size();) {
    const size_t end = std::min(paragraph.find(' ', begin), paragraph.size());
    const std::string word = paragraph.substr(begin, end - begin);
    if (column > 0 && column + 1 + word.size() > kColumns) {
      text += "\n      ";
      column = 6;
    } else if (column > 0) {
      text += " ";
      ++column;
    }
    text += word;
    column += word.size();
    begin = end + 1;
  }
  return text + "\n";
}

std::string NotesOf(const Comparison& comparison) {
  std::string text = "\n" + Wrapped("rule: " + RuleInWords(comparison));
  const std::string confirmation = ConfirmationInWords(comparison);
  if (!confirmation.empty()) text += Wrapped(confirmation);
  for (const MetricResult& result : comparison.metrics) {
    if (result.is_gate && !result.remark.empty()) {
      text += Wrapped("note: " + std::string(result.metric->name) + ": " + result.remark);
    }
  }
  for (const std::string& difference : comparison.forced) {
    text += Wrapped("note: --force: " + ToPrintableText(difference));
  }
  for (const std::string& note : comparison.notes) {
    text += Wrapped("note: " + ToPrintableText(note));
  }
  return text;
}

}  // namespace

std::string RenderText(std::span<const NamedComparison> comparisons, bool colour) {
  std::string text;
  for (const NamedComparison& one : comparisons) {
    const Comparison& comparison = one.comparison;
    if (!text.empty()) text += "\n";
    if (!one.name.empty()) text += ToPrintableText(one.name) + ": ";
    const std::string verdict(VerdictWords(comparison.verdict));
    text += Coloured(verdict, comparison.verdict, colour) + ": " + HeadlineOf(comparison) + "\n";
    if (comparisons.size() > 1) {
      text += "rule: " + RuleInWords(comparison) + "\n";
      continue;
    }
    text += HeaderOf(comparison) + "\n" + MetricsOf(comparison) + ExplanationOf(comparison) +
            NameRowsOf(comparison) + PresencesOf(comparison) + NotesOf(comparison);
  }
  return text;
}

}  // namespace tutti::analyzer::compare
