#include "analyzer/replay/excess_work.h"

#include <gtest/gtest.h>

#include <optional>

namespace tutti::analyzer {
namespace {

// One step. Each rank computes names 1, 2, ... one after the other, for so long.
struct Job {
  EventGraph graph;
  ExcessWork::Factors factors;

  explicit Job(const std::vector<std::vector<int64_t>>& work_ns, std::vector<bool> is_chosen) {
    for (uint32_t rank = 0; rank < work_ns.size(); ++rank) {
      int64_t now_ns = 0;
      EventGraph::Id last = graph.AddEvent(now_ns, rank, 0);
      for (uint32_t name = 1; name <= work_ns[rank].size(); ++name) {
        now_ns += work_ns[rank][name - 1];
        const EventGraph::Id next = graph.AddEvent(now_ns, rank, 0);
        graph.AddEdge(next, {work_ns[rank][name - 1], last, name, TimeKind::kCompute});
        last = next;
      }
    }
    graph.Finish();
    work_.emplace(graph, work_ns.size(), 1);
    factors = work_->Without(is_chosen);
  }
  double Factor(uint32_t rank, uint32_t name) const {
    const auto found = factors.find(work_->KeyOf(rank, 0, TimeKind::kCompute, name));
    return found == factors.end() ? 1 : found->second;
  }

 private:
  std::optional<ExcessWork> work_;
};

TEST(ExcessWork, IsCutWhereItIs) {
  const Job job({{10, 20}, {70, 20}}, {true, true});
  EXPECT_DOUBLE_EQ(job.Factor(1, 1), 10.0 / 70);
  EXPECT_EQ(job.Factor(1, 2), 1);
  EXPECT_EQ(job.Factor(0, 1), 1);
}

TEST(ExcessWork, WhatOtherNamesMakeUpForIsNotCut) {
  // 60 more in one name, 20 less in the other: 40 in all.
  const Job job({{10, 40}, {70, 20}}, {true, true});
  EXPECT_DOUBLE_EQ(job.Factor(1, 1), 30.0 / 70);
  EXPECT_EQ(job.Factor(0, 2), 1);  // rank 0 is below the other in all
}

TEST(ExcessWork, IsAboveTheMedianOfTheOthers) {
  const Job job({{10}, {30}, {20}, {90}}, {true, true, true, true});
  EXPECT_EQ(job.Factor(0, 1), 1);
  EXPECT_DOUBLE_EQ(job.Factor(1, 1), 20.0 / 30);  // of 10, 20, 90
  EXPECT_EQ(job.Factor(2, 1), 1);                 // of 10, 30, 90
  EXPECT_DOUBLE_EQ(job.Factor(3, 1), 20.0 / 90);  // of 10, 20, 30
}

TEST(ExcessWork, OfRanksThatAreNotChosenIsLeft) {
  EXPECT_TRUE(Job({{10}, {30}}, {true, false}).factors.empty());
  EXPECT_TRUE(Job({{10}}, {true}).factors.empty());
}

}  // namespace
}  // namespace tutti::analyzer
