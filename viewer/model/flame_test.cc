#include "viewer/model/flame.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "viewer/model/lane_builder.h"
#include "viewer/testing/random_events.h"

namespace tutti::viewer {
namespace {

constexpr int64_t kFar = 1'000'000;

RankTraces OneTrack(std::vector<Event> events) {
  auto trace = std::make_shared<RankTrace>();
  Track track;
  track.lanes = BuildLanes(std::move(events));
  trace->tracks.push_back(std::move(track));
  return {trace};
}

FlameGraph GraphOf(const RankTraces& ranks, int64_t begin_ns = -kFar, int64_t end_ns = kFar) {
  FlameGraph graph;
  graph.Add(ranks, begin_ns, end_ns, 0, [](uint32_t, const Track&) { return true; });
  graph.Finish();
  return graph;
}

// ns  0    10   20   30   40   50   60
// 1   [==================)[========)
// 2     [====)[====)        [==)
// 3       [)
std::vector<Event> Calls() {
  return {{.begin_ns = 0, .end_ns = 40, .name = 1},  {.begin_ns = 5, .end_ns = 15, .name = 2},
          {.begin_ns = 8, .end_ns = 10, .name = 3},  {.begin_ns = 15, .end_ns = 25, .name = 2},
          {.begin_ns = 40, .end_ns = 60, .name = 1}, {.begin_ns = 45, .end_ns = 50, .name = 2}};
}

TEST(FlameGraph, AddsUpCallsByTheirPath) {
  const FlameGraph graph = GraphOf(OneTrack(Calls()));
  ASSERT_EQ(graph.nodes().size(), 4U);
  EXPECT_EQ(graph.nodes()[0].total_ns[0], 60);
  const FlameNode& outer = graph.nodes()[1];
  EXPECT_EQ(outer.name, 1U);
  EXPECT_EQ(outer.count[0], 2);
  EXPECT_EQ(outer.total_ns[0], 60);
  EXPECT_EQ(outer.self_ns[0], 35);
  const FlameNode& inner = graph.nodes()[outer.children[0]];
  EXPECT_EQ(inner.count[0], 3);
  EXPECT_EQ(inner.total_ns[0], 25);
  EXPECT_EQ(inner.self_ns[0], 23);
  EXPECT_EQ(graph.nodes()[inner.children[0]].total_ns[0], 2);
}

TEST(FlameGraph, CutsAtTheRange) {
  const FlameGraph graph = GraphOf(OneTrack(Calls()), 9, 20);
  EXPECT_EQ(graph.nodes()[0].total_ns[0], 11);
  EXPECT_EQ(graph.nodes()[1].total_ns[0], 11);
  EXPECT_EQ(graph.nodes()[2].total_ns[0], 11) << "6 and 5 ns of the inner calls";
  EXPECT_EQ(graph.nodes()[3].total_ns[0], 1);
}

TEST(FlameGraph, SetsTwoRunsSideBySide) {
  const RankTraces ranks = OneTrack(Calls());
  FlameGraph graph;
  const auto all = [](uint32_t, const Track&) { return true; };
  graph.Add(ranks, -kFar, kFar, 0, all);
  graph.Add(ranks, 0, 40, 1, all);
  graph.Finish();
  EXPECT_EQ(graph.nodes()[1].total_ns, (BothNs{60, 40}));
  EXPECT_EQ(graph.nodes()[1].count, (BothNs{2, 1}));
}

// However events overlap, their own times add up to the whole, and a node's children to no more
// than it.
TEST(FlameGraph, PartsAddUpToTheWhole) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    const FlameGraph graph = GraphOf(OneTrack(testing::TangledEvents(seed, 200)), -20, 300);
    int64_t own_ns = 0;
    for (size_t i = 1; i < graph.nodes().size(); ++i) {
      const FlameNode& node = graph.nodes()[i];
      own_ns += node.self_ns[0];
      int64_t below_ns = 0;
      for (const uint32_t child : node.children) below_ns += graph.nodes()[child].total_ns[0];
      ASSERT_EQ(node.self_ns[0] + below_ns, node.total_ns[0]);
    }
    ASSERT_EQ(own_ns, graph.nodes()[0].total_ns[0]);
  }
}

TEST(LayOut, BoxesLieBelowTheirParents) {
  const FlameGraph graph = GraphOf(OneTrack(testing::TangledEvents(4, 2'000)));
  const std::vector<FlameBox> boxes = LayOut(graph, 0, 500);
  ASSERT_GT(boxes.size(), 5U);
  EXPECT_FLOAT_EQ(boxes[0].x1, 500);
  for (size_t i = 1; i < boxes.size(); ++i) {
    const uint32_t parent = graph.nodes()[boxes[i].node].parent;
    const auto above = std::find_if(boxes.begin(), boxes.end(),
                                    [&](const FlameBox& box) { return box.node == parent; });
    ASSERT_NE(above, boxes.end());
    EXPECT_EQ(above->row + 1, boxes[i].row);
    EXPECT_GE(boxes[i].x0, above->x0);
  }
  EXPECT_TRUE(LayOut(FlameGraph(), 0, 500).empty());
}

}  // namespace
}  // namespace tutti::viewer
