#include "collector/live/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti::collector::live {
namespace {

std::vector<std::string> Names(const std::vector<Window::File>& files) {
  std::vector<std::string> names;
  for (const Window::File& file : files) names.push_back(file.name);
  return names;
}

TEST(Window, AFileIsAFourthOfTheStepsOrAnEighthOfTheBytes) {
  const Window window({.steps = 100, .bytes = 800});
  EXPECT_FALSE(window.IsFull(99, 24));
  EXPECT_TRUE(window.IsFull(100, 0));
  EXPECT_TRUE(window.IsFull(0, 25));
  EXPECT_TRUE(Window({.steps = 100, .bytes = uint64_t{1} << 40}).IsFull(8 << 20, 0));
  EXPECT_TRUE(Window({.steps = 2, .bytes = 800}).IsFull(0, 1)) << "a step at least";
}

// The first step that ends in a file may have begun in the one before: one more than asked for.
TEST(Window, KeepsTheFilesThatHoldTheNewestSteps) {
  Window window({.steps = 100, .bytes = 1'000'000});
  window.Ended({.name = "a", .bytes = 10, .steps = 25});
  window.Ended({.name = "b", .bytes = 10, .steps = 25});
  window.Ended({.name = "c", .bytes = 10, .steps = 25});
  window.Ended({.name = "d", .bytes = 10, .steps = 25});
  EXPECT_TRUE(window.Expire(0, 0, 0).empty());
  EXPECT_TRUE(window.Expire(10, 25, 0).empty()) << "b, c, d and the newest end 100 steps";
  EXPECT_THAT(Names(window.Expire(10, 26, 0)), ::testing::ElementsAre("a"));
  EXPECT_EQ(window.files().front().name, "b");
  EXPECT_EQ(window.ended_bytes(), 30U);
}

TEST(Window, BytesAreTheLimitWhereStepsAreLongOrUnknown) {
  Window window({.steps = 100, .bytes = 100});
  for (const char* name : {"a", "b", "c"}) window.Ended({.name = name, .bytes = 30});
  EXPECT_TRUE(window.Expire(10, 0, 0).empty());
  EXPECT_THAT(Names(window.Expire(50, 0, 0)), ::testing::ElementsAre("a", "b"));
  EXPECT_TRUE(window.Expire(70, 0, 0).empty());
}

TEST(Window, KeepsWhatIsRecentAsFarAsItFits) {
  Window window({.steps = 10, .bytes = 100});
  window.Ended({.name = "a", .bytes = 30, .steps = 50, .ended_ns = 1'000});
  window.Ended({.name = "b", .bytes = 30, .steps = 50, .ended_ns = 2'000});
  EXPECT_TRUE(window.Expire(10, 50, 999).empty());
  EXPECT_THAT(Names(window.Expire(10, 50, 1'000)), ::testing::ElementsAre("a"));
  EXPECT_THAT(Names(window.Expire(90, 0, 0)), ::testing::ElementsAre("b"));
}

TEST(Window, ItsFilesStayBelowALimitOnFiles) {
  EXPECT_EQ(FittingBytes(256, UINT64_MAX / 16), 256U);
  EXPECT_EQ(FittingBytes(1 << 20, 1000), 4000U);
  EXPECT_TRUE(Window({.steps = 10, .bytes = 4000}).IsFull(500, 0));
}

TEST(Window, GivesUpTheOldestOnAFullDisk) {
  Window window({.steps = 100, .bytes = 100});
  EXPECT_FALSE(window.DropOldest().has_value());
  window.Ended({.name = "a", .bytes = 30, .steps = 5});
  EXPECT_EQ(window.DropOldest()->name, "a");
  EXPECT_TRUE(window.files().empty());
}

}  // namespace
}  // namespace tutti::collector::live
