#include "collector/importers/windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tutti::collector::importers {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

CaptureClaim Capture(int64_t begin_ns, std::string path = "d/host_7.1.pt.trace.json") {
  return {
      .rank = 0, .path = std::move(path), .begin_ns = begin_ns, .end_ns = begin_ns + 10, .pid = 7};
}

CaptureClaim WithSteps(CaptureClaim claim, int64_t first, int64_t last) {
  claim.first_step = first;
  claim.last_step = last;
  return claim;
}

TEST(WorkerOf, IsWhatStandsBeforeTheTime) {
  EXPECT_EQ(WorkerOf("logs/host_4711.1700000000000.pt.trace.json.gz"), "host_4711");
  EXPECT_EQ(WorkerOf("rank0.17.pt.trace.json"), "rank0");
  EXPECT_EQ(WorkerOf("host.name_4711.17.pt.trace.json"), "host.name_4711");
  for (const char* other : {"rank0.json", "a.b.pt.trace.json", ".pt.trace.json", "5.pt.trace.json",
                            ".5.pt.trace.json", "", "d/"}) {
    EXPECT_EQ(WorkerOf(other), "") << other;
  }
}

TEST(CapturesOfProcesses, AreInOrderOfTime) {
  EXPECT_THAT(CapturesOfProcesses({Capture(40), Capture(0), Capture(20)}),
              ElementsAre(ElementsAre(1, 2, 0)));
}

TEST(CapturesOfProcesses, NeverOverlap) {
  EXPECT_THAT(CapturesOfProcesses({Capture(0), Capture(9)}), IsEmpty());
  EXPECT_THAT(CapturesOfProcesses({Capture(0), Capture(10)}), ElementsAre(ElementsAre(0, 1)));
}

TEST(CapturesOfProcesses, TellsProcessesApart) {
  CaptureClaim other_pid = Capture(20);
  other_pid.pid = 8;
  CaptureClaim other_rank = Capture(20);
  other_rank.rank = 1;
  CaptureClaim other_host = Capture(20);
  other_host.host = "b";
  const CaptureClaim other_worker = Capture(20, "d/other_7.1.pt.trace.json");
  for (const CaptureClaim& other : {other_pid, other_rank, other_host, other_worker}) {
    EXPECT_THAT(CapturesOfProcesses({Capture(0), other}), IsEmpty());
  }
  CaptureClaim unknown = Capture(0, "a.json");
  unknown.pid = {};
  EXPECT_THAT(CapturesOfProcesses({unknown, unknown}), IsEmpty());
}

TEST(AreOfOneRun, WhereStepsGoOn) {
  const CaptureClaim first = WithSteps(Capture(0, "iteration_10/rank0.json"), 3, 5);
  const CaptureClaim next = WithSteps(Capture(20, "iteration_20/rank0.json"), 9, 11);
  const CaptureClaim again = WithSteps(Capture(20, "iteration_20/rank0.json"), 3, 5);
  EXPECT_TRUE(AreOfOneRun({&first, &next}));
  EXPECT_FALSE(AreOfOneRun({&first, &again}));
}

TEST(AreOfOneRun, WithoutStepsIfOneWorkerNamedThem) {
  const CaptureClaim first = Capture(0);
  const CaptureClaim next = Capture(20, "d/host_7.2.pt.trace.json");
  const CaptureClaim elsewhere = Capture(20, "e/host_7.2.pt.trace.json");
  const CaptureClaim nameless = Capture(20, "d/b.json");
  const CaptureClaim with_steps = WithSteps(next, 1, 2);
  EXPECT_TRUE(AreOfOneRun({&first, &next}));
  EXPECT_FALSE(AreOfOneRun({&first, &elsewhere}));
  EXPECT_FALSE(AreOfOneRun({&first, &nameless}));
  EXPECT_FALSE(AreOfOneRun({&first, &with_steps}));
}

}  // namespace
}  // namespace tutti::collector::importers
