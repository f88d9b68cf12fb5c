#include "collector/drain/capture_control.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "collector/testing/spool_builder.h"
#include "common/wire/wire.h"

namespace tutti::collector::drain {
namespace {

constexpr uint32_t kFull = wire::kCaptureTorch | wire::kCaptureNvtx | wire::kCaptureCupti;

TEST(CaptureWish, IsReadAsItIsWritten) {
  for (const char* text : {"start", "stop", "steps 40:60", "steps -1:1"}) {
    const auto wish = ParseWish(text);
    ASSERT_TRUE(wish.has_value()) << text;
    EXPECT_EQ(ToText(*wish), text);
  }
  for (const char* text :
       {"", "Stop", "steps", "steps 4", "steps 4:", "steps 6:4", "steps 4:4", "steps 4:6x"}) {
    EXPECT_FALSE(ParseWish(text).has_value()) << text;
  }
}

TEST(CaptureWish, StartAndStop) {
  EXPECT_EQ(MaskFor(*ParseWish("start"), kFull, 3), kFull);
  EXPECT_EQ(MaskFor(*ParseWish("stop"), kFull, 3), 0U);
}

TEST(CaptureWish, AWindowOfStepsWithOneBefore) {
  const CaptureWish wish = *ParseWish("steps 40:60");
  const auto mask = [&](std::optional<int64_t> step) { return MaskFor(wish, kFull, step); };
  EXPECT_EQ(mask(std::nullopt), wire::kCaptureNvtx) << "ranges, so that the steps are seen";
  EXPECT_EQ(mask(38), wire::kCaptureNvtx);
  EXPECT_EQ(mask(39), kFull);
  EXPECT_EQ(mask(40), kFull);
  EXPECT_EQ(mask(59), kFull);
  EXPECT_EQ(mask(60), wire::kCaptureNvtx);
}

class CaptureControlTest : public ::testing::Test {
 protected:
  void Ask(const std::string& text) { std::ofstream(directory_.path() + "/control") << text; }
  bool IsAsked() const { return std::ifstream(directory_.path() + "/control").good(); }

  testing::TemporaryDirectory directory_;
};

TEST_F(CaptureControlTest, TakesAWishOnceAndPutsItAway) {
  CaptureControl control(directory_.path());
  EXPECT_FALSE(control.Look());
  Ask("stop");
  EXPECT_TRUE(control.Look());
  EXPECT_EQ(ToText(control.wish()), "stop");
  EXPECT_FALSE(IsAsked());
  EXPECT_FALSE(control.Look());
}

TEST_F(CaptureControlTest, WhatIsNoWishChangesNothing) {
  CaptureControl control(directory_.path());
  Ask("rm -rf");
  EXPECT_FALSE(control.Look());
  EXPECT_EQ(ToText(control.wish()), "start");
  EXPECT_FALSE(IsAsked());
}

TEST_F(CaptureControlTest, ASuccessorGoesOnAsItsPredecessorWasTold) {
  Ask("steps 5:9");
  EXPECT_TRUE(CaptureControl(directory_.path()).Look());
  const CaptureControl successor(directory_.path());
  EXPECT_EQ(ToText(successor.wish()), "steps 5:9");
  EXPECT_TRUE(successor.watches_steps());
}

}  // namespace
}  // namespace tutti::collector::drain
