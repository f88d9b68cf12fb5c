#include "viewer/model/stragglers.h"

#include <gtest/gtest.h>

namespace tutti::viewer {
namespace {

// Every rank's step takes 100: what differs is how long it waits for others in it.
RunSummary RunOf(const std::vector<int64_t>& wait_ns) {
  RunSummary run;
  for (int64_t step = 0; step < 3; ++step) run.steps.push_back({.step = step, .is_steady = 1});
  for (size_t slot = 0; slot < wait_ns.size(); ++slot) {
    const auto rank = static_cast<int64_t>(slot);
    run.ranks.push_back({.rank = rank});
    for (int64_t step = 0; step < 3; ++step) {
      run.breakdowns.push_back(
          {.rank = rank, .step = step, .step_ns = 100, .exposed_comm_wait_ns = wait_ns[slot]});
    }
  }
  return run;
}

TEST(FindStragglers, WhoWaitsLeastIsTheSlowest) {
  const auto found = FindStragglers(RunOf({30, 2, 28, 31, 29}));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->slowest, 1U);
  EXPECT_EQ(found->median, 4U);
  EXPECT_EQ(found->fastest, 3U);
}

TEST(FindStragglers, StepsThatDoNotCountDoNotCount) {
  RunSummary run = RunOf({30, 20});
  run.steps[0].is_steady = run.steps[1].is_steady = 0;
  for (schema::StepBreakdownRow& row : run.breakdowns) {
    if (row.rank == 0 && row.step < 2) row.exposed_comm_wait_ns = 0;
  }
  EXPECT_EQ(FindStragglers(run)->slowest, 1U);
}

TEST(FindStragglers, OneRankHasNone) { EXPECT_FALSE(FindStragglers(RunOf({5})).has_value()); }

}  // namespace
}  // namespace tutti::viewer
