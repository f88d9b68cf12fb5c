#include "viewer/scene/skyline.h"

#include <algorithm>
#include <utility>

namespace tutti::viewer {

void Skyline::Add(float x0, float x1, float height) {
  FallTo(x0 == end_ ? height : 0);
  const float low = open_.empty() ? 0 : open_.back().high;
  if (height > low) open_.push_back({x0, low, height});
  end_ = x1;
}

std::vector<SkylineBox> Skyline::Take() {
  FallTo(0);
  return std::exchange(boxes_, {});
}

void Skyline::FallTo(float height) {
  while (!open_.empty() && open_.back().high > height) {
    Open& top = open_.back();
    boxes_.push_back({top.x0, end_, std::max(top.low, height), top.high});
    if (top.low < height) {
      top.high = height;
      return;
    }
    open_.pop_back();
  }
}

}  // namespace tutti::viewer
