#include "analyzer/compare/explanation.h"

#include <gtest/gtest.h>

#include <numeric>

#include "analyzer/compare/testing/launches.h"

namespace tutti::analyzer::compare {
namespace {

// One launch of one step a side, two ranks.  ns       base          new
//   compute of ranks 0 and 1                       60 + 40       70 + 51
//   exposed transfer                               30 + 30       30 + 30
//   between steps                                   5 +  5        5 +  5
//   period of the job                                 101           115
Launch OneStep(int64_t compute_sum_ns, int64_t period_ns) {
  Launch launch;
  launch.name = "run";
  StepRecord step;
  step.ranks = 2;
  step.period_ns = step.length_ns = period_ns;
  step.part_ns[0] = compute_sum_ns;
  step.part_ns[kTransferPart] = 60;
  step.between_ns = 10;
  launch.steps.push_back(step);
  return launch;
}

TEST(Explain, AddsUpToTheDifference) {
  const std::vector<Launch> base = {OneStep(100, 101)};
  const std::vector<Launch> fresh = {OneStep(121, 115)};
  const Explanation explanation = *Explain(base, fresh, 0);
  EXPECT_EQ(explanation.base_ns, 101);
  EXPECT_EQ(explanation.new_ns, 115);
  ASSERT_EQ(explanation.parts.size(), 4u);
  EXPECT_EQ(explanation.parts[0].part, "compute");
  EXPECT_EQ(explanation.parts[0].base_ns, 50);
  // 60.5 and 19.5: the first of equal remainders is rounded up, the other down.
  EXPECT_EQ(explanation.parts[0].new_ns, 61);
  EXPECT_EQ(explanation.parts[1].change_ns(), 0);
  EXPECT_EQ(explanation.parts[3].part, "ranks_apart");
  EXPECT_EQ(explanation.parts[3].base_ns, 101 - 50 - 30 - 5);
  EXPECT_EQ(explanation.parts[3].new_ns, 19);
  EXPECT_EQ(ExplainInWords(explanation), "compute +11 ns, ranks apart +3 ns");
}

// Random launches of odd sizes: sums of whole nanoseconds, whatever the means are.
TEST(Explain, AddsUpForAnyNumberOfStepsAndLaunches) {
  Random random(17);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Launch> arms[2];
    for (auto& arm : arms) {
      const size_t launches = 1 + random.Below(4);
      for (size_t i = 0; i < launches; ++i) {
        testing::StepOf parts{.step_ms = 100 + random.Uniform()};
        parts.transfer_ms = 10 * random.Uniform();
        arm.push_back(testing::MakeLaunch("x", parts, random.Bits() >> 40,
                                          3 + static_cast<int>(random.Below(5))));
        arm.back().steps.back().ranks = 3;  // a third rank whose parts are all zero
      }
    }
    const Explanation explanation = *Explain(arms[0], arms[1], 1);
    int64_t base_ns = 0;
    int64_t change_ns = 0;
    for (const PartChange& part : explanation.parts) {
      base_ns += part.base_ns;
      change_ns += part.change_ns();
    }
    ASSERT_EQ(base_ns, explanation.base_ns);
    ASSERT_EQ(change_ns, explanation.change_ns());
    ASSERT_NEAR(static_cast<double>(explanation.base_ns), 100.5e6, 3e6);
  }
}

TEST(Explain, NeedsABreakdown) {
  Launch bare = OneStep(100, 101);
  bare.steps[0].ranks = 0;
  const std::vector<Launch> launches = {bare};
  EXPECT_FALSE(Explain(launches, launches, 0).has_value());
}

TEST(ExplainInWords, StopsWhereMostIsTold) {
  Explanation explanation;
  explanation.parts = {{"compute", 0, 9'000'000}, {"idle", 0, 500'000}, {"sync", 0, 400'000}};
  EXPECT_EQ(ExplainInWords(explanation), "compute +9.00 ms");
  explanation.parts = {{"compute", 5, 5}};
  EXPECT_EQ(ExplainInWords(explanation), "");
}

}  // namespace
}  // namespace tutti::analyzer::compare
