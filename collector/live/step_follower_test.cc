#include "collector/live/step_follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "collector/os/files.h"
#include "collector/testing/spool_builder.h"

namespace tutti::collector::live {
namespace {

using ::testing::HasSubstr;
using testing::SpoolBuilder;
using testing::TemporaryDirectory;

// A step as tracer/annotate.h marks it.
void AddStep(SpoolBuilder& spool, int64_t number, uint64_t begin_ticks, uint64_t end_ticks) {
  wire::RangeRecord range{};
  range.header = testing::Header(wire::RecordKind::kRange, spool.String("step"));
  range.domain = spool.String("tutti");
  range.category = 1;
  range.payload = static_cast<uint64_t>(number);
  range.begin_ticks = begin_ticks;
  range.end_ticks = end_ticks;
  spool.Add(0, range);
}

spool::ProcessChunk ProcessOfRank(int32_t rank) {
  spool::ProcessChunk process = SpoolBuilder::Process();
  process.hello.rank = rank;
  process.clock_kind = wire::ClockKind::kMonotonicRaw;
  std::strncpy(process.host, "node1", sizeof(process.host) - 1);
  return process;
}

// A spool with a step of 10 ms after the other, whose last has just ended.
class StepFollowerTest : public ::testing::Test {
 protected:
  StepFollowerTest() : directory_(*os::OpenDirectory(folder_.path())), process_(ProcessOfRank(5)) {}

  // So that a tick's length is known. Ticks are this machine's, as the tracer would write them.
  uint64_t LookOnce(StepFollower& follower, const SpoolBuilder& spool) {
    follower.Look(0, "p0000.spool", process_, spool.committed(), spool.committed());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return static_cast<uint64_t>(clock::MonotonicRawNs());
  }
  static void AddSteps(SpoolBuilder& spool, int64_t first, int64_t count, uint64_t end) {
    for (int64_t step = 0; step < count; ++step) {
      const uint64_t begin = end - static_cast<uint64_t>(count - step) * 10'000'000;
      AddStep(spool, first + step, begin, begin + 10'000'000);
    }
  }

  TemporaryDirectory folder_;
  os::FileDescriptor directory_;
  spool::ProcessChunk process_;
};

TEST_F(StepFollowerTest, TellsASlowStepOnceAndThenAHangOnce) {
  SpoolBuilder spool(folder_.path(), "p0000.spool", process_);
  StepFollower follower(directory_.get(), {});
  const uint64_t now = LookOnce(follower, spool);
  spool.AddThread(0, testing::kMainTid);
  AddSteps(spool, 0, 30, now - 100'000'000);
  AddStep(spool, 30, now - 100'000'000, now - 50'000'000);
  spool.Flush(now);
  follower.Look(0, "p0000.spool", process_, spool.committed(), 12'345);
  auto alarms = follower.TakeAlarms(10'000);
  ASSERT_EQ(alarms.size(), 1U);
  EXPECT_EQ(alarms[0].kind, Alarm::Kind::kSlowStep);
  EXPECT_EQ(alarms[0].step, 30);
  EXPECT_THAT(alarms[0].text, HasSubstr("rank 5: step 30 took 50.0 ms, the median is 10.0 ms"));
  EXPECT_EQ(follower.ranks().front()->spooled_bytes, 12'345);
  EXPECT_EQ(follower.StepsOf(0)->steps(), 31);
  EXPECT_EQ(follower.StepsOf(1), nullptr);

  // Nothing for longer than a step may take: said once.
  const auto later_ns = static_cast<int64_t>(now) + 20'000'000'000;
  EXPECT_TRUE(follower.TakeAlarms(later_ns).empty());
  alarms = follower.TakeAlarms(later_ns + 15'000'000'000);
  ASSERT_EQ(alarms.size(), 1U);
  EXPECT_EQ(alarms[0].kind, Alarm::Kind::kHang);
  EXPECT_THAT(alarms[0].text,
              HasSubstr("rank 5: no step has ended for 35 s, the last was step 30"));
  EXPECT_TRUE(follower.TakeAlarms(later_ns + 25'000'000'000).empty());

  follower.End(0);
  follower.Look(0, "p0000.spool", process_, spool.committed(), 0);  // adds nothing any more
  EXPECT_TRUE(follower.TakeAlarms(later_ns + 90'000'000'000).empty());
  EXPECT_FALSE(follower.ranks().front()->running);
  EXPECT_EQ(follower.StepsOf(0)->steps(), 31);
}

TEST_F(StepFollowerTest, AsksForWhatTheUserCallsSlowAndHanging) {
  SpoolBuilder spool(folder_.path(), "p0000.spool", process_);
  StepFollower follower(directory_.get(), {.slow_factor = 6, .hang_ns = 1'000'000'000});
  const uint64_t now = LookOnce(follower, spool);
  spool.AddThread(0, testing::kMainTid);
  AddSteps(spool, 0, 30, now - 100'000'000);
  AddStep(spool, 30, now - 100'000'000, now - 50'000'000);
  spool.Flush(now);
  follower.Look(0, "p0000.spool", process_, spool.committed(), 0);
  EXPECT_TRUE(follower.TakeAlarms(static_cast<int64_t>(now)).empty());  // five times the median
  EXPECT_EQ(follower.TakeAlarms(static_cast<int64_t>(now) + 1'100'000'000).size(), 1U);
}

TEST_F(StepFollowerTest, GoesOnInTheNextFileOfASeries) {
  SpoolBuilder first(folder_.path(), "p0000.spool", process_);
  StepFollower follower(directory_.get(), {});
  const uint64_t now = LookOnce(follower, first);
  first.AddThread(0, testing::kMainTid);
  AddSteps(first, 0, 10, now - 100'000'000);
  first.Flush(now);
  follower.Look(0, "p0000.spool", process_, first.committed(), 0);
  SpoolBuilder second(folder_.path(), "p0000.spool.000001", process_);
  AddSteps(second, 10, 5, now - 10'000'000);
  second.Flush(now + 1);
  follower.Look(0, "p0000.spool.000001", process_, second.committed(), 0);
  EXPECT_EQ(follower.StepsOf(0)->steps(), 15);
  EXPECT_EQ(follower.StepsOf(0)->last_number(), 14);
}

}  // namespace
}  // namespace tutti::collector::live
