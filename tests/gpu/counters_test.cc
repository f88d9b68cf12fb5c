// NVML's counters beside a training, told of the GPU that it uses and not of the node's other one.
#include <gtest/gtest.h>

#include <string>

#include "tests/e2e/record_fixture.h"

namespace tutti::e2e {
namespace {

class GpuCountersTest : public RecordTest {
 protected:
  Finished RecordTraining(const std::string& fake_nvml = "") {
    return Record({}, {TUTTI_GPU_TRAINING, "--steps", "1500"},
                  {"TUTTI_CUPTI_LIBRARY=" TUTTI_FAKE_CUPTI, "TUTTI_NVML_LIBRARY=" TUTTI_FAKE_NVML,
                   "TUTTI_FAKE_NVML=" + fake_nvml});
  }
};

TEST_F(GpuCountersTest, AreTheOnesOfTheGpuThatIsUsed) {
  const Finished finished = RecordTraining();
  ASSERT_EQ(finished.exit_status, 0) << finished.err;
  auto rank = Open("rank-00000.sqlite");
  const auto values = [&](const std::string& name) {
    return Text(rank,
                "SELECT group_concat(DISTINCT value || ' of ' || device_id) FROM counter "
                "JOIN counter_sample ON counter_id = id WHERE name = '" +
                    name + "'");
  };
  EXPECT_EQ(values("gpu.temperature"), "87 of 0");
  EXPECT_EQ(values("gpu.sm_clock"), "1980000000 of 0");
  EXPECT_EQ(values("gpu.throttle_reasons"), "32 of 0");
  EXPECT_EQ(Number(rank, "SELECT count(*) FROM counter WHERE name = 'gpu.power'"), 1);
}

TEST_F(GpuCountersTest, ADriverThatHangsCostsNothingElse) {
  const Finished finished = RecordTraining("hang");
  ASSERT_EQ(finished.exit_status, 0) << finished.err;
  auto rank = Open("rank-00000.sqlite");
  EXPECT_EQ(Number(rank, "SELECT count(*) FROM counter WHERE name LIKE 'gpu.%'"), 0);
  EXPECT_EQ(Number(rank, "SELECT count(*) FROM step WHERE number >= 0"), 1503);
}

}  // namespace
}  // namespace tutti::e2e
