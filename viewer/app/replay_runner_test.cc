#include "viewer/app/replay_runner.h"

#include <gtest/gtest.h>

#include "viewer/testing/scripted_replay.h"

namespace tutti::viewer {
namespace {

using testing::ScriptedReplay;
using Phase = ReplayRunner::Phase;

TEST(ReplayRunner, WithoutAnOpenerThereIsNone) {
  ReplayRunner runner({});
  runner.Open();
  runner.Ask({"no-copies"});
  runner.WaitUntilIdle();
  EXPECT_EQ(runner.phase(), Phase::kNone);
  EXPECT_EQ(runner.facts(), nullptr);
}

TEST(ReplayRunner, AnswersWhatIsUsuallyAskedMostSavedFirst) {
  ReplayRunner runner(ScriptedReplay::Opener());
  EXPECT_EQ(runner.phase(), Phase::kClosed);
  runner.Open();
  runner.WaitUntilIdle();
  ASSERT_EQ(runner.phase(), Phase::kReady);
  EXPECT_EQ(runner.facts()->unchanged_ns, 200);
  ASSERT_EQ(runner.usual().size(), 2U);
  EXPECT_EQ(runner.usual()[0].scenario, "no-stragglers");
  EXPECT_EQ(runner.usual()[0].saved_ns, 50);
}

TEST(ReplayRunner, TheNewestQuestionIsTheOneThatIsAnswered) {
  ReplayRunner runner(ScriptedReplay::Opener());
  runner.Open();
  runner.WaitUntilIdle();
  const size_t before = runner.version();
  for (int i = 0; i < 100; ++i) runner.Ask({"no-copies"});
  runner.Ask({"no-stragglers"});
  runner.WaitUntilIdle();
  EXPECT_GT(runner.version(), before);
  EXPECT_EQ((*runner.answer())->step_ns, 150);
  runner.Ask({"nonsense"});
  runner.WaitUntilIdle();
  EXPECT_EQ(runner.answer()->status().code(), StatusCode::kUsage);
}

TEST(ReplayRunner, WhatCannotBeOpenedSaysWhy) {
  ReplayRunner runner(
      []() -> Result<std::unique_ptr<Replay>> { return BadDataError("nothing to replay"); });
  runner.Open();
  runner.WaitUntilIdle();
  EXPECT_EQ(runner.phase(), Phase::kFailed);
  EXPECT_EQ(runner.error(), "nothing to replay");
}

TEST(ReplayFacts, SlackIsThatOfTheExactMoment) {
  ReplayFacts facts;
  facts.slacks = {{0, 100, 7}, {0, 200, 0}, {1, 100, 9}};
  EXPECT_EQ(facts.SlackAt(0, 100), 7);
  EXPECT_EQ(facts.SlackAt(1, 100), 9);
  EXPECT_EQ(facts.SlackAt(0, 150), std::nullopt);
  EXPECT_EQ(facts.SlackAt(2, 100), std::nullopt);
}

}  // namespace
}  // namespace tutti::viewer
