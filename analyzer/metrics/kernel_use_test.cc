#include "analyzer/metrics/kernel_use.h"

#include <gtest/gtest.h>

namespace tutti::analyzer {
namespace {

// Ten multiprocessors, each of which holds 1,024 threads, 65,536 registers and 64 KiB.
constexpr GpuLimits kGpu = {10, 32, 1024, 65536, 65536};

TEST(KernelUse, FewerBlocksThanMultiprocessorsLeaveTheRestEmpty) {
  EXPECT_DOUBLE_EQ(UnfilledFrac({4, 256, 32, 0}, kGpu), 0.6);
  EXPECT_DOUBLE_EQ(UnfilledFrac({10, 256, 32, 0}, kGpu), 0);
  EXPECT_DOUBLE_EQ(UnfilledFrac({4, 256, 32, 0}, {}), 0) << "how many there are is not known";
}

TEST(KernelUse, ThreadsRegistersAndSharedMemoryLimitTheBlocksAtOnce) {
  EXPECT_EQ(BlocksAtOnce({1, 256, 32, 0}, kGpu), 4) << "1024 / 256 threads";
  EXPECT_EQ(BlocksAtOnce({1, 256, 128, 0}, kGpu), 2) << "65536 / (256 * 128) registers";
  EXPECT_EQ(BlocksAtOnce({1, 256, 32, 40'000}, kGpu), 1) << "65536 / 40000 bytes";
  EXPECT_EQ(BlocksAtOnce({1, 256, 0, 0}, kGpu), std::nullopt);
}

TEST(KernelUse, TheLastWaveIsRarelyFull) {
  // 4 at once on 10 multiprocessors: waves of 40.
  EXPECT_DOUBLE_EQ(LastWaveFrac({50, 256, 32, 0}, kGpu), 1 - 50.0 / 80);
  EXPECT_DOUBLE_EQ(LastWaveFrac({80, 256, 32, 0}, kGpu), 0);
  EXPECT_DOUBLE_EQ(LastWaveFrac({30, 256, 32, 0}, kGpu), 0) << "less than a wave";
}

TEST(KernelUse, RunsBesideOthersAreComparedWithThoseAlone) {
  std::vector<KernelRun> runs(5, {1, 100, 0});
  runs.push_back({1, 130, 100});  // beside it for most of its time
  runs.push_back({1, 130, 20});   // for little of it
  runs.push_back({2, 900, 900});  // never alone
  const std::vector<std::optional<int64_t>> excess = ExcessBeside(runs);
  EXPECT_EQ(excess[0], std::nullopt);
  EXPECT_EQ(excess[5], 30);
  EXPECT_EQ(excess[6], std::nullopt);
  EXPECT_EQ(excess[7], std::nullopt);
}

// ns         0        100 102       162
// stream 13  [A=======)
// default             [d)
// stream 14              [B=========)
TEST(KernelUse, ShortWorkOfTheDefaultStreamBetweenTwoOthers) {
  std::vector<StreamWork> works = {
      {13, false, {0, 50}, 0},    {13, false, {50, 100}, 0},  {7, true, {100, 102}, 0},
      {14, false, {102, 140}, 0}, {14, false, {140, 162}, 0},
  };
  const std::vector<Serialized> found = FindSerialized(works);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].begin_ns, 102);
  EXPECT_EQ(found[0].lost_ns, 60);
  works[3].launched_ns = 101;
  EXPECT_TRUE(FindSerialized(works).empty()) << "the host came too late";
  works[3].launched_ns = 0;
  works[3].waits_for_event = true;
  EXPECT_TRUE(FindSerialized(works).empty()) << "it was to wait";
  works[3].waits_for_event = false;
  works[2].time = {100, 108};
  works[3].time.begin_ns = 108;
  EXPECT_TRUE(FindSerialized(works).empty()) << "the default stream does the work";
}

}  // namespace
}  // namespace tutti::analyzer
