// Trends and fits for people and for programs. Pure functions; callable from any thread.
#pragma once

#include <span>
#include <string>

#include "analyzer/history/trend.h"

namespace tutti::analyzer::history {

// A launch that was checked against its trend.
struct Checked {
  StoredLaunch launch;
  const compare::Metric* metric = nullptr;
  Fit fit;
};

std::string RenderTrendsText(std::span<const Trend> trends);
std::string RenderTrendsJson(std::span<const Trend> trends);  // tutti.history/1
std::string RenderTrendsHtml(std::span<const Trend> trends);
std::string RenderChecksText(std::span<const Checked> checks);
std::string RenderChecksJson(std::span<const Checked> checks);  // tutti.history_check/1

}  // namespace tutti::analyzer::history
