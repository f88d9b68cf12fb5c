#include "analyzer/history/render.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "analyzer/compare/figures.h"
#include "analyzer/compare/page.h"
#include "common/text.h"

namespace tutti::analyzer::history {
namespace {

using compare::Columns;
using compare::Percent;
using compare::PValue;
using compare::SignedPercent;
using compare::Value;
using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

constexpr size_t kSparkWidth = 80;

std::string DateOf(int64_t realtime_ns) {
  const std::time_t seconds = realtime_ns / 1'000'000'000;
  std::tm parts{};
  char text[32];
  if (::gmtime_r(&seconds, &parts) == nullptr) return "?";
  return std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &parts) == 0 ? "?" : text;
}

// What a user finds it by.
std::string TagOf(const StoredLaunch& launch) {
  return ToPrintableText(launch.label.empty() ? launch.name : launch.label);
}

double Relative(const Trend& trend, double change) {
  return trend.metric->scale == compare::Scale::kRatio ? std::expm1(change) : change;
}

bool IsWorse(const Trend& trend, const ChangePoint& change) {
  return (change.change() > 0) == trend.metric->higher_is_worse;
}

std::string ChangeText(const Trend& trend, const Level& level) {
  if (level.new_epoch) return "new epoch";
  if (!level.change) return "";
  return SignedPercent(Relative(trend, level.change->change())) + " since " +
         TagOf(trend.launches[level.begin]) + " (p " + PValue(level.change->p) + ")" +
         (level.change->pending           ? ", pending"
          : IsWorse(trend, *level.change) ? ", WORSE"
                                          : "");
}

// The newest launches as one line of eight heights.
std::string Sparkline(const Trend& trend) {
  static constexpr const char* kHeights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const size_t count = std::min(trend.launches.size(), kSparkWidth);
  const size_t begin = trend.launches.size() - count;
  double low = trend.Value(begin);
  double high = low;
  for (size_t i = begin; i < trend.launches.size(); ++i) {
    low = std::min(low, trend.Value(i));
    high = std::max(high, trend.Value(i));
  }
  std::string line;
  for (size_t i = begin; i < trend.launches.size(); ++i) {
    const double share = high > low ? (trend.Value(i) - low) / (high - low) : 0;
    line += kHeights[static_cast<size_t>(share * 7.999)];
  }
  return line;
}

std::string TextOf(const Trend& trend) {
  Rows rows;
  for (const Level& level : trend.levels) {
    rows.push_back({std::to_string(level.begin + 1) +
                        (level.end - level.begin > 1 ? "-" + std::to_string(level.end) : ""),
                    Value(trend.metric->unit, level.mean), "± " + Percent(level.spread),
                    DateOf(trend.launches[level.begin].begin_ns), ChangeText(trend, level)});
  }
  return ToPrintableText(trend.series) + ": " + std::string(trend.metric->name) + ", " +
         std::to_string(trend.launches.size()) + " launches\n  " + Sparkline(trend) + "\n" +
         Columns(rows, 5) + "  on " + ToPrintableText(trend.launches.back().epoch) + "\n";
}

Json JsonOf(const Trend& trend) {
  Json levels = Json::array();
  for (const Level& level : trend.levels) {
    Json json = {{"first", level.begin},         {"launches", level.end - level.begin},
                 {"mean", level.mean},           {"spread", level.spread},
                 {"new_epoch", level.new_epoch}, {"change", nullptr}};
    if (level.change) {
      json["change"] = {{"effect", Relative(trend, level.change->change())},
                        {"p", level.change->p},
                        {"worse", IsWorse(trend, *level.change)},
                        {"pending", level.change->pending}};
    }
    levels.push_back(json);
  }
  Json launches = Json::array();
  for (size_t i = 0; i < trend.launches.size(); ++i) {
    const StoredLaunch& launch = trend.launches[i];
    launches.push_back({{"begin_ns", launch.begin_ns},
                        {"name", launch.name},
                        {"label", launch.label},
                        {"epoch", launch.epoch},
                        {"value", trend.Value(i)}});
  }
  return {{"series", trend.series},
          {"metric", trend.metric->name},
          {"launches", launches},
          {"levels", levels}};
}

constexpr int kWidth = 960;
constexpr double kLeft = 100;
constexpr double kRight = 940;
constexpr double kTop = 16;
constexpr double kBottom = 230;

std::string ChartOf(const Trend& trend) {
  double low = trend.Value(0);
  double high = low;
  for (size_t i = 0; i < trend.launches.size(); ++i) {
    low = std::min(low, trend.Value(i));
    high = std::max(high, trend.Value(i));
  }
  const double room = (high - low) * 0.08;
  const compare::Axis x(-0.5, static_cast<double>(trend.launches.size()) - 0.5, kLeft, kRight);
  const compare::Axis y(low - room, high + room, kBottom, kTop);
  compare::Drawing drawing(kWidth, 268, "trend of " + std::string(trend.metric->name));
  for (const double tick : y.Ticks(5)) {
    drawing.Line(kLeft, y.At(tick), kRight, y.At(tick), "grid");
    drawing.Text(kLeft - 8, y.At(tick) + 4, "end", Value(trend.metric->unit, tick), "soft");
  }
  for (const Level& level : trend.levels) {
    const double from = x.At(static_cast<double>(level.begin) - 0.5);
    const double to = x.At(static_cast<double>(level.end) - 0.5);
    const bool changed = level.change && !level.change->pending;
    const std::string_view kind = !changed                        ? "base"
                                  : IsWorse(trend, *level.change) ? "worse"
                                                                  : "better";
    if (level.new_epoch) drawing.Line(from, kTop, from, kBottom, "limit");
    drawing.Path({{from, y.At(level.mean)}, {to, y.At(level.mean)}}, kind);
  }
  for (size_t i = 0; i < trend.launches.size(); ++i) {
    drawing.Dot(x.At(static_cast<double>(i)), y.At(trend.Value(i)), 3.5, "new",
                TagOf(trend.launches[i]) + ", " + DateOf(trend.launches[i].begin_ns) + ": " +
                    Value(trend.metric->unit, trend.Value(i)));
  }
  drawing.Text(kLeft, 252, "start", DateOf(trend.launches.front().begin_ns), "soft");
  drawing.Text(kRight, 252, "end", DateOf(trend.launches.back().begin_ns), "soft");
  drawing.Text((kLeft + kRight) / 2, 252, "middle",
               "a dot a launch, in their order; lines: levels; dashed: a new epoch", "soft");
  return drawing.Finish();
}

std::string TableOf(const Trend& trend) {
  std::vector<compare::TableRow> rows;
  for (const Level& level : trend.levels) {
    const bool changed = level.change && !level.change->pending;
    rows.push_back(
        {{DateOf(trend.launches[level.begin].begin_ns), TagOf(trend.launches[level.begin]),
          ChangeText(trend, level), std::to_string(level.end - level.begin),
          Value(trend.metric->unit, level.mean), Percent(level.spread)},
         !changed                        ? ""
         : IsWorse(trend, *level.change) ? "worse"
                                         : "better"});
  }
  return compare::Table({"from", "launch", "what", "launches", "level", "spread"}, rows, 3);
}

std::string WordsOf(const Checked& checked) {
  if (!checked.fit.estimate) return checked.fit.remark;
  const compare::Estimate& estimate = *checked.fit.estimate;
  const bool ratio = checked.metric->scale == compare::Scale::kRatio;
  const auto share = [ratio](double value) {
    return SignedPercent(ratio ? std::expm1(value) : value);
  };
  return share(estimate.delta) + " [" + share(estimate.low) + ", " + share(estimate.high) +
         "], p " + PValue(std::min(estimate.p_up, estimate.p_down)) + ", against " +
         std::to_string(checked.fit.launches) + " launches";
}

}  // namespace

