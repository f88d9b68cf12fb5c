#include "analyzer/replay/event_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tutti::analyzer {
namespace {

using Edge = EventGraph::Edge;
using Id = EventGraph::Id;

int64_t Unchanged(Id, const Edge& edge) { return edge.weight_ns; }

// ns      0         10        20        30
// a       [====================)               20
// b       [==========)                         10, then c waits for both
// c                            ..[=========)   begins 2 after a
TEST(EventGraph, WhatExplainsATimeBestIsWhatWasWaitedFor) {
  EventGraph graph;
  const Id a = graph.AddEvent(20, 0, 0);
  const Id b = graph.AddEvent(10, 1, 0);
  const Id c = graph.AddEvent(22, 0, 0);
  graph.AddEdge(c, {1, a, 0, TimeKind::kIdle});
  graph.AddEdge(c, {5, b, 0, TimeKind::kLaunch});
  graph.Finish();
  EXPECT_EQ(graph.EdgesInto(c)[0].weight_ns, 2);  // what is left over is a's
  EXPECT_EQ(graph.EdgesInto(c)[1].weight_ns, 5);  // as usual
  EXPECT_EQ(graph.Times(Unchanged)[c], 22);
}

TEST(EventGraph, AnotherCauseTakesOverWhenTheFirstIsGone) {
  EventGraph graph;
  const Id start = graph.AddEvent(0, 0, 0);
  const Id a = graph.AddEvent(20, 0, 0);
  const Id b = graph.AddEvent(10, 1, 0);
  const Id c = graph.AddEvent(22, 0, 0);
  graph.AddEdge(a, {20, start, 1, TimeKind::kCompute});
  graph.AddEdge(b, {10, start, 2, TimeKind::kCompute});
  graph.AddEdge(c, {2, a, 0, TimeKind::kIdle});
  graph.AddEdge(c, {5, b, 0, TimeKind::kLaunch});
  graph.Finish();
  const auto without_a = [](Id, const Edge& edge) { return edge.name == 1 ? 0 : edge.weight_ns; };
  EXPECT_EQ(graph.Times(without_a)[c], 15);
  const auto no_b = [](Id, const Edge& edge) {
    return edge.kind == TimeKind::kLaunch ? EventGraph::kNever : edge.weight_ns;
  };
  EXPECT_EQ(graph.Times(no_b)[c], 22);
}

TEST(EventGraph, WhoStoodWaitingKeepsWhatIsUsual) {
  EventGraph graph;
  const Id a = graph.AddEvent(0, 0, 0);
  const Id b = graph.AddEvent(50, 0, 0);
  graph.AddEdge(b, {3, a, 0, TimeKind::kIdle});
  EXPECT_EQ(graph.UnexplainedNs()[b], 47);
  graph.Float(b);
  graph.Finish();
  EXPECT_EQ(graph.Times(Unchanged)[b], 3);
}

TEST(EventGraph, AnEdgeThatClosesACircleIsDropped) {
  EventGraph graph;
  const Id a = graph.AddEvent(5, 0, 0);
  const Id b = graph.AddEvent(5, 1, 0);
  graph.AddEdge(a, {0, b, 0, TimeKind::kIdle});
  graph.AddEdge(b, {0, a, 0, TimeKind::kIdle});
  graph.Finish();
  EXPECT_EQ(graph.edges_dropped(), 1);
  EXPECT_EQ(graph.Times(Unchanged), (std::vector<int64_t>{5, 5}));
}

// Longest path by trying every one.
int64_t BruteForce(const EventGraph& graph, Id id, int factor) {
  int64_t latest = EventGraph::kNever;
  for (const Edge& edge : graph.EdgesInto(id)) {
    const int64_t weight_ns =
        edge.kind == TimeKind::kCompute ? edge.weight_ns * factor / 2 : edge.weight_ns;
    latest = std::max(latest, BruteForce(graph, edge.from, factor) + weight_ns);
  }
  return latest == EventGraph::kNever ? graph.event(id).measured_ns : latest;
}

// Edges go from later ids to earlier ones as often as not: the order is the graph's own.
EventGraph RandomGraph(std::mt19937& random, size_t size) {
  EventGraph graph;
  std::vector<Id> ids(size);
  for (Id i = 0; i < size; ++i) ids[i] = i;
  std::shuffle(ids.begin(), ids.end(), random);
  std::vector<int64_t> time_of(size);
  int64_t now = 0;
  for (const Id id : ids) time_of[id] = now += random() % 30;
  for (size_t i = 0; i < size; ++i) graph.AddEvent(time_of[i], random() % 4, 0);
  for (size_t i = 1; i < size; ++i) {
    for (size_t edges = random() % 3; edges > 0; --edges) {
      const Id from = ids[random() % i];
      const auto kind = random() % 2 == 0 ? TimeKind::kCompute : TimeKind::kIdle;
      graph.AddEdge(ids[i], {static_cast<int64_t>(random() % 40), from, 0, kind});
    }
  }
  graph.Finish();
  return graph;
}

TEST(EventGraph, AgreesWithTryingEveryPath) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const EventGraph graph = RandomGraph(random, 3 + random() % 14);
    ASSERT_EQ(graph.edges_dropped(), 0);
    for (const int factor : {0, 1, 2, 4}) {
      const auto weigh = [factor](Id, const Edge& edge) {
        return edge.kind == TimeKind::kCompute ? edge.weight_ns * factor / 2 : edge.weight_ns;
      };
      const std::vector<int64_t> times = graph.Times(weigh);
      for (Id id = 0; id < graph.size(); ++id) {
        ASSERT_EQ(times[id], BruteForce(graph, id, factor));
        if (factor == 2) {
          ASSERT_EQ(times[id], graph.event(id).measured_ns);
        }
      }
    }
  }
}

