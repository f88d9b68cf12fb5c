#include "tracer/core/process_info.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

namespace tutti::tracer {
namespace {

TEST(ParseStartTicks, SkipsACommandWithParenthesesAndSpaces) {
  EXPECT_EQ(ParseStartTicks("12 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20"),
            987654u);
  EXPECT_EQ(ParseStartTicks(""), 0u);
  EXPECT_EQ(ParseStartTicks("12 (cut short) S 1 2"), 0u);
}

TEST(StartTicks, TheMainThreadStartedWithItsProcess) {
  EXPECT_GT(ProcessStartTicks(), 0u);
  EXPECT_EQ(ThreadStartTicks(getpid()), ProcessStartTicks());
}

TEST(StartTicks, AnotherThreadStartedLaterOrAtOnce) {
  std::thread([] {
    EXPECT_NE(ThreadId(), getpid());
    EXPECT_GE(ThreadStartTicks(ThreadId()), ProcessStartTicks());
  }).join();
}

TEST(StartTicks, NoSuchThread) { EXPECT_EQ(ThreadStartTicks(-5), 0u); }

}  // namespace
}  // namespace tutti::tracer