std::string RenderTrendsText(std::span<const Trend> trends) {
  std::string text;
  for (const Trend& trend : trends) text += (text.empty() ? "" : "\n") + TextOf(trend);
  return text;
}

std::string RenderTrendsJson(std::span<const Trend> trends) {
  Json json = {{"schema", "tutti.history/1"}, {"trends", Json::array()}};
  for (const Trend& trend : trends) json["trends"].push_back(JsonOf(trend));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string RenderTrendsHtml(std::span<const Trend> trends) {
  std::string body = "<h1>History</h1>\n";
  for (const Trend& trend : trends) {
    body +=
        compare::Section(trend.series + ": " + std::string(trend.metric->name),
                         "<p class=\"soft\">on " + compare::Escaped(trend.launches.back().epoch) +
                             "</p>\n" + ChartOf(trend) + TableOf(trend));
  }
  return compare::Page("tutti: history", body);
}

std::string RenderChecksText(std::span<const Checked> checks) {
  Rows rows;
  for (const Checked& checked : checks) {
    rows.push_back({TagOf(checked.launch), std::string(checked.metric->name), WordsOf(checked),
                    std::string(compare::VerdictWords(checked.fit.verdict))});
  }
  return Columns(rows, 4);
}

std::string RenderChecksJson(std::span<const Checked> checks) {
  Json json = {{"schema", "tutti.history_check/1"}, {"checks", Json::array()}};
  for (const Checked& checked : checks) {
    Json one = {
        {"name", checked.launch.name},      {"label", checked.launch.label},
        {"series", checked.launch.series},  {"metric", checked.metric->name},
        {"launches", checked.fit.launches}, {"verdict", compare::VerdictName(checked.fit.verdict)},
        {"remark", checked.fit.remark},     {"effect", nullptr}};
    if (const auto& estimate = checked.fit.estimate) {
      const bool ratio = checked.metric->scale == compare::Scale::kRatio;
      const auto share = [ratio](double value) { return ratio ? std::expm1(value) : value; };
      one["effect"] = {{"value", share(estimate->delta)},
                       {"low", share(estimate->low)},
                       {"high", share(estimate->high)},
                       {"p_up", estimate->p_up},
                       {"p_down", estimate->p_down}};
    }
    json["checks"].push_back(one);
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tutti::analyzer::history