// Slack is what delays nothing: by so much later everything is in time, by one more it is not.
TEST(EventGraph, SlackIsTheMostThatDelaysNothing) {
  std::mt19937 random(19);
  for (int round = 0; round < 200; ++round) {
    const EventGraph graph = RandomGraph(random, 3 + random() % 14);
    const std::vector<int64_t> times = graph.Times(Unchanged);
    const int64_t end_ns = *std::max_element(times.begin(), times.end());
    const std::vector<int64_t> slack =
        graph.SlackNs(times, std::vector<int64_t>(graph.size(), end_ns), Unchanged);
    for (Id id = 0; id < graph.size(); ++id) {
      ASSERT_GE(slack[id], 0);
      if (graph.EdgesInto(id).empty()) continue;  // happens when it was measured
      for (const int64_t more : {0, 1}) {
        const auto delayed = [&](Id to, const Edge& edge) {
          return edge.weight_ns + (to == id ? slack[id] + more : 0);
        };
        const std::vector<int64_t> later = graph.Times(delayed);
        ASSERT_EQ(*std::max_element(later.begin(), later.end()), end_ns + more);
      }
    }
  }
}

TEST(EventGraph, TheCriticalPathFillsTheTimeOnce) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const EventGraph graph = RandomGraph(random, 3 + random() % 40);
    const std::vector<int64_t> times = graph.Times(Unchanged);
    for (Id last = 0; last < graph.size(); ++last) {
      int64_t now = times[last];
      Id first = last;
      for (const EventGraph::Stretch& stretch : graph.CriticalPath(last, times, Unchanged)) {
        ASSERT_EQ(stretch.end_ns, now);
        ASSERT_LT(stretch.begin_ns, stretch.end_ns);
        now = stretch.begin_ns;
        first = stretch.edge.from;
      }
      ASSERT_LE(now, times[first]);
    }
  }
}

}  // namespace
}  // namespace tutti::analyzer
