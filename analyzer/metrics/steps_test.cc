#include "analyzer/metrics/steps.h"

#include <gtest/gtest.h>

#include <random>

namespace tutti::analyzer {
namespace {

HostStep Step(int64_t number, int64_t begin, int64_t end, bool partial = false) {
  return {number, {begin, end}, partial};
}

// ns        0         10        20        30        40
// host      [step 0.......)[step 1.......)   [2...)
// work           [===========)
//                               [============)
// windows   [0               |1              |2    )
TEST(BuildWindows, WorkLaunchedInAStepBelongsToItAfterTheHostLeft) {
  const HostStep steps[] = {Step(0, 0, 14), Step(1, 15, 29), Step(2, 32, 37)};
  const LaunchedWork work[] = {{5, 17}, {20, 33}};
  const std::vector<StepWindow> windows = BuildWindows(steps, work);
  EXPECT_EQ(windows[0].window, (Interval{0, 17}));
  EXPECT_EQ(windows[1].window, (Interval{17, 33}));
  EXPECT_EQ(windows[2].window, (Interval{33, 37}));
  EXPECT_EQ(windows[0].between_steps_ns, std::nullopt);
  EXPECT_EQ(windows[1].between_steps_ns, 0);
}

TEST(BuildWindows, TimeBetweenStepsIsToldApart) {
  const HostStep steps[] = {Step(0, 0, 30), Step(1, 32, 62)};
  const std::vector<StepWindow> windows = BuildWindows(steps, {});
  EXPECT_EQ(windows[1].between_steps_ns, 2);
  EXPECT_EQ(windows[1].window.length_ns(), 30);
}

TEST(BuildWindows, WindowsAndGapsFillTheTimeFromFirstToLast) {
  std::mt19937 random(31);
  for (int round = 0; round < 1000; ++round) {
    std::vector<HostStep> steps;
    std::vector<LaunchedWork> work;
    int64_t t = 0;
    for (int64_t i = 0; i < 8; ++i) {
      const int64_t begin = t + static_cast<int64_t>(random() % 4);
      t = begin + static_cast<int64_t>(random() % 20);
      steps.push_back(Step(i, begin, t));
      for (int64_t launch = begin; launch < t; launch += 1 + static_cast<int64_t>(random() % 9)) {
        work.push_back({launch, launch + static_cast<int64_t>(random() % 30)});
      }
    }
    const std::vector<StepWindow> windows = BuildWindows(steps, work);
    int64_t sum = 0;
    for (const StepWindow& window : windows) {
      ASSERT_GE(window.window.length_ns(), 0);
      ASSERT_GE(window.between_steps_ns.value_or(0), 0);
      sum += window.window.length_ns() + window.between_steps_ns.value_or(0);
    }
    ASSERT_EQ(sum, windows.back().window.end_ns - windows.front().window.begin_ns);
  }
}

// ns       0    10   20   30   40   50   60
// steps    [0   )[1  )         [2   )[3   )
// gap                  [=====)
TEST(ForgetGaps, WhatNobodySawIsNoTimeBetweenSteps) {
  const HostStep steps[] = {
      {0, {0, 10}, false}, {1, {11, 20}, false}, {2, {40, 50}, false}, {3, {52, 60}, false}};
  const Interval gaps[] = {{23, 35}};
  std::vector<StepWindow> windows = BuildWindows(steps, {});
  ForgetGaps(gaps, windows);
  EXPECT_EQ(windows[1].between_steps_ns, 1);
  EXPECT_EQ(windows[2].between_steps_ns, std::nullopt);
  EXPECT_EQ(windows[3].between_steps_ns, 2);
}

TEST(CutAtGaps, LeavesWhatFollowsTheGap) {
  const Interval gaps[] = {{5, 8}, {20, 30}};
  std::vector<HostStep> steps = {{0, {0, 10}, false}, {1, {10, 20}, false}, {2, {20, 40}, false}};
  CutAtGaps(gaps, steps);
  EXPECT_EQ(steps[0].host, (Interval{8, 10}));
  EXPECT_TRUE(steps[0].is_partial);
  EXPECT_EQ(steps[1].host, (Interval{10, 20}));
  EXPECT_FALSE(steps[1].is_partial);
  EXPECT_EQ(steps[2].host, (Interval{30, 40}));
}

TEST(StepsAroundGaps, AreThePiecesOfTheTrace) {
  const Interval gaps[] = {{10, 20}, {30, 35}};
  const std::vector<HostStep> steps = StepsAroundGaps(gaps, {0, 35});
  ASSERT_EQ(steps.size(), 2);
  EXPECT_EQ(steps[0].host, (Interval{0, 10}));
  EXPECT_EQ(steps[1].host, (Interval{20, 30}));
  EXPECT_EQ(steps[1].number, 1);
  EXPECT_EQ(StepsAroundGaps({}, {0, 35}).size(), 1);
}

TEST(StepsFromOptimizer, EachRunAfterABackwardEndsAStep) {
  // Two optimizers end each of two steps; nothing ends what follows.
  const OptimizerRun optimizer[] = {{{20, 22}}, {{23, 25}}, {{40, 42}}, {{43, 45}}};
  const BackwardBegin backward[] = {{10}, {15}, {30}, {35}, {47}};
  const std::vector<HostStep> steps = StepsFromOptimizer(optimizer, backward, 0).steps;
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].host, (Interval{0, 25}));
  EXPECT_TRUE(steps[0].is_partial);
  EXPECT_EQ(steps[1].host, (Interval{25, 45}));
  EXPECT_FALSE(steps[1].is_partial);
}

