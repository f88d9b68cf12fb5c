#include "viewer/scene/path.h"

#include <gtest/gtest.h>

#include <random>

#include "viewer/testing/scripted_replay.h"
#include "viewer/testing/small_run.h"

namespace tutti::viewer {
namespace {

class PathTest : public ::testing::Test {
 protected:
  Scene Build(const Viewport& viewport) {
    const RowTree tree = BuildRows(run_.summary, run_.ranks, choices_);
    return BuildScene(run_.summary, run_.ranks, tree, {viewport, 0, 500});
  }
  std::vector<PathMark> Marks(const std::vector<PathPiece>& pieces, const Scene& scene) {
    return MarkPath(pieces, run_.summary, run_.ranks, run_.names, scene);
  }
  // The row that the mark is on.
  static std::string RowOf(const Scene& scene, const PathMark& mark) {
    for (const SceneRow& row : scene.rows) {
      if (mark.y > row.y && mark.y <= row.y + row.row.height) {
        return "r" + std::to_string(row.row.rank) + " " + row.row.label;
      }
    }
    return "none";
  }

  testing::SmallRun run_;
  RowChoices choices_;
  std::vector<PathPiece> path_ = testing::ScriptedReplay().CriticalPath();
};

// ns      0   30      160 200      290    400
// rank 0  [===)           [========)........)
// rank 1      [========)[=)
TEST_F(PathTest, GoesAlongTheEventsThatWereWaitedFor) {
  const Scene scene = Build({0, 400, 400});
  const std::vector<PathMark> marks = Marks(path_, scene);
  ASSERT_EQ(marks.size(), 4U);
  EXPECT_EQ(RowOf(scene, marks[0]), "r0 stream 7");
  EXPECT_FLOAT_EQ(marks[0].x1, 30);
  EXPECT_EQ(RowOf(scene, marks[1]), "r1 stream 7");
  EXPECT_FLOAT_EQ(marks[1].x0, 30);
  EXPECT_FLOAT_EQ(marks[1].x1, 200) << "gemm and all-reduce, one after the other on one level";
  EXPECT_EQ(RowOf(scene, marks[2]), "r0 stream 7");
  EXPECT_EQ(RowOf(scene, marks[3]), "r0 rank 0") << "nothing ran: the rank's own row";
}

TEST_F(PathTest, AClosedRankHasItOnItsOwnRow) {
  choices_.flipped = {"r1"};
  const Scene scene = Build({0, 400, 400});
  EXPECT_EQ(RowOf(scene, Marks(path_, scene)[1]), "r1 rank 1");
}

TEST_F(PathTest, WhatIsOffScreenIsLeftOut) {
  const Scene scene = Build({210, 280, 400});
  const std::vector<PathMark> marks = Marks(path_, scene);
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_LE(marks[0].x0, 0);
  EXPECT_GE(marks[0].x1, 400);
}

// However many pieces there are, there are no more marks than pixels, and none overlap.
TEST_F(PathTest, HasNoMoreMarksThanPixels) {
  std::mt19937 random(5);
  std::vector<PathPiece> pieces;
  int64_t now = 0;
  for (int i = 0; i < 20'000; ++i) {
    const int64_t next = now + static_cast<int64_t>(random() % 3);
    pieces.push_back({static_cast<int64_t>(random() % 2), 0, "idle", "", now, next});
    now = next;
  }
  const Scene scene = Build({0, now, 300});
  const std::vector<PathMark> marks = Marks(pieces, scene);
  EXPECT_GT(marks.size(), 100U);
  EXPECT_LE(marks.size(), 302U);
  for (size_t i = 1; i < marks.size(); ++i) EXPECT_LT(marks[i - 1].x0, marks[i].x0);
}

}  // namespace
}  // namespace tutti::viewer
