#include "workloads/common/rank_env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

namespace tutti::workloads {
namespace {

using testing::HasSubstr;

class RankEnvTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
          "TORCHELASTIC_USE_AGENT_STORE", "TORCHELASTIC_RESTART_COUNT"}) {
      unsetenv(name);
    }
  }
  static void Set(const char* name, const char* value) { setenv(name, value, 1); }
  static std::string Error() {
    try {
      RankEnv::Read();
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(RankEnvTest, IsOneRankWithoutAGroupWhenNothingIsSet) {
  const RankEnv env = RankEnv::Read();
  EXPECT_FALSE(env.distributed);
  EXPECT_EQ(env.rank, 0);
  EXPECT_EQ(env.world_size, 1);
}

TEST_F(RankEnvTest, ReadsTorchrunsVariables) {
  Set("RANK", "5");
  Set("WORLD_SIZE", "8");
  Set("LOCAL_RANK", "1");
  Set("LOCAL_WORLD_SIZE", "4");
  Set("MASTER_ADDR", "127.0.0.1");
  Set("MASTER_PORT", "29500");
  Set("TORCHELASTIC_USE_AGENT_STORE", "True");
  Set("TORCHELASTIC_RESTART_COUNT", "2");
  const RankEnv env = RankEnv::Read();
  EXPECT_TRUE(env.distributed);
  EXPECT_EQ(env.rank, 5);
  EXPECT_EQ(env.world_size, 8);
  EXPECT_EQ(env.local_rank, 1);
  EXPECT_EQ(env.local_world_size, 4);
  EXPECT_EQ(env.master_addr, "127.0.0.1");
  EXPECT_EQ(env.master_port, 29500);
  EXPECT_TRUE(env.agent_serves_store);
  EXPECT_EQ(env.restart_count, 2);
}

TEST_F(RankEnvTest, NamesTheVariableThatIsMissingOrWrong) {
  Set("RANK", "2");
  EXPECT_THAT(Error(), HasSubstr("WORLD_SIZE is not"));
  Set("WORLD_SIZE", "2");
  EXPECT_THAT(Error(), HasSubstr("RANK='2' is not a number from 0 to 1"));
  Set("RANK", "1");
  EXPECT_THAT(Error(), HasSubstr("MASTER_PORT is not"));
  Set("MASTER_PORT", "70000");
  EXPECT_THAT(Error(), HasSubstr("MASTER_PORT='70000'"));
  Set("MASTER_PORT", "29500");
  EXPECT_THAT(Error(), HasSubstr("MASTER_ADDR is not"));
  Set("MASTER_ADDR", "localhost");
  EXPECT_EQ(Error(), "");
  EXPECT_EQ(RankEnv::Read().local_rank, 1);
}

}  // namespace
}  // namespace tutti::workloads