// Forward and backward run in the closure that the optimizer is given; another wraps it.
TEST(StepsFromOptimizer, AClosuresBackwardIsThatOfItsRun) {
  const OptimizerRun optimizer[] = {{{5, 20}}, {{16, 18}}, {{25, 40}}, {{36, 38}}, {{45, 60}}};
  const BackwardBegin backward[] = {{10}, {11}, {30}, {31}, {50}, {51}};
  const OptimizerSteps found = StepsFromOptimizer(optimizer, backward, 0);
  EXPECT_EQ(found.runs_per_step, 1u);
  ASSERT_EQ(found.steps.size(), 3u);
  EXPECT_EQ(found.steps[1].host, (Interval{20, 40}));
}

TEST(StepsFromOptimizer, WithoutBackwardFunctionsEveryRunEndsAStep) {
  const OptimizerRun optimizer[] = {{{20, 22}}, {{40, 42}}};
  EXPECT_EQ(StepsFromOptimizer(optimizer, {}, 0).steps.size(), 2u);
  EXPECT_TRUE(StepsFromOptimizer({}, {}, 0).steps.empty());
}

// Each turn: a backward function of its own network at 0, the optimizer at [8, 10).
struct Turn {
  int64_t length;
  int64_t backward_name;
};
OptimizerSteps StepsOfTurns(std::span<const Turn> turns) {
  std::vector<OptimizerRun> optimizer;
  std::vector<BackwardBegin> backward;
  int64_t t = 0;
  for (const Turn& turn : turns) {
    backward.push_back({t, turn.backward_name});
    optimizer.push_back({{t + 8, t + 10}});
    t += turn.length;
  }
  return StepsFromOptimizer(optimizer, backward, 0);
}

TEST(StepsFromOptimizer, CriticAndGeneratorInTurnMakeOneStep) {
  std::vector<Turn> turns;
  for (int64_t step = 0; step < 5; ++step) {
    for (const int64_t network : {1, 1, 1, 2}) turns.push_back({10, network});
  }
  const OptimizerSteps found = StepsOfTurns(turns);
  EXPECT_EQ(found.runs_per_step, 4u);
  ASSERT_EQ(found.steps.size(), 5u);
  EXPECT_EQ(found.steps[1].host, (Interval{40, 80}));
}

TEST(StepsFromOptimizer, TwoAlikeNetworksAreToldByTheirTurns) {
  std::vector<Turn> turns;
  for (int64_t step = 0; step < 6; ++step) {
    turns.push_back({10 + step % 3, 1});
    turns.push_back({25, 1});
  }
  const OptimizerSteps found = StepsOfTurns(turns);
  EXPECT_EQ(found.runs_per_step, 2u);
  EXPECT_EQ(found.steps.size(), 6u);
}

