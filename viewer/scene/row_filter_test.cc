#include "viewer/scene/row_filter.h"

#include <gtest/gtest.h>

#include "viewer/scene/rows.h"
#include "viewer/testing/small_run.h"

namespace tutti::viewer {
namespace {

std::vector<std::string> LabelsOf(const testing::SmallRun& run, const std::string& filter) {
  RowChoices choices;
  choices.filter = filter;
  std::vector<std::string> labels;
  for (const Row& row : BuildRows(run.summary, run.ranks, choices).rows) {
    labels.push_back(row.label);
  }
  return labels;
}

TEST(RowFilter, ReadsRanksCategoriesAndText) {
  const RowFilter filter = ParseRowFilter(" ranks:0-3,8 GPU  category:com 0 ");
  EXPECT_EQ(filter.text, "GPU 0");
  for (const int64_t rank : {0, 3, 8}) EXPECT_TRUE(filter.WantsRank(rank)) << rank;
  for (const int64_t rank : {4, 7, 9}) EXPECT_FALSE(filter.WantsRank(rank)) << rank;
  EXPECT_EQ(filter.categories->count(), 2U);  // compute, communication
  EXPECT_TRUE(ParseRowFilter("").is_empty());
}

TEST(RowFilter, WhatIsHalfTypedSaysNothingYet) {
  EXPECT_TRUE(ParseRowFilter("ranks:").is_empty());
  EXPECT_TRUE(ParseRowFilter("category:").is_empty());
  EXPECT_TRUE(ParseRowFilter("ranks:x").is_empty());
  EXPECT_TRUE(ParseRowFilter("ranks:2-").WantsRank(2));
  EXPECT_FALSE(ParseRowFilter("ranks:2-").WantsRank(3));
  EXPECT_TRUE(ParseRowFilter("ranks:1,99999999999999999999").WantsRank(1));
}

TEST(RowFilter, KeepsARanksRowsOrThoseWithACategory) {
  const testing::SmallRun run;
  EXPECT_EQ(LabelsOf(run, "ranks:1"), (std::vector<std::string>{"rank 1", "GPU 0", "stream 7"}));
  EXPECT_EQ(LabelsOf(run, "rank:0 memory"),
            (std::vector<std::string>{"rank 0", "memory of GPU 0"}));
  EXPECT_EQ(LabelsOf(run, FilterFor(Category::kCopy)),
            (std::vector<std::string>{"rank 0", "GPU 0", "stream 7"}));
  EXPECT_TRUE(LabelsOf(run, "category:nothing").empty());
  EXPECT_TRUE(LabelsOf(run, FilterFor(Category::kLoader)).empty());
}

TEST(RowFilter, PinnedRowsStay) {
  const testing::SmallRun run;
  RowChoices choices;
  choices.pinned = {"r1"};
  choices.filter = "ranks:0";
  const RowTree tree = BuildRows(run.summary, run.ranks, choices);
  ASSERT_EQ(tree.pinned.size(), 1U);
  EXPECT_EQ(tree.pinned[0].label, "rank 1");
  EXPECT_EQ(tree.rows.front().label, "rank 0");
}

}  // namespace
}  // namespace tutti::viewer
