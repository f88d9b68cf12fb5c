#include "collector/live/live_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "collector/os/files.h"
#include "collector/testing/spool_builder.h"

namespace tutti::collector::live {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::SpoolBuilder;
using testing::TemporaryDirectory;

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

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

TEST(RenderLive, HasNoStepsBeforeThereAreAny) {
  RankSteps rank{.rank = "3", .host = "a\"b"};
  const std::string text = RenderLive({&rank}, 0, 1'700'000'000'000'000'000);
  EXPECT_THAT(text, HasSubstr("tutti_live_updated_seconds 1700000000\n"));
  EXPECT_THAT(text, HasSubstr("tutti_live_running{rank=\"3\",host=\"a\\\"b\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("tutti_live_steps{rank=\"3\",host=\"a\\\"b\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("tutti_live_step_seconds")));
  EXPECT_TRUE(text.ends_with("# EOF\n"));
}

TEST(RenderLive, TellsHowLongAgoAStepHasEnded) {
  RankSteps rank{.rank = "0", .host = "h"};
  rank.steps.Add(41, 1'000'000'000, 1'500'000'000);
  const std::string text = RenderLive({&rank}, 4'000'000'000, 0);
  EXPECT_THAT(text, HasSubstr("tutti_live_step_number{rank=\"0\",host=\"h\"} 41\n"));
  EXPECT_THAT(text, HasSubstr("step=\"newest\"} 0.5\n"));
  EXPECT_THAT(text, HasSubstr("tutti_live_since_step_seconds{rank=\"0\",host=\"h\"} 2.5\n"));
  rank.running = false;
  EXPECT_THAT(RenderLive({&rank}, 4'000'000'000, 0), Not(HasSubstr("since_step_seconds{")));
}

// Steps that were spooled between two looks, a growing file and its end.
TEST(LiveMetrics, FollowsASpoolThatGrows) {
  const TemporaryDirectory folder;
  const auto directory = os::OpenDirectory(folder.path());
  const spool::ProcessChunk process = ProcessOfRank(5);
  SpoolBuilder spool(folder.path(), "p0000.spool", process);
  LiveMetrics metrics(folder.path() + "/live.prom", 1'000, directory->get());
  EXPECT_TRUE(metrics.IsDue(0));
  metrics.Look(0, "p0000.spool", process, spool.committed());
  std::this_thread::sleep_for(std::chrono::milliseconds(2));  // a tick's length has to be known

  // Ticks of this machine's clock, as the tracer would write them.
  const auto now = static_cast<uint64_t>(clock::MonotonicRawNs());
  spool.AddThread(0, testing::kMainTid);
  for (int64_t step = 0; step < 30; ++step) {
    const uint64_t begin = now - 400'000'000 + static_cast<uint64_t>(step) * 10'000'000;
    AddStep(spool, step, begin, begin + 10'000'000);
  }
  AddStep(spool, 30, now - 100'000'000, now - 50'000'000);
  spool.Flush(now);
  metrics.Look(0, "p0000.spool", process, spool.committed());
  const auto lines = metrics.Write(10'000);
  ASSERT_TRUE(lines.ok()) << lines.status().message();
  ASSERT_EQ(lines->size(), 1U);
  EXPECT_THAT(lines->front(), HasSubstr("rank 5: step 30 took 50.0 ms, the median is 10.0 ms"));
  const std::string text = Contents(folder.path() + "/live.prom");
  EXPECT_THAT(text, HasSubstr("tutti_live_steps{rank=\"5\",host=\"node1\"} 31\n"));
  EXPECT_THAT(text, HasSubstr("step=\"median\"} 0.01\n"));
  EXPECT_THAT(text, HasSubstr("step=\"longest\"} 0.05\n"));
  EXPECT_THAT(text, HasSubstr("tutti_live_slow_steps{rank=\"5\",host=\"node1\"} 1\n"));
  EXPECT_FALSE(os::Exists(folder.path() + "/live.prom.part"));
  EXPECT_FALSE(metrics.IsDue(10'500));
  EXPECT_TRUE(metrics.IsDue(11'000));

  // Nothing for longer than a step may take: said once.
  const auto later_ns = static_cast<int64_t>(now) + 20'000'000'000;
  EXPECT_TRUE(metrics.Write(later_ns)->empty());
  const auto hang = metrics.Write(later_ns + 15'000'000'000);
  ASSERT_EQ(hang->size(), 1U);
  EXPECT_THAT(hang->front(), HasSubstr("rank 5: no step has ended for 35 s, the last was step 30"));
  EXPECT_TRUE(metrics.Write(later_ns + 25'000'000'000)->empty());

  metrics.End(0);
  metrics.Look(0, "p0000.spool", process, spool.committed());  // adds nothing any more
  ASSERT_TRUE(metrics.Write(later_ns + 90'000'000'000)->empty());
  EXPECT_THAT(Contents(folder.path() + "/live.prom"),
              AllOf(HasSubstr("tutti_live_running{rank=\"5\",host=\"node1\"} 0\n"),
                    HasSubstr("tutti_live_steps{rank=\"5\",host=\"node1\"} 31\n")));
}

TEST(LiveMetrics, SaysWhyThereIsNoFile) {
  const TemporaryDirectory folder;
  const auto directory = os::OpenDirectory(folder.path());
  LiveMetrics metrics(folder.path() + "/none/live.prom", 1, directory->get());
  EXPECT_FALSE(metrics.Write(0).ok());
}

}  // namespace
}  // namespace tutti::collector::live
