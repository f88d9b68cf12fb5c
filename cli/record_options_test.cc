#include "cli/record_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/wire/wire.h"

namespace tutti::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ParseBytes, UnitsArePowersOf1024) {
  EXPECT_EQ(*ParseBytes("64M"), 64U << 20);
  EXPECT_EQ(*ParseBytes("64MiB"), 64U << 20);
  EXPECT_EQ(*ParseBytes("1.5G"), 3U << 29);
  EXPECT_EQ(*ParseBytes("4096"), 4096U);
  EXPECT_EQ(*ParseBytes("2k"), 2048U);
  for (const char* bad : {"", "M", "64X", "-1M", "1e9999", "64 M", "nan", "inf", "9999999T"}) {
    EXPECT_FALSE(ParseBytes(bad).ok()) << bad;
  }
}

TEST(ParseDuration, IsInNanoseconds) {
  EXPECT_EQ(*ParseDuration("1s"), 1'000'000'000);
  EXPECT_EQ(*ParseDuration("500ms"), 500'000'000);
  EXPECT_EQ(*ParseDuration("2"), 2'000'000'000);
  EXPECT_EQ(*ParseDuration("0.5m"), 30'000'000'000);
  for (const char* bad : {"", "s", "1d", "-1s", "1 s"})
    EXPECT_FALSE(ParseDuration(bad).ok()) << bad;
}

TEST(ParseSteps, IsHalfOpenAndMayBeOpenEnded) {
  EXPECT_TRUE(ParseSteps("40:60")->Contains(40));
  EXPECT_TRUE(ParseSteps("40:60")->Contains(59));
  EXPECT_FALSE(ParseSteps("40:60")->Contains(60));
  EXPECT_TRUE(ParseSteps(":3")->Contains(0));
  EXPECT_TRUE(ParseSteps("3:")->Contains(1'000'000));
  for (const char* bad : {"", "5", "5:5", "6:5", "a:b", "1:2:3", "1-2"}) {
    EXPECT_FALSE(ParseSteps(bad).ok()) << bad;
  }
}

TEST(ParseSources, UnknownOnesAreRefusedByName) {
  collector::RecordOptions options;
  ASSERT_TRUE(ParseSources("nvtx,system", &options).ok());
  EXPECT_EQ(options.capture_mask, wire::kCaptureNvtx);
  EXPECT_TRUE(options.sample_system);
  EXPECT_THAT(options.sources, ElementsAre("nvtx", "system"));
  ASSERT_TRUE(ParseSources("torch", &options).ok());
  EXPECT_FALSE(options.sample_system);
  const Status refused = ParseSources("torch,rocm", &options);
  EXPECT_THAT(refused.message(), HasSubstr("rocm"));
  for (const char* name : {"torch", "nvtx", "memory", "cupti", "nccl", "system"}) {
    EXPECT_THAT(refused.message(), HasSubstr(name));
  }
  EXPECT_FALSE(ParseSources("", &options).ok());
}

}  // namespace
}  // namespace tutti::cli
