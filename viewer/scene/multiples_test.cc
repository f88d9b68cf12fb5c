#include "viewer/scene/multiples.h"

#include <gtest/gtest.h>

#include "viewer/testing/small_run.h"

namespace tutti::viewer {
namespace {

class StepBandsTest : public ::testing::Test {
 protected:
  StepBandsTest() {
    for (int64_t rank = 0; rank < 2; ++rank) {
      for (int64_t step = 0; step < 2; ++step) {
        run_.summary.windows.push_back({.rank = rank,
                                        .step = step,
                                        .begin_ns = 200 * step,
                                        .end_ns = 200 * step + 200,
                                        .step_ns = 200});
      }
    }
  }
  testing::SmallRun run_;
};

// rank 1   [gemm 30 160)[all-reduce 160 200)  |  [gemm 230 300)
TEST_F(StepBandsTest, EachStepBeginsAtTheLeft) {
  const std::vector<StepBand> bands = StepBands(run_.summary, run_.ranks, 1, 0, 10, 200);
  ASSERT_EQ(bands.size(), 2U);
  EXPECT_FLOAT_EQ(bands[0].end_x, 200);
  ASSERT_EQ(bands[0].band.size(), 2U);
  EXPECT_EQ(bands[0].band[0].x0, 30);
  EXPECT_EQ(bands[0].band[1].x0, 160);
  ASSERT_EQ(bands[1].band.size(), 1U) << "cut at the end of the step";
  EXPECT_EQ(bands[1].band[0].x0, 30);
  EXPECT_EQ(bands[1].band[0].x1, 100);
}

TEST_F(StepBandsTest, AShorterStepEndsEarlier) {
  run_.summary.windows[3].end_ns = 300;
  run_.summary.windows[3].step_ns = 100;
  const std::vector<StepBand> bands = StepBands(run_.summary, run_.ranks, 1, 1, 10, 200);
  ASSERT_EQ(bands.size(), 1U);
  EXPECT_FLOAT_EQ(bands[0].end_x, 100);
  EXPECT_EQ(StepAxisNs(run_.summary), 200);
}

TEST_F(StepBandsTest, ARankThatIsNotLoadedHasNone) {
  run_.ranks[1] = nullptr;
  EXPECT_TRUE(StepBands(run_.summary, run_.ranks, 1, 0, 10, 200).empty());
}

}  // namespace
}  // namespace tutti::viewer
