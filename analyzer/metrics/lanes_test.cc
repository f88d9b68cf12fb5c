#include "analyzer/metrics/lanes.h"

#include <gtest/gtest.h>

namespace tutti::analyzer {
namespace {

TEST(DecideLanes, TrainingThreadsComputeButWorkersDoNot) {
  const ThreadEvidence threads[] = {
      {.tid = 1, .role = "main", .operators = 10, .training_marks = 3, .data_waits = 3},
      {.tid = 2, .role = "autograd", .operators = 5, .backward_functions = 5},
      {.tid = 3, .role = "gloo", .operators = 2, .collectives_run = 9},
      {.tid = 4, .role = "", .operators = 90, .operator_ns = 999, .data_phases = 3},
      {.tid = 5, .role = "loader", .operators = 90},
      {.tid = 6, .role = "", .operators = 1}};
  const std::vector<LaneDecision> lanes = DecideLanes(threads);
  const LaneRole expected[] = {LaneRole::kCompute, LaneRole::kCompute, LaneRole::kCommunication,
                               LaneRole::kLoader,  LaneRole::kLoader,  LaneRole::kOther};
  for (size_t i = 0; i < lanes.size(); ++i) EXPECT_EQ(lanes[i].role, expected[i]) << i;
}

TEST(DecideLanes, WithoutMarksTheMainThreadThenTheBusiestOneComputes) {
  const ThreadEvidence with_main[] = {{.tid = 1, .role = "", .operators = 9, .operator_ns = 100},
                                      {.tid = 2, .role = "main", .operators = 1, .operator_ns = 1}};
  EXPECT_EQ(DecideLanes(with_main)[1].role, LaneRole::kCompute);
  EXPECT_EQ(DecideLanes(with_main)[0].role, LaneRole::kOther);
  const ThreadEvidence without[] = {{.tid = 1, .role = "", .operators = 9, .operator_ns = 5},
                                    {.tid = 2, .role = "", .operators = 1, .operator_ns = 6},
                                    {.tid = 3, .role = "gloo", .operators = 1, .operator_ns = 60}};
  EXPECT_EQ(DecideLanes(without)[1].role, LaneRole::kCompute);
  EXPECT_TRUE(DecideLanes({}).empty());
}

}  // namespace
}  // namespace tutti::analyzer
