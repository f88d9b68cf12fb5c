#include "viewer/model/series.h"

#include <gtest/gtest.h>

#include <random>

namespace tutti::viewer {
namespace {

TEST(Series, ExtentsAreThoseOfBruteForce) {
  std::mt19937_64 random(1);
  std::vector<Sample> samples;
  for (int64_t i = 0; i < 3'000; ++i) {
    samples.push_back({10 * i, static_cast<double>(random() % 1'000)});
  }
  const Series series(samples);
  for (int trial = 0; trial < 2'000; ++trial) {
    const auto begin = static_cast<int64_t>(random() % 31'000) - 500;
    const auto end = begin + static_cast<int64_t>(random() % (trial % 2 == 0 ? 100 : 20'000));
    Extent expected;
    for (size_t i = 0; i < samples.size(); ++i) {
      const bool begins_inside = samples[i].time_ns >= begin && samples[i].time_ns < end;
      const bool holds =
          samples[i].time_ns < begin && (i + 1 == samples.size() || samples[i + 1].time_ns > begin);
      if (begins_inside || holds) expected.Add(samples[i].value);
    }
    const Extent extent = series.Holding(begin, end);
    ASSERT_EQ(extent.is_empty, expected.is_empty) << begin << " to " << end;
    if (expected.is_empty) continue;
    ASSERT_EQ(extent.least, expected.least) << begin << " to " << end;
    ASSERT_EQ(extent.largest, expected.largest) << begin << " to " << end;
  }
}

TEST(Series, OfNoSamplesIsEmpty) { EXPECT_TRUE(Series().Holding(0, 100).is_empty); }

}  // namespace
}  // namespace tutti::viewer
