#include "analyzer/compare/level.h"

#include <gtest/gtest.h>

#include <vector>

namespace tutti::analyzer::compare {
namespace {

double Trimmed(const std::vector<double>& values) { return TrimmedMeanOf(values); }

// scipy 1.17.1: st.trim_mean([5, 1, 9, 3, 100, 4, 2, 6, 7, 8, 0.5], 0.2) = 5.0
TEST(TrimmedMean, MatchesScipy) {
  EXPECT_NEAR(Trimmed({5, 1, 9, 3, 100, 4, 2, 6, 7, 8, 0.5}), 5.0, 1e-12);
  EXPECT_EQ(Trimmed({7}), 7);
  EXPECT_EQ(Trimmed({1, 2, 3, 100}), 26.5);  // of four, none is cut
}

// One step of ten takes 30 where the median is 10: 30 - 15 of 123 is tail. The lower 99th
// percentile of ten is the ninth value. st.trim_mean(x, .2) = 10.333333333333334
TEST(StepLevelOf, TellsTheTailFromTheLevel) {
  const int64_t period_ns[] = {10, 11, 9, 10, 30, 10, 12, 10, 11, 10};
  const StepLevel level = StepLevelOf(period_ns);
  EXPECT_NEAR(level.trimmed_ns, 10.333333333333334, 1e-9);
  EXPECT_NEAR(level.mean_ns, 12.3, 1e-9);
  EXPECT_EQ(level.p99_ns, 12);
  EXPECT_NEAR(level.tail_share, 0.12195121951219512, 1e-9);
  EXPECT_EQ(level.steps, 10u);
}

}  // namespace
}  // namespace tutti::analyzer::compare
