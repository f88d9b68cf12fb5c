#include "analyzer/metrics/line_fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace tutti::analyzer {
namespace {

double MedianOf(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// A slope, and how far apart the points are that give it.
struct Slope {
  double value = 0;
  double reach = 0;
};

// Half of the reach is in slopes that are less.
double MedianOf(std::vector<Slope>& slopes) {
  std::sort(slopes.begin(), slopes.end(),
            [](const Slope& a, const Slope& b) { return a.value < b.value; });
  double total = 0;
  for (const Slope& slope : slopes) total += slope.reach;
  double before = 0;
  for (const Slope& slope : slopes) {
    before += slope.reach;
    if (2 * before > total) return slope.value;
  }
  return slopes.back().value;
}

std::vector<Point> Spread(std::span<const Point> points) {
  constexpr size_t kMost = 256;
  if (points.size() <= kMost) return {points.begin(), points.end()};
  std::vector<Point> some;
  for (size_t i = 0; i < kMost; ++i) some.push_back(points[i * (points.size() - 1) / (kMost - 1)]);
  return some;
}

}  // namespace

std::optional<Line> MedianLine(std::span<const Point> points) {
  const std::vector<Point> some = Spread(points);
  std::vector<Slope> slopes;
  size_t rising = 0;
  for (size_t i = 0; i < some.size(); ++i) {
    for (size_t j = i + 1; j < some.size(); ++j) {
      const double reach = some[j].x - some[i].x;
      if (reach == 0) continue;
      slopes.push_back({(some[j].y - some[i].y) / reach, std::abs(reach)});
      if (slopes.back().value > 0) ++rising;
    }
  }
  if (slopes.empty()) return std::nullopt;
  Line line;
  line.rising_frac = static_cast<double>(rising) / static_cast<double>(slopes.size());
  line.slope = MedianOf(slopes);
  std::vector<double> left;
  for (const Point& point : some) left.push_back(point.y - line.slope * point.x);
  line.intercept = MedianOf(left);
  return line;
}

}  // namespace tutti::analyzer
