#include "viewer/scene/format.h"

#include <gtest/gtest.h>

namespace tutti::viewer {
namespace {

TEST(FormatShare, HasASignUnlessItIsNothing) {
  EXPECT_EQ(FormatShare(0.1234), "+12.3 %");
  EXPECT_EQ(FormatShare(-0.04), "-4.0 %");
  EXPECT_EQ(FormatShare(-0.0001), "0.0 %");
}

TEST(Format, DurationsHaveFourDigits) {
  EXPECT_EQ(FormatNs(850), "850 ns");
  EXPECT_EQ(FormatNs(12'345), "12.35 µs");
  EXPECT_EQ(FormatNs(4'567'891), "4.568 ms");
  EXPECT_EQ(FormatNs(1'234'000'000), "1.234 s");
  EXPECT_EQ(FormatNs(int64_t{123} * 60'000'000'000), "123.0 min");
  EXPECT_EQ(FormatNs(int64_t{36'180} * 1'000'000'000), "10 h 03 min");
}

TEST(Format, TimesAreAsFineAsTheirTicks) {
  EXPECT_EQ(FormatTime(12'340'000, 10'000), "12.34 ms");
  EXPECT_EQ(FormatTime(0, 1'000'000), "0 ms");
  EXPECT_EQ(FormatTime(3'000'000'007, 1), "3.000000007 s");
}

TEST(Format, CountsAndBytes) {
  EXPECT_EQ(FormatCount(1'234'567), "1,234,567");
  EXPECT_EQ(FormatCount(-999), "-999");
  EXPECT_EQ(FormatBytes(3.5 * 1024 * 1024), "3.5 MiB");
  EXPECT_EQ(FormatValue(2.5, "cores"), "2.5 cores");
}

TEST(Format, ASavingIsWhatTheReplaySaysElseABound) {
  EXPECT_EQ(FormatSaving(3'000'000, 0.1, 1'500'000),
            "saves 1.500 ms a step (5.0 %), at most 3.000 ms");
  EXPECT_EQ(FormatSaving(3'000'000, 0.1, std::nullopt), "up to 3.000 ms a step (10.0 %)");
  EXPECT_EQ(FormatSaving(0, 0, 0), "up to 0 ns a step (0.0 %)");
}

TEST(ShortName, KeepsWhatTellsKernelsApart) {
  EXPECT_EQ(ShortName("void at::native::elementwise_kernel<4, F<int>>(int, F<int>)"),
            "elementwise_kernel");
  EXPECT_EQ(ShortName("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)"),
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)");
  EXPECT_EQ(ShortName("aten::mm"), "aten::mm");
  EXPECT_EQ(ShortName("step 12"), "step 12");
  EXPECT_EQ(ShortName("<lambda>"), "<lambda>");
}

}  // namespace
}  // namespace tutti::viewer
