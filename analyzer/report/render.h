// Reports out of ReportData. Pure functions; callable from any thread.
#pragma once

#include <string>

#include "analyzer/report/report_data.h"
#include "analyzer/report/series.h"

namespace tutti::analyzer {

struct TextStyle {
  bool colour = false;  // ANSI escape sequences
};

// For people at a terminal: at most 100 columns, control characters of names made
// harmless, what matters most first.
std::string RenderText(const ReportData& data, TextStyle style);
// For programs: one JSON object, schema tutti.report/1.
std::string RenderJson(const ReportData& data);
// For a comment on a pull request: GitHub's Markdown, below 60,000 bytes.
std::string RenderMarkdown(const ReportData& data);
// For people in a browser: one self-contained page of bounded size that fetches nothing.
std::string RenderHtml(const ReportData& data, const ReportSeries& series);

}  // namespace tutti::analyzer
