#include "analyzer/metrics/line_fit.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tutti::analyzer {
namespace {

double MedianOf(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
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
  std::vector<double> slopes;
  size_t rising = 0;
  for (size_t i = 0; i < some.size(); ++i) {
    for (size_t j = i + 1; j < some.size(); ++j) {
      if (some[i].x == some[j].x) continue;
      slopes.push_back((some[j].y - some[i].y) / (some[j].x - some[i].x));
      if (slopes.back() > 0) ++rising;
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
