#include "analyzer/metrics/self_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace tutti::analyzer {
namespace {

// The picture of self_time.h.
TEST(SelfTimes, TheInnermostSpanTakesTheMoment) {
  const Interval spans[] = {{0, 30}, {5, 20}, {10, 15}};
  EXPECT_EQ(SelfTimes(spans), (std::vector<int64_t>{15, 10, 5}));
}

TEST(SelfTimes, SiblingsAreTakenFromTheirParentOnly) {
  const Interval spans[] = {{0, 30}, {0, 10}, {10, 20}, {12, 14}, {40, 41}};
  EXPECT_EQ(SelfTimes(spans), (std::vector<int64_t>{10, 10, 8, 2, 1}));
}

TEST(SelfTimes, AgreesWithMarkingEveryNanosecond) {
  std::mt19937 random(29);
  for (int round = 0; round < 3000; ++round) {
    std::vector<Interval> spans(random() % 12);
    for (Interval& span : spans) {
      span.begin_ns = static_cast<int64_t>(random() % 60);
      span.end_ns = span.begin_ns + static_cast<int64_t>(random() % 30);
    }
    std::sort(spans.begin(), spans.end(), [](const Interval& a, const Interval& b) {
      return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
    });
    std::vector<int64_t> expected(spans.size(), 0);
    for (int64_t t = 0; t < 100; ++t) {
      for (size_t i = spans.size(); i-- > 0;) {
        if (spans[i].begin_ns <= t && t < spans[i].end_ns) {
          ++expected[i];
          break;
        }
      }
    }
    ASSERT_EQ(SelfTimes(spans), expected) << "round " << round;
  }
}

}  // namespace
}  // namespace tutti::analyzer
