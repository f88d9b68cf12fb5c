// Lines through points of which some are far off.
// Pure functions; callable from any thread.
#pragma once

#include <optional>
#include <span>

namespace tutti::analyzer {

struct Point {
  double x = 0;
  double y = 0;
};

struct Line {
  double intercept = 0;
  double slope = 0;
  double rising_frac = 0;  // share of the pairs between which y rises
};

// Theil-Sen: the slope is the median over all pairs with different x, each weighing as much as
// its x are apart (of two that are close it is all noise), the intercept the median of what is
// left. Of more than 256 points evenly spread ones are taken. Nothing for fewer than
// two different x. O(n^2) in at most 256.
std::optional<Line> MedianLine(std::span<const Point> points);

}  // namespace tutti::analyzer
