#include "analyzer/replay/scenario.h"

#include <gtest/gtest.h>

namespace tutti::analyzer {
namespace {

double FactorOf(const Scenario& scenario, TimeKind kind) {
  return scenario.factor_of_kind[static_cast<size_t>(kind)];
}

TEST(Scenario, WordsChangeTogether) {
  const Result<Scenario> scenario =
      Scenario::Parse({"no-input-wait", "bandwidth=4", "op=aten::mm:0.5", "rank-at-median=3"});
  ASSERT_TRUE(scenario.ok());
  EXPECT_EQ(scenario->text, "no-input-wait bandwidth=4 op=aten::mm:0.5 rank-at-median=3");
  EXPECT_EQ(FactorOf(*scenario, TimeKind::kInput), 0);
  EXPECT_EQ(FactorOf(*scenario, TimeKind::kTransfer), 0.25);
  EXPECT_EQ(FactorOf(*scenario, TimeKind::kCompute), 1);
  ASSERT_EQ(scenario->factor_of_pattern.size(), 1u);
  EXPECT_EQ(scenario->factor_of_pattern[0].first, "aten::mm");
  EXPECT_EQ(scenario->ranks_at_median, (std::vector<int64_t>{3}));
}

TEST(Scenario, WhatIsNotKnownIsSaid) {
  for (const char* word : {"fast", "bandwidth=0", "bandwidth=x", "launch=-1", "op=0.5", "op=:1",
                           "rank-at-median=", "balanced=1,", "host=1e9", "bucket-mb=0", ""}) {
    const Result<Scenario> scenario = Scenario::Parse({word});
    ASSERT_FALSE(scenario.ok()) << word;
    EXPECT_NE(scenario.status().message().find("no-stragglers"), std::string::npos);
  }
}

// Two ranks, one step: compute of 10 and 30 ns.
struct TwoRanks {
  EventGraph graph;
  EventGraph::Id ends[2];
  std::vector<int64_t> ranks = {4, 9};
  std::vector<std::string> names = {"", "mm"};

  TwoRanks() {
    for (uint32_t rank = 0; rank < 2; ++rank) {
      const EventGraph::Id begin = graph.AddEvent(0, rank, 0);
      ends[rank] = graph.AddEvent(10 + 20 * rank, rank, 0);
      graph.AddEdge(ends[rank], {10 + 20 * rank, begin, 1, TimeKind::kCompute});
    }
    graph.Finish();
  }
  std::vector<int64_t> Ends(const std::vector<std::string>& words) const {
    const Scenario scenario = *Scenario::Parse(words);
    const ExcessWork excess(graph, ranks.size(), 1);
    const ScenarioWeights weights(graph, scenario, ranks, names, excess);
    const std::vector<int64_t> times = graph.Times(weights);
    return {times[ends[0]], times[ends[1]]};
  }
};

TEST(ScenarioWeights, ARankAtTheMedianTakesNoLongerThanTheOthers) {
  const TwoRanks job;
  EXPECT_EQ(job.Ends({"rank-at-median=9"}), (std::vector<int64_t>{10, 10}));
  EXPECT_EQ(job.Ends({"rank-at-median=4"}), (std::vector<int64_t>{10, 30}));
  EXPECT_EQ(job.Ends({"no-stragglers"}), (std::vector<int64_t>{10, 10}));
}

TEST(ScenarioWeights, NamesAreScaledByPattern) {
  const TwoRanks job;
  EXPECT_EQ(job.Ends({"op=m*:0.5"}), (std::vector<int64_t>{5, 15}));
  EXPECT_EQ(job.Ends({"op=addmm:0.5"}), (std::vector<int64_t>{10, 30}));
}

TEST(ScenarioWeights, BalancedIsTheMeanOverRanks) {
  const TwoRanks job;
  EXPECT_EQ(job.Ends({"balanced"}), (std::vector<int64_t>{20, 20}));
  EXPECT_EQ(job.Ends({"balanced=9"}), (std::vector<int64_t>{10, 20}));
}

}  // namespace
}  // namespace tutti::analyzer
