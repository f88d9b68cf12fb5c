#include "analyzer/metrics/memory_curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tutti::analyzer {
namespace {

// ns        0    5    10
// bytes     4    9 2  |2
TEST(MemoryCurve, KeepsThePeakOfEachSpan) {
  const MemorySample samples[] = {{0, 4}, {5, 9}, {7, 2}, {9, 2}};
  EXPECT_EQ(MemoryCurve(samples, 2), (std::vector<MemorySpan>{{{0, 5}, 4, 4}, {{5, 10}, 9, 2}}));
}

TEST(MemoryCurve, OfNothingIsEmptyAndOfOneSampleOneSpan) {
  EXPECT_TRUE(MemoryCurve({}, 8).empty());
  const MemorySample one[] = {{3, 7}};
  EXPECT_EQ(MemoryCurve(one, 8), (std::vector<MemorySpan>{{{3, 4}, 7, 7}}));
}

TEST(MemoryCurve, AgreesWithMarkingEveryNanosecond) {
  std::mt19937 random(43);
  for (int round = 0; round < 1000; ++round) {
    std::vector<MemorySample> samples(1 + random() % 20);
    for (MemorySample& sample : samples) {
      sample.time_ns = static_cast<int64_t>(random() % 50);
      sample.bytes = static_cast<int64_t>(random() % 100);
    }
    std::stable_sort(samples.begin(), samples.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    const size_t most = 1 + random() % 9;
    const std::vector<MemorySpan> curve = MemoryCurve(samples, most);
    ASSERT_LE(curve.size(), most);
    ASSERT_EQ(curve.front().time.begin_ns, samples.front().time_ns);
    ASSERT_EQ(curve.back().time.end_ns, samples.back().time_ns + 1);
    for (const MemorySpan& span : curve) {
      int64_t max = 0;
      int64_t last = 0;
      for (int64_t t = span.time.begin_ns; t < span.time.end_ns; ++t) {
        for (const MemorySample& sample : samples) {
          if (sample.time_ns <= t) last = sample.bytes;
          if (sample.time_ns == t) max = std::max(max, sample.bytes);
        }
        max = std::max(max, last);
      }
      ASSERT_EQ(span.last_bytes, last);
      ASSERT_EQ(span.max_bytes, max) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace tutti::analyzer
