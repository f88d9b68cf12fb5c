#include "tracer/core/environment.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace tutti::tracer {
namespace {

std::map<std::string, std::string>& Variables() {
  static std::map<std::string, std::string> variables;
  return variables;
}

const char* FakeVariable(const char* name) {
  const auto found = Variables().find(name);
  return found != Variables().end() ? found->second.c_str() : nullptr;
}

RankIdentity IdentityIn(std::map<std::string, std::string> variables) {
  Variables() = std::move(variables);
  return ReadIdentity(&FakeVariable);
}

TEST(ReadIdentity, KnowsNothingWithoutVariables) {
  const RankIdentity identity = IdentityIn({});
  EXPECT_EQ(identity.rank, -1);
  EXPECT_EQ(identity.local_rank, -1);
  EXPECT_EQ(identity.world_size, -1);
  EXPECT_EQ(identity.attempt, 0);
  EXPECT_STREQ(identity.rank_variable, "");
  EXPECT_STREQ(identity.run_id, "");
}

TEST(ReadIdentity, TakesTorchrunsVariables) {
  const RankIdentity identity = IdentityIn({{"RANK", "5"},
                                            {"LOCAL_RANK", "1"},
                                            {"WORLD_SIZE", "8"},
                                            {"TORCHELASTIC_RESTART_COUNT", "2"},
                                            {"TORCHELASTIC_RUN_ID", "job7"}});
  EXPECT_EQ(identity.rank, 5);
  EXPECT_EQ(identity.local_rank, 1);
  EXPECT_EQ(identity.world_size, 8);
  EXPECT_EQ(identity.attempt, 2);
  EXPECT_STREQ(identity.rank_variable, "RANK");
  EXPECT_STREQ(identity.run_id, "job7");
}

// srun starts one torchrun a node: SLURM_PROCID is the node's number.
TEST(ReadIdentity, UnderSrunTorchrunTheRankIsTorchruns) {
  const RankIdentity identity = IdentityIn({{"SLURM_PROCID", "1"},
                                            {"SLURM_STEP_ID", "0"},
                                            {"SLURM_STEP_NUM_TASKS", "2"},
                                            {"RANK", "11"},
                                            {"LOCAL_RANK", "3"},
                                            {"WORLD_SIZE", "16"}});
  EXPECT_EQ(identity.rank, 11);
  EXPECT_STREQ(identity.rank_variable, "RANK");
}

// A batch step has SLURM_PROCID=0, which all that mpirun starts there inherit.
TEST(ReadIdentity, UnderMpirunInABatchStepTheRankIsMpis) {
  const RankIdentity identity = IdentityIn({{"SLURM_PROCID", "0"},
                                            {"SLURM_JOB_ID", "42"},
                                            {"OMPI_COMM_WORLD_RANK", "3"},
                                            {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                            {"OMPI_COMM_WORLD_SIZE", "4"}});
  EXPECT_EQ(identity.rank, 3);
  EXPECT_EQ(identity.local_rank, 1);
  EXPECT_EQ(identity.world_size, 4);
  EXPECT_STREQ(identity.rank_variable, "OMPI_COMM_WORLD_RANK");
  EXPECT_STREQ(identity.run_id, "slurm 42.batch");
}

TEST(ReadIdentity, AnInheritedSlurmProcidIsNoRank) {
  EXPECT_EQ(IdentityIn({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}).rank, -1);  // batch step
  EXPECT_EQ(IdentityIn({{"SLURM_PROCID", "0"},
                        {"SLURM_STEP_ID", "0"},
                        {"SLURM_STEP_NUM_TASKS", "1"}})  // one task that spawns its ranks
                .rank,
            -1);
}

TEST(ReadIdentity, TakesSlurmsRankInAStepOfSeveralTasks) {
  const RankIdentity identity = IdentityIn({{"SLURM_PROCID", "6"},
                                            {"SLURM_LOCALID", "2"},
                                            {"SLURM_STEP_ID", "3"},
                                            {"SLURM_STEP_NUM_TASKS", "8"},
                                            {"SLURM_JOB_ID", "42"}});
  EXPECT_EQ(identity.rank, 6);
  EXPECT_EQ(identity.local_rank, 2);
  EXPECT_EQ(identity.world_size, 8);
  EXPECT_STREQ(identity.run_id, "slurm 42.3");
}

// A PyTorchJob's pod sets RANK and WORLD_SIZE for the pod; ranks are made in it.
TEST(ReadIdentity, APodsRankIsNotAProcesss) {
  EXPECT_EQ(IdentityIn({{"RANK", "1"}, {"WORLD_SIZE", "2"}}).rank, -1);
  EXPECT_EQ(
      IdentityIn({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"PMI_RANK", "3"}, {"PMI_SIZE", "4"}}).rank,
      3);
}

TEST(ReadIdentity, OrderOfLaunchers) {
  std::map<std::string, std::string> variables = {{"TUTTI_RANK_VAR", "MY_RANK"},
                                                  {"MY_RANK", "1"},
                                                  {"RANK", "2"},
                                                  {"WORLD_SIZE", "10"},
                                                  {"LOCAL_RANK", "0"},
                                                  {"OMPI_COMM_WORLD_RANK", "3"},
                                                  {"PMIX_RANK", "4"},
                                                  {"MV2_COMM_WORLD_RANK", "5"},
                                                  {"PMI_RANK", "6"},
                                                  {"FLUX_TASK_RANK", "7"},
                                                  {"SLURM_PROCID", "8"},
                                                  {"SLURM_STEP_ID", "0"},
                                                  {"SLURM_STEP_NUM_TASKS", "10"}};
  int32_t expected = 1;
  for (const char* variable :
       {"MY_RANK", "RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK",
        "FLUX_TASK_RANK", "SLURM_PROCID"}) {
    const RankIdentity identity = IdentityIn(variables);
    EXPECT_EQ(identity.rank, expected++);
    EXPECT_STREQ(identity.rank_variable, variable);
    variables.erase(variable);
  }
  EXPECT_EQ(IdentityIn(variables).rank, -1);
}

TEST(ReadIdentity, WhatIsNoNumberInRangeCountsAsAbsent) {
  for (const char* rank : {"", "-1", "x", "3x", " 3", "99999999999999", "8"}) {
    EXPECT_EQ(IdentityIn({{"RANK", rank}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "0"}}).rank, -1)
        << rank;
  }
}

