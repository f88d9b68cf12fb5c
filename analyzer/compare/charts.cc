#include "analyzer/compare/charts.h"

#include <algorithm>
#include <cmath>

#include "analyzer/compare/figures.h"
#include "analyzer/compare/level.h"
#include "analyzer/compare/page.h"
#include "analyzer/compare/render.h"

namespace tutti::analyzer::compare {
namespace {

constexpr int kWidth = 960;
constexpr double kLeft = 170;
constexpr double kRight = 940;

std::string_view KindOf(const MetricResult& result) {
  if (result.verdict == Verdict::kRegression) return "worse";
  if (result.verdict == Verdict::kImprovement) return "better";
  return result.verdict == Verdict::kInconclusive ? "open" : "base";
}

void DrawTicks(Drawing& drawing, const Axis& axis, double top, double bottom,
               std::string (*text)(double)) {
  for (const double tick : axis.Ticks(6)) {
    drawing.Line(axis.At(tick), top, axis.At(tick), bottom, "grid");
    drawing.Text(axis.At(tick), bottom + 16, "middle", text(tick), "soft");
  }
}

std::string ShareText(double share) { return SignedPercent(share); }

std::vector<const MetricResult*> TestedGates(const Comparison& comparison) {
  std::vector<const MetricResult*> gates;
  for (const MetricResult& result : comparison.metrics) {
    if (result.is_gate && result.estimate) gates.push_back(&result);
  }
  return gates;
}

double MinEffectOf(const MetricResult& gate, const Comparison& comparison) {
  return gate.AsShare(ScaledRule(*gate.metric, comparison).min_effect);
}

// Step periods of one side, warm-up left out.
std::vector<double> StepsOf(const std::vector<Launch>& arm, size_t warmup) {
  std::vector<double> steps;
  for (const Launch& launch : arm) {
    for (const int64_t ns : PeriodsOf(launch, warmup)) steps.push_back(static_cast<double>(ns));
  }
  std::ranges::sort(steps);
  return steps;
}

double Quantile(const std::vector<double>& sorted, double p) {
  return sorted[static_cast<size_t>(p * static_cast<double>(sorted.size() - 1))];
}

constexpr size_t kBins = 60;

// Shares of the steps in equal bins of [low, high]; what lies outside is in none.
std::vector<double> Histogram(const std::vector<double>& steps, double low, double high) {
  std::vector<double> bins(kBins, 0);
  for (const double step : steps) {
    if (step < low || step > high) continue;
    const auto bin = static_cast<size_t>((step - low) / (high - low) * kBins);
    bins[std::min(bin, kBins - 1)] += 1 / static_cast<double>(steps.size());
  }
  return bins;
}

void DrawHistogram(Drawing& drawing, const std::vector<double>& bins, const Axis& time,
                   const Axis& height, double low, double high, std::string_view kind) {
  std::vector<std::pair<double, double>> outline = {{time.At(low), height.At(0)}};
  for (size_t i = 0; i < bins.size(); ++i) {
    const double width = (high - low) / kBins;
    const double begin = low + static_cast<double>(i) * width;
    outline.emplace_back(time.At(begin), height.At(bins[i]));
    outline.emplace_back(time.At(begin + width), height.At(bins[i]));
  }
  outline.emplace_back(time.At(high), height.At(0));
  drawing.Path(outline, kind);
}

double LevelOf(const Launch& launch, size_t warmup) {
  return StepLevelOf(PeriodsOf(launch, warmup)).trimmed_ns;
}

// A dot a launch; those of a pair are joined.
void DrawLaunches(Drawing& drawing, const Comparison& comparison, const Axis& time, double low,
                  double high, double top) {
  const double base_y = top;
  const double new_y = top + 26;
  const auto x = [&](const Launch& launch) {
    return time.At(std::clamp(LevelOf(launch, comparison.warmup), low, high));
  };
  drawing.Text(kLeft - 10, base_y + 4, "end", "base launches");
  drawing.Text(kLeft - 10, new_y + 4, "end", "new launches");
  if (comparison.design == Design::kPaired) {
    for (size_t i = 0; i < comparison.base.size(); ++i) {
      drawing.Line(x(comparison.base[i]), base_y, x(comparison.fresh[i]), new_y, "joint");
    }
  }
  for (const auto* arm : {&comparison.base, &comparison.fresh}) {
    const bool is_base = arm == &comparison.base;
    for (const Launch& launch : *arm) {
      drawing.Dot(x(launch), is_base ? base_y : new_y, 4, is_base ? "base" : "new",
                  launch.name + ": " + Duration(LevelOf(launch, comparison.warmup)));
    }
  }
}

}  // namespace

std::string EffectChart(const Comparison& comparison) {
  const auto gates = TestedGates(comparison);
  if (gates.empty()) return "";
  double low = 0;
  double high = 0;
  for (const MetricResult* gate : gates) {
    const double matters = 1.5 * MinEffectOf(*gate, comparison);
    low = std::min({low, -matters, gate->AsShare(gate->estimate->low)});
    high = std::max({high, matters, gate->AsShare(gate->estimate->high)});
  }
  const double bottom = 20 + 44.0 * static_cast<double>(gates.size());
  Drawing drawing(kWidth, static_cast<int>(bottom) + 42, "effects of the gates with intervals");
  const Axis axis(low, high, kLeft, kRight);
  DrawTicks(drawing, axis, 10, bottom, &ShareText);
  drawing.Line(axis.At(0), 10, axis.At(0), bottom, "axis");
  double y = 34;
  for (const MetricResult* gate : gates) {
    const double matters = MinEffectOf(*gate, comparison);
    for (const double limit : {-matters, matters}) {
      drawing.Line(axis.At(limit), y - 18, axis.At(limit), y + 18, "limit");
    }
    const double from = axis.At(gate->AsShare(gate->estimate->low));
    const double to = axis.At(gate->AsShare(gate->estimate->high));
    const std::string said = ChangeOf(*gate, comparison) + " " + IntervalOf(*gate, comparison);
    drawing.Text(kLeft - 10, y + 4, "end", gate->metric->name);
    drawing.Box(from, y - 5, std::max(to - from, 1.0), 10, KindOf(*gate), said);
    drawing.Dot(axis.At(gate->AsShare(gate->estimate->delta)), y, 5, KindOf(*gate), said);
    y += 44;
  }
  drawing.Text((kLeft + kRight) / 2, bottom + 34, "middle",
               "change with 95 % interval, as a share of the base (of the step, for times within "
               "it); dashed: what matters",
               "soft");
  return drawing.Finish();
}

std::string StepTimeChart(const Comparison& comparison) {
  const std::vector<double> base = StepsOf(comparison.base, comparison.warmup);
  const std::vector<double> fresh = StepsOf(comparison.fresh, comparison.warmup);
  // The slowest of a hundred steps would press all others together.
  const double low = std::min(Quantile(base, 0), Quantile(fresh, 0));
  double high = std::max(Quantile(base, 0.99), Quantile(fresh, 0.99));
  if (!(high > low)) high = low * 1.01 + 1;
  const auto base_bins = Histogram(base, low, high);
  const auto new_bins = Histogram(fresh, low, high);
  const double tallest =
      std::max(*std::ranges::max_element(base_bins), *std::ranges::max_element(new_bins));
  Drawing drawing(kWidth, 320, "distribution of step times of both sides");
  const Axis time(low, high, kLeft, kRight);
  const Axis height(0, std::max(tallest, 1e-9), 200, 16);
  DrawTicks(drawing, time, 10, 200, &Duration);
  drawing.Line(kLeft, 200, kRight, 200, "axis");
  DrawHistogram(drawing, base_bins, time, height, low, high, "base");
  DrawHistogram(drawing, new_bins, time, height, low, high, "new");
  drawing.Text(kLeft - 10, 40, "end", "share of steps");
  drawing.Dot(kLeft - 84, 62, 5, "base");
  drawing.Text(kLeft - 10, 66, "end", "base");
  drawing.Dot(kLeft - 84, 84, 5, "new");
  drawing.Text(kLeft - 10, 88, "end", "new");
  DrawLaunches(drawing, comparison, time, low, high, 248);
  drawing.Text(
      (kLeft + kRight) / 2, 310, "middle",
      "step time without warm-up; the slowest hundredth lies to the right of it; a dot is a "
      "launch's trimmed mean",
      "soft");
  return drawing.Finish();
}

std::string BreakdownChart(const Comparison& comparison) {
  if (!comparison.explanation) return "";
  const Explanation& explanation = *comparison.explanation;
  double low = static_cast<double>(std::min(explanation.base_ns, explanation.new_ns));
  double high = static_cast<double>(std::max(explanation.base_ns, explanation.new_ns));
  int64_t reached = explanation.base_ns;
  for (const PartChange& part : explanation.parts) {
    reached += part.change_ns();
    low = std::min(low, static_cast<double>(reached));
    high = std::max(high, static_cast<double>(reached));
  }
  const double room = std::max((high - low) * 0.1, 1.0);
  const double bottom = 20 + 24.0 * static_cast<double>(explanation.parts.size() + 2);
  Drawing drawing(kWidth, static_cast<int>(bottom) + 42, "from the base step to the new one");
  const Axis axis(low - room, high + room, kLeft, kRight - 90);
  DrawTicks(drawing, axis, 10, bottom, &Duration);
  double y = 30;
  const auto row = [&](std::string_view name, int64_t from_ns, int64_t to_ns, std::string_view kind,
                       const std::string& said) {
    const double from = axis.At(static_cast<double>(std::min(from_ns, to_ns)));
    const double to = axis.At(static_cast<double>(std::max(from_ns, to_ns)));
    drawing.Text(kLeft - 10, y + 4, "end", name);
    drawing.Box(from, y - 8, std::max(to - from, 1.0), 16, kind, said);
    drawing.Text(kRight, y + 4, "end", said);
    y += 24;
  };
  const auto start_ns = static_cast<int64_t>(low - room);
  row("base step", start_ns, explanation.base_ns, "base",
      Duration(static_cast<double>(explanation.base_ns)));
  reached = explanation.base_ns;
  for (const PartChange& part : explanation.parts) {
    const int64_t before = reached;
    reached += part.change_ns();
    row(PartInWords(part.part), before, reached, part.change_ns() > 0 ? "worse" : "better",
        SignedDuration(static_cast<double>(part.change_ns())));
  }
  row("new step", start_ns, explanation.new_ns, "new",
      Duration(static_cast<double>(explanation.new_ns)));
  drawing.Text((kLeft + kRight) / 2, bottom + 34, "middle",
               "mean step with every stall; each part begins where the one above it ends; the axis "
               "does not begin at 0",
               "soft");
  return drawing.Finish();
}

}  // namespace tutti::analyzer::compare
