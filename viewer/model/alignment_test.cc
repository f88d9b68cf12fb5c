#include "viewer/model/alignment.h"

#include <gtest/gtest.h>

#include <random>

namespace tutti::viewer {
namespace {

std::vector<schema::RunStepRow> Steps(int64_t first_number, int64_t begin_ns,
                                      const std::vector<int64_t>& lengths) {
  std::vector<schema::RunStepRow> steps;
  for (const int64_t length : lengths) {
    schema::RunStepRow step;
    step.step = static_cast<int64_t>(steps.size());
    step.number = first_number + step.step;
    step.begin_ns = begin_ns;
    step.end_ns = begin_ns += length;
    steps.push_back(step);
  }
  return steps;
}

// A  [10     )[11            )[12    )      axis: 100 110 125 135
// B  [10         )[11   )[12    )
TEST(AlignSteps, BothBeginEachStepTogether) {
  const auto a = Steps(10, 100, {6, 15, 8});
  const auto b = Steps(10, 1000, {10, 5, 10});
  const Alignment alignment = AlignSteps(a, 100, b, 1000);
  ASSERT_EQ(alignment.steps.size(), 3U);
  EXPECT_EQ(alignment.steps[1].begin_ns, 110);
  EXPECT_EQ(alignment.steps[2].begin_ns, 125);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(alignment.times_a(a[i].begin_ns), alignment.steps[i].begin_ns);
    EXPECT_EQ(alignment.times_b(b[i].begin_ns), alignment.steps[i].begin_ns);
  }
  EXPECT_EQ(alignment.times_a(105), 105);
  EXPECT_EQ(alignment.times_b(1012), 112);
}

TEST(AlignSteps, WhatComesBeforeTheFirstStepEndsWithIt) {
  const auto a = Steps(0, 120, {10});
  const auto b = Steps(0, 1005, {10});
  const Alignment alignment = AlignSteps(a, 100, b, 1000);
  EXPECT_EQ(alignment.steps[0].begin_ns, 120);
  EXPECT_EQ(alignment.times_b(1000), 115);
}

TEST(AlignSteps, MatchesByNumberAndKeepsTheRest) {
  const Alignment alignment = AlignSteps(Steps(1, 0, {5, 5, 5}), 0, Steps(2, 0, {7, 7, 7}), 0);
  ASSERT_EQ(alignment.steps.size(), 4U);  // 1, 2, 3, 4
  EXPECT_FALSE(alignment.steps[0].b.has_value());
  EXPECT_EQ(alignment.steps[1].a, 1U);
  EXPECT_EQ(alignment.steps[1].b, 0U);
  EXPECT_FALSE(alignment.steps[3].a.has_value());
}

TEST(AlignSteps, NothingInCommonIsMatchedInOrder) {
  const Alignment alignment = AlignSteps(Steps(0, 0, {5, 5}), 0, Steps(100, 50, {7, 7, 7}), 50);
  ASSERT_EQ(alignment.steps.size(), 3U);
  EXPECT_EQ(alignment.steps[1].b, 1U);
  EXPECT_FALSE(alignment.steps[2].a.has_value());
}

TEST(AlignSteps, WithoutStepsBothRunsBeginTogether) {
  const Alignment alignment = AlignSteps({}, 100, Steps(0, 5010, {7}), 5000);
  EXPECT_EQ(alignment.times_b(5000), 100);
  EXPECT_EQ(alignment.times_a(123), 123);
  EXPECT_EQ(alignment.steps[0].begin_ns, 110);
}

// Order is kept, and what lies inside of one step keeps its length.
TEST(AlignSteps, NeverTurnsTimeBack) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const auto lengths = [&] {
      std::vector<int64_t> all(random() % 12);
      for (int64_t& length : all) length = random() % 20;
      return all;
    };
    const auto a = Steps(random() % 4, 100, lengths());
    const auto b = Steps(random() % 4, 5, lengths());
    const Alignment alignment = AlignSteps(a, 90, b, 0);
    for (int64_t t = 0; t < 400; ++t) {
      ASSERT_LT(alignment.times_a(t), alignment.times_a(t + 1));
      ASSERT_LT(alignment.times_b(t), alignment.times_b(t + 1));
    }
    for (const AlignedStep& step : alignment.steps) {
      if (!step.a || !step.b || a[*step.a].end_ns == a[*step.a].begin_ns ||
          b[*step.b].end_ns == b[*step.b].begin_ns) {
        continue;
      }
      ASSERT_EQ(alignment.times_a(a[*step.a].begin_ns), step.begin_ns);
      ASSERT_EQ(alignment.times_b(b[*step.b].begin_ns), step.begin_ns);
    }
  }
}

}  // namespace
}  // namespace tutti::viewer
