// Comparisons as GitHub's Markdown.
#include <algorithm>
#include <cmath>

#include "analyzer/compare/confirmation.h"
#include "analyzer/compare/figures.h"
#include "analyzer/compare/render.h"
#include "common/text.h"

namespace tutti::analyzer::compare {
namespace {

constexpr std::string_view kMarker = "<!-- tutti-compare -->\n";
constexpr size_t kNameWidth = 80;

// Text that can't start Markdown or HTML, nor leave a table's cell.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : ToPrintableText(text)) {
    if (std::string_view("\\`*_{}[]<>()#+-.!|~&@:").find(c) != std::string_view::npos) {
      escaped += '\\';
    }
    escaped += c;
  }
  return escaped;
}

// A name as code. Backticks would end it, "|" the cell.
std::string Code(const std::string& name) {
  std::string code;
  for (const char c : ToPrintableText(name)) {
    if (code.size() >= kNameWidth && (static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      code += "…";
      break;
    }
    code += c == '`' ? '\'' : c == '|' ? '/' : c;
  }
  return "`" + code + "`";
}

std::string_view Symbol(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRegression:
      return "🔴";
    case Verdict::kImprovement:
      return "🟢";
    case Verdict::kNoRegression:
      return "✅";
    default:
      return "⚪";
  }
}

std::string Row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += " " + cell + " |";
  return row + "\n";
}

std::string GatesOf(const Comparison& comparison) {
  std::string text =
      "\n| gate | base | new | change | 95 % interval | p | MDE | verdict |\n"
      "|:--|--:|--:|--:|:-:|--:|--:|:--|\n";
  for (const MetricResult& result : comparison.metrics) {
    if (!result.is_gate) continue;
    const Unit unit = result.metric->unit;
    text += Row({std::string(result.metric->title), result.base ? Value(unit, *result.base) : "-",
                 result.now ? Value(unit, *result.now) : "-", ChangeOf(result, comparison),
                 IntervalOf(result, comparison),
                 result.estimate ? Escaped(PValue(DecidingP(result))) : "-",
                 DetectableOf(result, comparison), "**" + VerdictOf(result) + "**"});
  }
  return text;
}

std::string OthersOf(const Comparison& comparison) {
  std::string text;
  for (const MetricResult& result : comparison.metrics) {
    if (result.is_gate) continue;
    const Unit unit = result.metric->unit;
    text += Row({std::string(result.metric->title), result.base ? Value(unit, *result.base) : "-",
                 result.now ? Value(unit, *result.now) : "-", ChangeOf(result, comparison),
                 result.estimate ? Escaped(PValue(DecidingP(result))) : "-", VerdictOf(result)});
  }
  if (comparison.base_overlap && comparison.new_overlap) {
    text += Row({"overlap (never gated)", Percent(*comparison.base_overlap),
                 Percent(*comparison.new_overlap),
                 SignedPercent(*comparison.new_overlap - *comparison.base_overlap), "", ""});
  }
  if (text.empty()) return "";
  return "\n<details><summary>Also compared</summary>\n\n| | base | new | change | q | |\n"
         "|:--|--:|--:|--:|--:|:--|\n" +
         text + "\n</details>\n";
}

std::string ExplanationOf(const Comparison& comparison) {
  if (!comparison.explanation) return "";
  const Explanation& explanation = *comparison.explanation;
  std::string text = "\nMean step, " + Escaped(WhatChanged(comparison)) +
                     "\n\n<details><summary>Parts of the step</summary>\n\n"
                     "| part | base | new | change |\n|:--|--:|--:|--:|\n";
  for (const PartChange& part : explanation.parts) {
    text += Row({PartInWords(part.part), Duration(static_cast<double>(part.base_ns)),
                 Duration(static_cast<double>(part.new_ns)),
                 SignedDuration(static_cast<double>(part.change_ns()))});
  }
  text += Row({"**mean step**", Duration(static_cast<double>(explanation.base_ns)),
               Duration(static_cast<double>(explanation.new_ns)),
               SignedDuration(static_cast<double>(explanation.change_ns()))});
  return text + "\n</details>\n";
}

std::string NameRow(const NamedChange& change) {
  std::string name = Code(change.name);
  if (change.presence == Presence::kNew) name += " (new)";
  if (change.presence == Presence::kVanished) name += " (gone)";
  if (change.presence == Presence::kRenamed) name += " (was " + Code(change.old_name) + ")";
  return Row({change.kind, name, Duration(change.base.ns_per_step),
              Duration(change.now.ns_per_step), SignedDuration(change.change_ns()),
              change.estimate ? Escaped(PValue(change.q)) : "not tested"});
}

// As many names as fit, those with the largest change first.
std::string NamesOf(const Comparison& comparison, size_t room) {
  const std::string head =
      "\n<details><summary>Time a step by name</summary>\n\n"
      "| kind | name | base | new | change | q |\n|:--|:--|--:|--:|--:|--:|\n";
  std::string rows;
  size_t left_out = 0;
  for (const NamedChange& change : comparison.names) {
    if (!change.listed && change.presence == Presence::kBoth) continue;
    const std::string row = NameRow(change);
    if (left_out > 0 || head.size() + rows.size() + row.size() + 200 > room) {
      ++left_out;
    } else {
      rows += row;
    }
  }
  if (rows.empty() && left_out == 0) return "";
  if (left_out > 0) rows += "\nand " + std::to_string(left_out) + " more with smaller changes\n";
  return head + rows + "\n</details>\n";
}

std::string NotesOf(const Comparison& comparison) {
  std::string text = "\n" + Escaped(RuleInWords(comparison)) + "\n";
  size_t told = 0;
  const auto add = [&](const std::string& note) {
    if (++told <= 20) text += "- " + Escaped(note.substr(0, 500)) + "\n";
  };
  for (const MetricResult& result : comparison.metrics) {
    if (result.is_gate && !result.remark.empty()) {
      add(std::string(result.metric->name) + ": " + result.remark);
    }
  }
  const std::string confirmation = ConfirmationInWords(comparison);
  if (!confirmation.empty()) add(confirmation);
  for (const std::string& difference : comparison.forced) add("--force: " + difference);
  for (const std::string& note : comparison.notes) add(note);
  if (told > 20) text += "- and " + std::to_string(told - 20) + " more notes\n";
  return text;
}

std::string SectionOf(const NamedComparison& one) {
  const Comparison& comparison = one.comparison;
  std::string title = one.name.empty() ? "" : Escaped(one.name.substr(0, 200)) + ": ";
  return "### " + std::string(Symbol(comparison.verdict)) + " " + title +
         std::string(VerdictWords(comparison.verdict)) + "\n\n" + Escaped(HeadlineOf(comparison)) +
         "\n" + GatesOf(comparison) + ExplanationOf(comparison) + OthersOf(comparison);
}

}  // namespace

std::string RenderMarkdown(std::span<const NamedComparison> comparisons, size_t limit) {
  std::string text(kMarker);
  size_t left_out = 0;
  for (const NamedComparison& one : comparisons) {
    const std::string section = SectionOf(one) + NotesOf(one.comparison);
    if (left_out > 0 || text.size() + section.size() + 100 > limit) {
      ++left_out;
      continue;
    }
    const size_t room = comparisons.size() > 1 ? 0 : limit - text.size() - section.size() - 100;
    text += SectionOf(one) + (room > 0 ? NamesOf(one.comparison, room) : "") +
            NotesOf(one.comparison) + "\n";
  }
  if (left_out > 0) text += std::to_string(left_out) + " more comparisons don't fit here\n";
  return text;
}

}  // namespace tutti::analyzer::compare
