// `tutti ctl` on a training that runs, with the fake GPU: what is recorded of the GPU and of the
// host follows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/e2e/record_fixture.h"

namespace tutti::e2e {
namespace {

using ::testing::HasSubstr;

class ControlTest : public RecordTest {
 protected:
  // Steps of a millisecond or more.
  Running StartTraining(int64_t steps) {
    return Start({}, {TUTTI_GPU_TRAINING, "--steps", std::to_string(steps)},
                 {"TUTTI_CUPTI_LIBRARY=" TUTTI_FAKE_CUPTI});
  }
  Finished Ctl(const std::vector<std::string>& words) {
    std::vector<std::string> argv = {TUTTI_PROGRAM, "ctl", Path("run")};
    argv.insert(argv.end(), words.begin(), words.end());
    return Running(argv, {}, directory_).Wait();
  }
  void WaitUntilItRuns() {
    ASSERT_TRUE(WaitFor([&] { return Ctl({"start"}).exit_status == 0; }));
  }
};

TEST_F(ControlTest, StopAndStart) {
  Running training = StartTraining(1'500);
  WaitUntilItRuns();
  SleepMs(300);
  ASSERT_EQ(Ctl({"stop"}).exit_status, 0);
  SleepMs(300);
  ASSERT_EQ(Ctl({"start"}).exit_status, 0);
  const Finished finished = training.Wait();
  ASSERT_EQ(finished.exit_status, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("tutti ctl: stop"));
  auto rank = Open("rank-00000.sqlite");
  const std::string pause = "FROM trace_stat WHERE name = 'capture_paused'";
  ASSERT_EQ(Number(rank, "SELECT count(*) " + pause), 1);
  EXPECT_GE(Number(rank, "SELECT end_ns - begin_ns " + pause), 300'000'000);
  const auto kernels = [&](const std::string& where) {
    return Number(rank,
                  "SELECT count(*) FROM kernel, (SELECT begin_ns AS pause_begin, end_ns AS "
                  "pause_end " +
                      pause + ") WHERE " + where);
  };
  EXPECT_GT(kernels("kernel.end_ns < pause_begin"), 100);
  EXPECT_GT(kernels("kernel.begin_ns > pause_end"), 100);
  // The tracer follows within 10 ms, or when it gets a core.
  EXPECT_EQ(kernels("kernel.begin_ns > pause_begin + 150000000 AND kernel.end_ns < pause_end"), 0);
}

TEST_F(ControlTest, AWindowOfSteps) {
  Running training = StartTraining(1'200);
  WaitUntilItRuns();
  ASSERT_EQ(Ctl({"steps", "800:900"}).exit_status, 0);
  const Finished finished = training.Wait();
  ASSERT_EQ(finished.exit_status, 0) << finished.err;
  auto rank = Open("rank-00000.sqlite");
  const auto kernels_in = [&](const std::string& steps) {
    return Number(rank,
                  "SELECT count(*) FROM step JOIN api_call AS a USING (tid) JOIN kernel AS k "
                  "USING (correlation_id) WHERE a.begin_ns BETWEEN step.begin_ns AND "
                  "step.end_ns AND step.number " +
                      steps);
  };
  EXPECT_EQ(Number(rank, "SELECT count(*) FROM step WHERE number BETWEEN 800 AND 899"), 100);
  // All of the window but its first steps, which are shorter here than the tracer's look-out.
  EXPECT_GE(kernels_in("BETWEEN 800 AND 899"), 2 * 50);
  EXPECT_EQ(kernels_in("BETWEEN 500 AND 798"), 0);
  EXPECT_EQ(kernels_in("> 1100"), 0);
}

TEST_F(ControlTest, SaysWhenNobodyRecords) {
  const Finished nobody = Ctl({"stop"});
  EXPECT_EQ(nobody.exit_status, 3);
  EXPECT_THAT(nobody.err, HasSubstr("is not being recorded"));
  EXPECT_EQ(Ctl({"steps"}).exit_status, 2);
  EXPECT_EQ(Ctl({"steps", "9:4"}).exit_status, 2);
  EXPECT_EQ(Ctl({"pause"}).exit_status, 2);
}

}  // namespace
}  // namespace tutti::e2e
