// Where time goes below what calls what: events of a range of time by the path of names above
// them, of one run or of two side by side. A value; pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "viewer/model/event_set.h"

namespace tutti::viewer {

// The first is run A or the only one, the second run B.
using BothNs = std::array<int64_t, 2>;

struct FlameNode {
  NameId name = 0;
  Category category = Category::kHost;
  uint32_t parent = 0;   // place of it; the root is its own
  uint32_t depth = 0;    // of the root 0
  BothNs total_ns = {};  // inside the range, with what it calls
  BothNs self_ns = {};   // without
  BothNs count = {};
  std::vector<uint32_t> children;  // most time first, once built
};

class FlameGraph {
 public:
  FlameGraph() : nodes_(1) {}

  // Adds the events in [begin_ns, end_ns) of the tracks that `wanted` accepts. An event belongs
  // below the one of its track that contains it and began last. `side`: 0 or 1.
  void Add(const RankTraces& ranks, int64_t begin_ns, int64_t end_ns, size_t side,
           const std::function<bool(uint32_t rank, const Track&)>& wanted);
  // Sorts children; no more is added.
  void Finish();

  // The root, whose total is that of all, comes first.
  const std::vector<FlameNode>& nodes() const { return nodes_; }

 private:
  void AddTrack(const Track& track, int64_t begin_ns, int64_t end_ns, size_t side);
  uint32_t ChildOf(uint32_t parent, NameId name, Category category);

  std::vector<FlameNode> nodes_;
  std::map<std::tuple<uint32_t, NameId, Category>, uint32_t> places_;
};

// A node's place in a picture of `width_px`.
struct FlameBox {
  uint32_t node = 0;
  float x0 = 0;
  float x1 = 0;
  uint32_t row = 0;  // from the top; the node that fills the width is 0
};

// Boxes of `top` and all below it that are at least half a pixel wide, as wide as the sum of both
// sides. O(boxes).
std::vector<FlameBox> LayOut(const FlameGraph& graph, uint32_t top, float width_px);

}  // namespace tutti::viewer
