#include "viewer/scene/skyline.h"

#include <gtest/gtest.h>

#include <random>

namespace tutti::viewer {
namespace {

// How often each cell of a grid is covered.
std::vector<std::vector<int>> Covered(const std::vector<SkylineBox>& boxes, int width, int height) {
  std::vector<std::vector<int>> cells(static_cast<size_t>(width),
                                      std::vector<int>(static_cast<size_t>(height)));
  for (const SkylineBox& box : boxes) {
    for (auto x = static_cast<size_t>(box.x0); x < static_cast<size_t>(box.x1); ++x) {
      for (auto y = static_cast<size_t>(box.low); y < static_cast<size_t>(box.high); ++y) {
        ++cells[x][y];
      }
    }
  }
  return cells;
}

TEST(Skyline, CoversEachColumnOnceUpToItsHeight) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<int> heights;
    Skyline skyline;
    for (int x = 0; x < 60; ++x) {
      heights.push_back(static_cast<int>(random() % 9));
      const bool is_gap = random() % 5 == 0;
      if (is_gap) heights.back() = 0;
      const auto left = static_cast<float>(x);
      if (!is_gap) skyline.Add(left, left + 1, static_cast<float>(heights.back()));
    }
    const std::vector<SkylineBox> boxes = skyline.Take();
    EXPECT_LE(boxes.size(), 60U);
    const auto cells = Covered(boxes, 60, 9);
    for (size_t x = 0; x < 60; ++x) {
      for (size_t y = 0; y < 9; ++y) {
        ASSERT_EQ(cells[x][y], static_cast<int>(y) < heights[x] ? 1 : 0) << x << ", " << y;
      }
    }
  }
}

TEST(Skyline, EqualNeighboursAreOneAndAlternatingOnesShareWhatTheyHave) {
  Skyline skyline;
  for (int x = 0; x < 100; ++x) {
    skyline.Add(static_cast<float>(x), static_cast<float>(x + 1), x % 2 == 0 ? 7 : 8);
  }
  EXPECT_EQ(skyline.Take().size(), 51U);
  for (int x = 0; x < 100; ++x) skyline.Add(static_cast<float>(x), static_cast<float>(x + 1), 7);
  EXPECT_EQ(skyline.Take().size(), 1U);
  EXPECT_TRUE(skyline.Take().empty());
}

}  // namespace
}  // namespace tutti::viewer
