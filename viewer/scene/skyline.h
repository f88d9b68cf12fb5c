// Columns of different heights that stand side by side, as few rectangles that cover the same: what
// neighbours have in common is one. Columns that alternate between two heights are half as many
// rectangles; never more than columns. None overlaps another, so they may be drawn pale.
#pragma once

#include <vector>

namespace tutti::viewer {

struct SkylineBox {
  float x0 = 0;
  float x1 = 0;
  float low = 0;
  float high = 0;  // > low
};

class Skyline {
 public:
  // From left to right. Where a column does not begin where the last ended there is a gap.
  void Add(float x0, float x1, float height);
  // The rectangles of all columns since the last time.
  std::vector<SkylineBox> Take();

 private:
  // A rectangle that has no right edge yet. Each stands on the one before it.
  struct Open {
    float x0 = 0;
    float low = 0;
    float high = 0;
  };

  void FallTo(float height);

  std::vector<Open> open_;
  std::vector<SkylineBox> boxes_;
  float end_ = 0;  // of the last column
};

}  // namespace tutti::viewer
