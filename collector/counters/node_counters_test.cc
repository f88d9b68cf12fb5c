// The counters of GPUs, against a libnvidia-ml that is none, and of ports, against a sysfs of
// files.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "collector/counters/gpu_sampler.h"
#include "collector/counters/infiniband.h"
#include "collector/counters/node_sampler.h"
#include "collector/testing/spool_builder.h"

namespace tutti::collector::counters {
namespace {

using spool::GpuValue;
using spool::NodeSample;
using spool::PortValue;

int64_t Value(const NodeSample& sample, GpuValue value) {
  return sample.values[static_cast<size_t>(value)];
}
int64_t Value(const NodeSample& sample, PortValue value) {
  return sample.values[static_cast<size_t>(value)];
}

TEST(GpuSampler, ReadsWhatEachGpuTells) {
  GpuSampler sampler(TUTTI_FAKE_NVML);
  ASSERT_TRUE(sampler.Start());
  const auto samples = sampler.Read();
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_STREQ(samples[0].name, "GPU-abababab-abab-abab-abab-abababababab");
  EXPECT_EQ(Value(samples[0], GpuValue::kUtilization), 91);
  EXPECT_EQ(Value(samples[0], GpuValue::kMemoryUtilization), 37);
  EXPECT_EQ(Value(samples[0], GpuValue::kMemoryUsed), int64_t{20} << 30);
  EXPECT_EQ(Value(samples[0], GpuValue::kSmClock), 1'980'000'000);
  EXPECT_EQ(Value(samples[0], GpuValue::kMemoryClock), 2'619'000'000);
  EXPECT_EQ(Value(samples[0], GpuValue::kThrottleReasons), 0x20);
  EXPECT_EQ(Value(samples[0], GpuValue::kTemperature), 87);
  EXPECT_EQ(Value(samples[0], GpuValue::kPower), 512'000);
  EXPECT_EQ(Value(samples[0], GpuValue::kEccCorrected), 5);
  EXPECT_EQ(Value(samples[0], GpuValue::kEccUncorrected), 0);
  for (const int64_t value : samples[1].values) EXPECT_EQ(value, -1);
}

TEST(GpuSampler, SumsGoOnWhereACounterWrapsRound) {
  GpuSampler sampler(TUTTI_FAKE_NVML);
  ASSERT_TRUE(sampler.Start());
  const NodeSample first = sampler.Read()[0];
  const NodeSample second = sampler.Read()[0];
  EXPECT_EQ(Value(second, GpuValue::kPcieReceive) - Value(first, GpuValue::kPcieReceive), 0x1000);
  EXPECT_EQ(Value(second, GpuValue::kNvlinkTransmit) - Value(first, GpuValue::kNvlinkTransmit),
            1000 * 1024);
  EXPECT_EQ(Value(second, GpuValue::kEnergy) - Value(first, GpuValue::kEnergy), 1000);
}

TEST(GpuSampler, WithoutALibraryThereIsNothingToRead) {
  EXPECT_FALSE(GpuSampler("/nonexistent/libnvidia-ml.so").Start());
}

TEST(InfinibandSampler, ReadsPortsInBytes) {
  const testing::TemporaryDirectory root;
  const std::filesystem::path counters = root.path() + "/class/infiniband/mlx5_0/ports/1/counters";
  std::filesystem::create_directories(counters);
  std::ofstream(counters / "port_xmit_data") << "1000\n";
  std::ofstream(counters / "port_rcv_data") << "18446744073709551615\n";  // absurd
  std::ofstream(counters / "link_downed") << "2\n";
  const InfinibandSampler sampler(root.path());
  ASSERT_TRUE(sampler.has_ports());
  const auto samples = sampler.Read();
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_STREQ(samples[0].name, "mlx5_0/1");
  EXPECT_EQ(Value(samples[0], PortValue::kTransmit), 4000);
  EXPECT_EQ(Value(samples[0], PortValue::kReceive), -1);
  EXPECT_EQ(Value(samples[0], PortValue::kLinkDowned), 2);
  EXPECT_EQ(Value(samples[0], PortValue::kTransmitWait), -1);
}

TEST(InfinibandSampler, ANodeWithoutPortsHasNone) {
  const testing::TemporaryDirectory root;
  EXPECT_FALSE(InfinibandSampler(root.path()).has_ports());
}

class NodeSamplerTest : public ::testing::Test {
 protected:
  NodeSamplerTest() { ::setenv("TUTTI_NVML_LIBRARY", TUTTI_FAKE_NVML, 1); }
  ~NodeSamplerTest() override {
    ::unsetenv("TUTTI_NVML_LIBRARY");
    ::unsetenv("TUTTI_FAKE_NVML");
  }
};

TEST_F(NodeSamplerTest, SamplesOnAThreadOfItsOwn) {
  NodeSampler sampler;
  EXPECT_TRUE(sampler.Take().empty());
  sampler.Start(1'000'000);
  std::vector<NodeSample> taken;
  for (int waited = 0; taken.size() < 6 && waited < 5'000; ++waited) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (const NodeSample& sample : sampler.Take()) taken.push_back(sample);
  }
  ASSERT_GE(taken.size(), 6U);
  EXPECT_LE(taken[0].monotonic_raw_ns, taken[2].monotonic_raw_ns);
}

// It hangs for ever, so the end of this test is that of the wait.
TEST_F(NodeSamplerTest, ADriverThatHangsIsNotWaitedFor) {
  ::setenv("TUTTI_FAKE_NVML", "hang", 1);
  NodeSampler sampler;
  sampler.Start(1'000'000);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(sampler.Take().empty());
}

class NodeSamplesTest : public testing::ConvertTest {
 protected:
  void Add(const char* uuid, int64_t raw_ns, int64_t watts) {
    NodeSample sample = spool::EmptyNodeSample(spool::NodeSource::kGpu, uuid);
    sample.monotonic_raw_ns = raw_ns;
    sample.values[static_cast<size_t>(GpuValue::kPower)] = watts;
    spool().Chunk(spool::ChunkKind::kNode, sample);
  }
};

TEST_F(NodeSamplesTest, PortsBecomeCountersOfTheNodeAndUnusedGpusDoNot) {
  NodeSample port = spool::EmptyNodeSample(spool::NodeSource::kInfinibandPort, "mlx5_0/1");
  port.monotonic_raw_ns = 5'000;
  port.values[static_cast<size_t>(PortValue::kTransmit)] = 4000;
  spool().Chunk(spool::ChunkKind::kNode, port);
  Add("GPU-00000000-0000-0000-0000-000000000001", 5'000, 100);
  Convert();
  const auto samples = All<schema::CounterSampleRow>();
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0].time_ns, testing::kEpochNs + 5'000);
  const auto name = database().QueryOne<std::string>(
      "SELECT name || ' ' || unit FROM counter WHERE id = ?1", samples[0].counter_id);
  EXPECT_EQ(*name, "node.ib.mlx5_0/1.transmit bytes");
}

}  // namespace
}  // namespace tutti::collector::counters
