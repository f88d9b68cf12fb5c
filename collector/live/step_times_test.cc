#include "collector/live/step_times.h"

#include <gtest/gtest.h>

namespace tutti::collector::live {
namespace {

TEST(StepTimes, TellsNewestMedianAndLongest) {
  StepTimes steps;
  EXPECT_EQ(steps.MedianNs(), 0);
  EXPECT_EQ(steps.LongestNs(), 0);
  steps.Add(7, 100, 110);
  steps.Add(8, 110, 140);
  steps.Add(9, 140, 160);
  EXPECT_EQ(steps.steps(), 3);
  EXPECT_EQ(steps.last_number(), 9);
  EXPECT_EQ(steps.last_ns(), 20);
  EXPECT_EQ(steps.last_end_ns(), 160);
  EXPECT_EQ(steps.MedianNs(), 20);
  EXPECT_EQ(steps.LongestNs(), 30);
}

TEST(StepTimes, ForgetsWhatIsLongAgo) {
  StepTimes steps;
  steps.Add(0, 0, 1'000'000);
  for (int64_t i = 1; i <= 256; ++i) steps.Add(i, i * 10, i * 10 + 5);
  EXPECT_EQ(steps.LongestNs(), 5);
  EXPECT_EQ(steps.steps(), 257);
}

TEST(StepTimes, ASlowStepIsToldOnce) {
  StepTimes steps;
  // The first steps are slow by nature: nothing is known yet that they could be compared with.
  steps.Add(0, 0, 1000);
  for (int64_t i = 1; i < 30; ++i) steps.Add(i, i * 100, i * 100 + 10);
  EXPECT_EQ(steps.slow_steps(), 0);
  steps.Add(30, 3000, 3030);  // three times the median is not more than that
  EXPECT_EQ(steps.slow_steps(), 0);
  steps.Add(31, 3100, 3131);
  EXPECT_EQ(steps.slow_steps(), 1);
  const auto slow = steps.TakeSlow();
  ASSERT_TRUE(slow.has_value());
  EXPECT_EQ(slow->number, 31);
  EXPECT_EQ(slow->ns, 31);
  EXPECT_EQ(slow->median_ns, 10);
  EXPECT_FALSE(steps.TakeSlow().has_value());
}

TEST(StepTimes, WhatIsSlowCanBeChosen) {
  StepTimes steps(1.5);
  for (int64_t i = 0; i < 30; ++i) steps.Add(i, i * 100, i * 100 + 10);
  steps.Add(30, 3000, 3015);
  EXPECT_EQ(steps.slow_steps(), 0);
  steps.Add(31, 3100, 3116);
  EXPECT_EQ(steps.slow_steps(), 1);
}

}  // namespace
}  // namespace tutti::collector::live