TEST(ReadIdentity, TheRunIsNamedByItsRendezvousWhereTorchrunCallsItNone) {
  EXPECT_STREQ(
      IdentityIn(
          {{"TORCHELASTIC_RUN_ID", "none"}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"}})
          .run_id,
      "node1:29500");
}

TEST(ReadIdentity, TuttisOwnAttemptBeatsTorchelastics) {
  EXPECT_EQ(IdentityIn({{"TUTTI_RANK_ATTEMPT", "3"}, {"TORCHELASTIC_RESTART_COUNT", "1"}}).attempt,
            3);
}

constexpr char kToken[] = "000102030405060708090a0b0c0d0eff";

TEST(ParseSession, TakesPathAndTokenApart) {
  SessionAddress address;
  ASSERT_EQ(ParseSession((std::string("/run/x:y/socket:") + kToken).c_str(), &address), nullptr);
  EXPECT_STREQ(address.socket.sun_path, "/run/x:y/socket");
  EXPECT_EQ(address.token[1], 1);
  EXPECT_EQ(address.token[15], 0xff);
}

TEST(ParseSession, RefusesWhatIsMalformed) {
  SessionAddress address;
  const std::string token = kToken;
  for (const std::string& text :
       {std::string(""), std::string("/run/socket"), ":" + token, "/run/socket:" + token + "0",
        "/run/socket:" + token.substr(1), "/run/socket:" + token.substr(1) + "g",
        "/" + std::string(120, 'x') + ":" + token}) {
    EXPECT_NE(ParseSession(text.c_str(), &address), nullptr) << text;
  }
}

}  // namespace
}  // namespace tutti::tracer
