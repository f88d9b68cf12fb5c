#include "collector/importers/rank_assignment.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tutti::collector::importers {
namespace {

std::vector<int64_t> RanksOf(const std::vector<RankAnswer>& answers) {
  std::vector<int64_t> ranks;
  for (const RankAnswer& answer : answers) ranks.push_back(answer.rank);
  return ranks;
}

TEST(RankFromFileName, KnowsTheUsualNames) {
  EXPECT_EQ(RankFromFileName("rank7.json"), 7);
  EXPECT_EQ(RankFromFileName("rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz"), 0);
  EXPECT_EQ(RankFromFileName("sampled_rank-12.json.gz"), 12);
  EXPECT_EQ(RankFromFileName("nccl_trace_rank_3"), 3);
  EXPECT_EQ(RankFromFileName("Rank_00015.trace.json"), 15);
  EXPECT_EQ(RankFromFileName("worker3.pt.trace.json"), 3);
  EXPECT_EQ(RankFromFileName("copy_of_rank7.json"), 7);
}

TEST(RankFromFileName, TakesTheLastOfSeveral) {
  EXPECT_EQ(RankFromFileName("rank0_of_node_rank_5.json"), 5);
}

TEST(RankFromFileName, IsNotFooledByOtherWords) {
  EXPECT_EQ(RankFromFileName("trace.json"), std::nullopt);
  EXPECT_EQ(RankFromFileName("shrank7.json"), std::nullopt);
  EXPECT_EQ(RankFromFileName("rank.json"), std::nullopt);
  EXPECT_EQ(RankFromFileName("rank7x.json"), std::nullopt);
  EXPECT_EQ(RankFromFileName("rank--7.json"), std::nullopt);
  EXPECT_EQ(RankFromFileName("rank99999999999999999999.json"), std::nullopt);
  EXPECT_EQ(RankFromFileName("r0-run.111.pt.trace.json"), std::nullopt);
}

TEST(AssignRanks, KeepsWhatTheFilesTell) {
  EXPECT_EQ(RanksOf(AssignRanks({{.rank = 3}, {.rank = 0}, {.rank = 1}})),
            (std::vector<int64_t>{3, 0, 1}));
}

// The file whose name agrees is believed, though it comes second.
TEST(AssignRanks, KeepsBothOfTwoThatClaimOneRank) {
  const auto answers = AssignRanks({{.rank = 7, .file_name = "copy_of_it.json"},
                                    {.rank = 7, .file_name = "rank7.json"},
                                    {.rank = 7, .file_name = "other.json"}});
  EXPECT_EQ(RanksOf(answers), (std::vector<int64_t>{0, 7, 1}));
  EXPECT_EQ(answers[0].conflict_with, 1u);
  EXPECT_EQ(answers[1].conflict_with, std::nullopt);
  EXPECT_EQ(answers[2].conflict_with, 1u);
}

TEST(AssignRanks, TellsACopyByItsLongerName) {
  const auto answers = AssignRanks({{.rank = 7, .file_name = "copy_of_rank7.json"},
                                    {.rank = 7, .file_name = "rank7 (1).json"},
                                    {.rank = 7, .file_name = "rank7.json"}});
  EXPECT_EQ(RanksOf(answers), (std::vector<int64_t>{0, 1, 7}));
}

TEST(AssignRanks, GivesTheFirstTheRankWhereNoNameAgrees) {
  const auto answers = AssignRanks({{.rank = 2, .file_name = "a"}, {.rank = 2, .file_name = "b"}});
  EXPECT_EQ(RanksOf(answers), (std::vector<int64_t>{2, 0}));
}

TEST(AssignRanks, AssumesTheDeviceElseTheLowestFree) {
  const auto answers =
      AssignRanks({{.rank = 0}, {.device = 2}, {.device = 2}, {.device = {}}, {.device = 0}});
  EXPECT_EQ(RanksOf(answers), (std::vector<int64_t>{0, 2, 1, 3, 4}));
  EXPECT_FALSE(answers[0].is_assumed);
  for (size_t i = 1; i < answers.size(); ++i) EXPECT_TRUE(answers[i].is_assumed);
}

TEST(AssignRanks, TakesATraceByItselfForRank0) {
  EXPECT_EQ(RanksOf(AssignRanks({{.device = 3}})), std::vector<int64_t>{0});
}

TEST(AssignRanks, TakesNonsenseForNoRank) {
  const auto answers = AssignRanks({{.rank = -1}, {.rank = INT64_MAX}});
  EXPECT_EQ(RanksOf(answers), (std::vector<int64_t>{0, 1}));
  EXPECT_TRUE(answers[0].is_assumed);
  EXPECT_TRUE(answers[1].is_assumed);
}

}  // namespace
}  // namespace tutti::collector::importers
