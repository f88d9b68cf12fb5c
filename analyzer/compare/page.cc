#include "analyzer/compare/page.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "common/text.h"

namespace tutti::analyzer::compare {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --paper: #ffffff;
  --panel: #f6f8fa; --line: #d0d7de; --base: #57606a; --new: #0969da; --worse: #b91c1c;
  --better: #15803d; --open: #92600a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa5b1; --paper: #0d1117;
  --panel: #161b22; --line: #30363d; --base: #9aa5b1; --new: #58a6ff; --worse: #ff7b72;
  --better: #56d364; --open: #e3b341; } }
body { margin: 0 auto; padding: 24px; max-width: 1040px; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 22px; margin: 0 0 4px; } h2 { font-size: 16px; margin: 0 0 10px; }
section { background: var(--panel); border: 1px solid var(--line); border-radius: 8px;
  padding: 14px 16px; margin: 14px 0; overflow-x: auto; }
p { margin: 4px 0; overflow-wrap: anywhere; } .soft { color: var(--soft); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
th, td { text-align: right; padding: 3px 10px; border-bottom: 1px solid var(--line);
  vertical-align: top; white-space: nowrap; }
th { color: var(--soft); font-weight: 600; } th.word, td.word { text-align: left; }
td.word { white-space: normal; overflow-wrap: anywhere; min-width: 160px; }
td.word:first-child { white-space: nowrap; min-width: 60px; }
.worse { color: var(--worse); } .better { color: var(--better); } .open { color: var(--open); }
svg { width: 100%; min-width: 720px; height: auto; display: block; } svg text { fill: var(--ink);
  font: 12px system-ui, sans-serif; } svg text.soft { fill: var(--soft); }
svg .grid { stroke: var(--line); } svg .axis { stroke: var(--soft); }
svg .limit { stroke: var(--open); stroke-dasharray: 4 3; }
svg .base { stroke: var(--base); fill: var(--base); } svg .new { stroke: var(--new);
  fill: var(--new); } svg .worse { stroke: var(--worse); fill: var(--worse); }
svg .better { stroke: var(--better); fill: var(--better); }
svg .open { stroke: var(--open); fill: var(--open); }
svg path { fill: none; stroke-width: 1.5; } svg rect { fill-opacity: .35; stroke-width: 1; }
svg path.base, svg path.new { fill: none; } svg .joint { stroke: var(--line); }
)";

std::string Number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", value);
  return text.data();
}

std::string Said(std::string_view said) {
  return said.empty() ? "/>\n" : "><title>" + Escaped(said) + "</title>";
}

std::string Class(std::string_view kind) {
  return kind.empty() ? "" : " class=\"" + std::string(kind) + "\"";
}

}  // namespace

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : ToPrintableText(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string Page(std::string_view title, std::string_view body) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
         "'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         Escaped(title) + "</title>\n<style>" + std::string(kStyle) +
         "</style>\n</head>\n<body>\n" + std::string(body) + "</body>\n</html>\n";
}

std::string Section(std::string_view heading, std::string_view markup) {
  if (markup.empty()) return "";
  return "<section>\n<h2>" + Escaped(heading) + "</h2>\n" + std::string(markup) + "</section>\n";
}

std::string Table(const std::vector<std::string>& header, const std::vector<TableRow>& rows,
                  size_t left) {
  const auto line = [left](const std::vector<std::string>& cells, const std::string& tag,
                           std::string_view kind) {
    std::string text = "<tr" + Class(kind) + ">";
    for (size_t i = 0; i < cells.size(); ++i) {
      text +=
          "<" + tag + (i < left ? " class=\"word\">" : ">") + Escaped(cells[i]) + "</" + tag + ">";
    }
    return text + "</tr>\n";
  };
  std::string text = "<table>\n<thead>" + line(header, "th", "") + "</thead>\n<tbody>\n";
  for (const TableRow& row : rows) text += line(row.cells, "td", row.kind);
  return text + "</tbody>\n</table>\n";
}

Axis::Axis(double low, double high, double from, double to)
    : low_(low), high_(high), from_(from), to_(to) {
  if (!(high_ > low_)) {
    const double room = low_ == 0 ? 1 : std::abs(low_) * 0.01;
    low_ -= room;
    high_ += room;
  }
}

double Axis::At(double value) const {
  return from_ + (value - low_) / (high_ - low_) * (to_ - from_);
}

std::vector<double> Axis::Ticks(int ticks) const {
  const double rough = (high_ - low_) / ticks;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double shape = rough / power;
  const double step = power * (shape <= 1 ? 1 : shape <= 2 ? 2 : shape <= 5 ? 5 : 10);
  std::vector<double> found;
  for (double k = std::ceil(low_ / step); k * step <= high_; ++k)
    found.push_back(k * step + 0.0);  // no -0
  return found;
}

Drawing::Drawing(int width, int height, std::string_view described)
    : svg_("<svg width=\"" + std::to_string(width) + "\" height=\"" + std::to_string(height) +
           "\" viewBox=\"0 0 " + std::to_string(width) + " " + std::to_string(height) +
           "\" role=\"img\" aria-label=\"" + Escaped(described) + "\">\n") {}

void Drawing::Line(double x1, double y1, double x2, double y2, std::string_view kind) {
  svg_ += "<line x1=\"" + Number(x1) + "\" y1=\"" + Number(y1) + "\" x2=\"" + Number(x2) +
          "\" y2=\"" + Number(y2) + "\"" + Class(kind) + "/>\n";
}

void Drawing::Box(double x, double y, double width, double height, std::string_view kind,
                  std::string_view said) {
  svg_ += "<rect x=\"" + Number(x) + "\" y=\"" + Number(y) + "\" width=\"" + Number(width) +
          "\" height=\"" + Number(height) + "\"" + Class(kind) + Said(said);
  if (!said.empty()) svg_ += "</rect>\n";
}

void Drawing::Dot(double x, double y, double radius, std::string_view kind, std::string_view said) {
  svg_ += "<circle cx=\"" + Number(x) + "\" cy=\"" + Number(y) + "\" r=\"" + Number(radius) + "\"" +
          Class(kind) + Said(said);
  if (!said.empty()) svg_ += "</circle>\n";
}

void Drawing::Path(const std::vector<std::pair<double, double>>& points, std::string_view kind) {
  svg_ += "<path d=\"";
  for (size_t i = 0; i < points.size(); ++i) {
    svg_ += (i == 0 ? "M" : "L") + Number(points[i].first) + " " + Number(points[i].second);
  }
  svg_ += "\"" + Class(kind) + "/>\n";
}

void Drawing::Text(double x, double y, std::string_view anchor, std::string_view text,
                   std::string_view kind) {
  svg_ += "<text x=\"" + Number(x) + "\" y=\"" + Number(y) + "\" text-anchor=\"" +
          std::string(anchor) + "\"" + Class(kind) + ">" + Escaped(text) + "</text>\n";
}

}  // namespace tutti::analyzer::compare
