#include "viewer/model/progress.h"

#include <gtest/gtest.h>

namespace tutti::viewer {
namespace {

Collective At(int64_t id, int64_t sequence, std::vector<schema::CollectiveCallRow> calls) {
  Collective collective;
  collective.row.id = id;
  collective.row.communicator_id = 5;
  collective.row.sequence = sequence;
  collective.calls = std::move(calls);
  return collective;
}

// Ranks 0 and 2 are in collective 8, of which 2 has not begun; rank 1 is still before it.
TEST(ProgressOf, TheRankThatIsMissingComesFirst) {
  RunSummary summary;
  summary.communicators.push_back({.id = 5, .backend = "nccl", .description = "default_pg"});
  summary.collectives = {
      At(1, 7,
         {{.rank = 0, .arrival_ns = 10, .end_ns = 20},
          {.rank = 1, .arrival_ns = 10, .end_ns = 20},
          {.rank = 2, .arrival_ns = 10, .end_ns = 20}}),
      At(2, 8, {{.rank = 0, .enqueue_ns = 25, .arrival_ns = 30}, {.rank = 2, .enqueue_ns = 31}})};
  const std::vector<GroupProgress> groups = ProgressOf(summary);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].label, "nccl default_pg");
  ASSERT_EQ(groups[0].ranks.size(), 3U);
  EXPECT_EQ(groups[0].ranks[0].rank, 1);
  EXPECT_EQ(groups[0].ranks[0].behind, 1);
  EXPECT_EQ(groups[0].ranks[0].last_collective, 1);
  EXPECT_EQ(groups[0].ranks[1].begun, 8);
  EXPECT_EQ(groups[0].ranks[1].done, 7);
  EXPECT_EQ(groups[0].ranks[2].begun, 7);
  EXPECT_EQ(groups[0].ranks[2].called, 8);
  EXPECT_EQ(groups[0].ranks[2].behind, 0);
}

TEST(ProgressOf, TransfersBetweenTwoRanksAreNoProgressOfTheGroup) {
  RunSummary summary;
  summary.collectives = {At(1, 7, {{.rank = 0}, {.rank = 1}}), At(2, 9, {{.rank = 0}})};
  summary.collectives[1].row.op = "send";
  EXPECT_EQ(ProgressOf(summary)[0].ranks[0].behind, 0);
}

TEST(ProgressOf, WithoutSequencesThereIsNothingToTell) {
  RunSummary summary;
  summary.collectives = {At(1, 7, {{.rank = 0}})};
  summary.collectives[0].row.sequence.reset();
  EXPECT_TRUE(ProgressOf(summary).empty());
}

}  // namespace
}  // namespace tutti::viewer
