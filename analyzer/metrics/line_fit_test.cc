#include "analyzer/metrics/line_fit.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tutti::analyzer {
namespace {

TEST(MedianLine, GoesThroughPointsOnALine) {
  const Point points[] = {{1, 12}, {2, 14}, {4, 18}};
  const auto line = MedianLine(points);
  ASSERT_TRUE(line);
  EXPECT_DOUBLE_EQ(line->slope, 2);
  EXPECT_DOUBLE_EQ(line->intercept, 10);
  EXPECT_DOUBLE_EQ(line->rising_frac, 1);
}

TEST(MedianLine, OnePointFarOffDoesNotBendIt) {
  std::vector<Point> points;
  for (int i = 0; i < 20; ++i) points.push_back({double(i), 5.0 + 3 * i});
  points[7].y = 1e9;
  const auto line = MedianLine(points);
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->slope, 3, 1e-9);
  EXPECT_NEAR(line->intercept, 5, 1e-9);
}

// Three sizes about 1,000 take a little more or less; their slopes say nothing.
TEST(MedianLine, PointsSideBySideDoNotTiltIt) {
  const Point points[] = {{10, 110}, {1000, 1100}, {1001, 1120}, {1002, 1140}};
  const auto line = MedianLine(points);
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->slope, 1.02, 0.03);
  EXPECT_NEAR(line->intercept, 100, 20);
}

TEST(MedianLine, NoiseRisesInHalfOfThePairs) {
  std::mt19937 random(3);
  std::vector<Point> points;
  for (int i = 0; i < 1000; ++i) points.push_back({double(i), double(random() % 1000)});
  const auto line = MedianLine(points);
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->rising_frac, 0.5, 0.1);
}

TEST(MedianLine, OneXSaysNothing) {
  const Point points[] = {{1, 12}, {1, 14}};
  EXPECT_FALSE(MedianLine(points));
  EXPECT_FALSE(MedianLine({}));
}

}  // namespace
}  // namespace tutti::analyzer