TEST(StepsFromOptimizer, ARareExtraOrNoiseMakesNoLongerStep) {
  std::vector<Turn> turns;
  for (int64_t step = 0; step < 60; ++step) {
    turns.push_back({step % 5 == 0 ? 40 : 20, step % 20 == 19 ? 2 : 1});
  }
  EXPECT_EQ(StepsOfTurns(turns).steps.size(), 60u);
  std::mt19937 random(7);
  for (Turn& turn : turns) turn = {10 + static_cast<int64_t>(random() % 30), 1};
  EXPECT_EQ(StepsOfTurns(turns).steps.size(), 60u);
}

TEST(FindPeriod, FindsTheShortestAfterAnIrregularStart) {
  const int64_t symbols[] = {9, 8, 9, 1, 2, 2, 1, 2, 2, 1, 2, 2, 1, 2, 2};
  const std::optional<Period> period = FindPeriod(symbols);
  ASSERT_TRUE(period);
  EXPECT_EQ(period->period, 3u);
  EXPECT_EQ(period->first, 3u);
}

TEST(FindPeriod, NothingRepeatsInADistinctOrShortSeries) {
  const int64_t distinct[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_FALSE(FindPeriod(distinct));
  const int64_t twice[] = {1, 2, 1, 2};
  EXPECT_FALSE(FindPeriod(twice));
  EXPECT_FALSE(FindPeriod({}));
}

// Bucket 1, bucket 2, pause; and a broadcast at the start.
TEST(StepsFromCollectives, CutsAtTheLongestPause) {
  std::vector<int64_t> symbols = {7};
  std::vector<Interval> intervals = {{0, 5}};
  for (int64_t step = 0; step < 6; ++step) {
    const int64_t begin = 100 + step * 100;
    symbols.insert(symbols.end(), {1, 2});
    intervals.insert(intervals.end(), {{begin, begin + 10}, {begin + 12, begin + 20}});
  }
  const std::vector<HostStep> steps = StepsFromCollectives(symbols, intervals, 0);
  ASSERT_EQ(steps.size(), 6u);
  EXPECT_EQ(steps[0].host, (Interval{0, 120}));
  EXPECT_EQ(steps[1].host, (Interval{120, 220}));
  EXPECT_TRUE(steps[0].is_partial);
  EXPECT_FALSE(steps[5].is_partial);
}

TEST(NumberSteps, KeepsEpochsApartAndFillsHoles) {
  const int64_t rank0[] = {0, 1, 2, 0, 1, 2};
  const int64_t rank1[] = {1, 2, 0, 1, 2, 3};
  const std::vector<StepKey> keys[] = {KeysOf(rank0), KeysOf(rank1)};
  EXPECT_EQ(keys[0][3], (StepKey{0, 1}));
  const std::map<StepKey, int64_t> index = NumberSteps(keys);
  EXPECT_EQ(index.size(), 7u);
  EXPECT_EQ(index.at({0, 0}), 0);
  EXPECT_EQ(index.at({2, 1}), 5);
  EXPECT_EQ(index.at({3, 0}), 6);
}

TEST(StepMarkerOf, RepeatsWithoutNestingAndCoversTheTrace) {
  const Interval capture{0, 4'000};
  const Interval iterations[] = {{0, 900}, {1'000, 1'950}, {2'000, 3'000}, {3'000, 3'990}};
  const auto marker = StepMarkerOf("train_iter", iterations, capture);
  ASSERT_TRUE(marker.has_value());
  EXPECT_EQ(marker->count, 4);
  EXPECT_EQ(marker->median_ns, 950);
  const Interval nested[] = {{0, 4'000}, {10, 20}, {30, 40}};
  EXPECT_FALSE(StepMarkerOf("nested", nested, capture).has_value());
  const Interval rare[] = {{0, 2'000}, {2'000, 4'000}};
  EXPECT_FALSE(StepMarkerOf("rare", rare, capture).has_value());
  const Interval short_ones[] = {{0, 10}, {1'000, 1'010}, {2'000, 2'010}};
  EXPECT_FALSE(StepMarkerOf("short", short_ones, capture).has_value());
}

}  // namespace
}  // namespace tutti::analyzer
