#include "collector/importers/captures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "schema/testing/scratch.h"

namespace tutti::collector::importers {
namespace {

using ::testing::HasSubstr;

// Told inside the file.
CaptureClaim Told(int64_t rank, std::string path, int64_t begin_ns = 0) {
  return {.rank = rank,
          .is_told_inside = true,
          .world_size = 2,
          .path = std::move(path),
          .begin_ns = begin_ns,
          .end_ns = begin_ns + 10};
}
// Told by the file's name.
CaptureClaim Named(int64_t rank, std::string path, int64_t begin_ns = 0) {
  CaptureClaim claim = Told(rank, std::move(path), begin_ns);
  claim.is_told_inside = false;
  return claim;
}

TEST(WhySeveralRuns, SaysNothingOfOne) {
  EXPECT_EQ(WhySeveralRuns({}), "");
  EXPECT_EQ(WhySeveralRuns({Told(0, "a/0.json")}), "");
  EXPECT_EQ(WhySeveralRuns({Told(0, "a/0.json"), Told(1, "b/0.json")}), "");
}

TEST(WhySeveralRuns, TellsFoldersApart) {
  EXPECT_EQ(WhySeveralRuns({Told(0, "d/a/0.json"), Told(1, "d/a/1.json"), Told(0, "d/b/0.json")}),
            "these are traces of 2 runs, each with a rank 0 of its own: d/a, d/b; "
            "import one at a time");
}

// Ranks of one node each that call themselves by their place there.
TEST(WhySeveralRuns, TellsTracesWithoutARankOfDifferentTimesApart) {
  const auto unknown = [](std::string path, int64_t begin_ns) {
    CaptureClaim claim = Named(0, std::move(path), begin_ns);
    claim.rank.reset();
    return claim;
  };
  EXPECT_THAT(WhySeveralRuns({unknown("d/a.json", 0), unknown("d/b.json", 20)}),
              HasSubstr("none says its rank: d/a.json, d/b.json; import one at a time"));
  EXPECT_EQ(WhySeveralRuns({unknown("d/a.json", 0), unknown("d/b.json", 5)}), "");
  EXPECT_EQ(WhySeveralRuns({unknown("d/a.json", 0), Named(1, "d/b1.json", 20)}), "");
  EXPECT_EQ(WhySeveralRuns({unknown("rank_0/t.json", 0), unknown("rank_1/t.json", 20)}), "");
}

TEST(WhySeveralRuns, DoesNotTellNodesApartThatRanAtOnce) {
  EXPECT_EQ(WhySeveralRuns({Named(0, "node0/rank0.json"), Named(0, "node1/rank0.json")}), "");
  EXPECT_THAT(WhySeveralRuns({Named(0, "i10/rank0.json"), Named(0, "i20/rank0.json", 50)}),
              HasSubstr("2 runs"));
}

TEST(WhySeveralRuns, LeavesFoldersThatAreRanks) {
  EXPECT_EQ(WhySeveralRuns({Told(0, "rank_0/t.json"), Told(0, "rank_1/t.json")}), "");
}

TEST(WhySeveralRuns, TellsNamesApart) {
  EXPECT_THAT(WhySeveralRuns({Told(0, "d/a_rank0.json"), Told(1, "d/a_rank1.json"),
                              Told(0, "d/b_rank0.json"), Told(1, "d/b_rank1.json")}),
              HasSubstr("d/a_rank#.json, d/b_rank#.json"));
  // One file more of one rank is a copy, or a process that was restarted.
  EXPECT_EQ(WhySeveralRuns({Told(7, "d/rank7.json"), Told(7, "d/copy_of_rank7.json")}), "");
  EXPECT_EQ(WhySeveralRuns({Told(0, "d/rank0.json"), Told(1, "d/rank1.json"),
                            Told(1, "d/rank1_again.json", 50)}),
            "");
}

TEST(WhySeveralRuns, TellsTimesApart) {
  EXPECT_EQ(WhySeveralRuns({Named(0, "worker0.111.json"), Named(0, "worker0.222.json", 50)}),
            "each rank was traced 2 times, one after another (rank 0: worker0.111.json, "
            "worker0.222.json); import the files of one time at once");
}

TEST(WhySeveralRuns, TellsSizesOfJobsApart) {
  CaptureClaim other = Told(1, "b.json");
  other.world_size = 8;
  EXPECT_THAT(WhySeveralRuns({Told(0, "a.json"), other}),
              HasSubstr("a.json is of 2 ranks, b.json of 8"));
}

TEST(RanksFromFolders, AreTakenWhereTheyTellAllApart) {
  using Ranks = std::vector<std::optional<int64_t>>;
  EXPECT_EQ(RanksFromFolders({{.path = "rank_3/t"}, {.path = "rank_1/t"}}), (Ranks{3, 1}));
  EXPECT_EQ(RanksFromFolders({{.path = "rank_3/t"}, {.path = "rank_3/u"}}), Ranks(2));
  EXPECT_EQ(RanksFromFolders({{.path = "rank_3/t"}}), Ranks(1));
  EXPECT_EQ(RanksFromFolders({{.path = "rank_3/t"}, {.path = "x/t"}}), Ranks(2));
}

TEST(LooksLikeCopy, IsTheOneWithTheLongerName) {
  EXPECT_TRUE(LooksLikeCopy(Told(0, "a (1).json"), Told(0, "a.json")));
  EXPECT_FALSE(LooksLikeCopy(Told(0, "a.json"), Told(0, "a (1).json")));
  EXPECT_FALSE(LooksLikeCopy(Told(0, "a.json"), Told(0, "a.json")));
  EXPECT_FALSE(LooksLikeCopy(Told(0, "bb.json"), Told(1, "b.json")));
  EXPECT_FALSE(LooksLikeCopy(Told(0, "bb.json", 5), Told(0, "b.json")));
}

TEST(HaveEqualContent, ComparesAllBytes) {
  const schema::testing::Scratch scratch;
  const std::string long_text(600'000, 'x');
  std::ofstream(scratch.Path("a")) << long_text << "1";
  std::ofstream(scratch.Path("b")) << long_text << "1";
  std::ofstream(scratch.Path("c")) << long_text << "2";
  std::ofstream(scratch.Path("d")) << long_text;
  EXPECT_TRUE(HaveEqualContent(scratch.Path("a"), scratch.Path("b")));
  EXPECT_FALSE(HaveEqualContent(scratch.Path("a"), scratch.Path("c")));
  EXPECT_FALSE(HaveEqualContent(scratch.Path("a"), scratch.Path("d")));
  EXPECT_FALSE(HaveEqualContent(scratch.Path("a"), scratch.Path("none")));
}

}  // namespace
}  // namespace tutti::collector::importers
