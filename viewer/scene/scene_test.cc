#include "viewer/scene/scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "viewer/scene/dump.h"
#include "viewer/scene/path.h"
#include "viewer/testing/scripted_replay.h"
#include "viewer/testing/small_run.h"
#include "viewer/testing/two_small_runs.h"

namespace tutti::viewer {
namespace {

class SceneTest : public ::testing::Test {
 protected:
  Scene Build(const Viewport& viewport) {
    const RowTree tree = BuildRows(run_.summary, run_.ranks, choices_);
    return BuildScene(run_.summary, run_.ranks, tree, {viewport, scroll_y_, 500});
  }
  std::string Dump(const Viewport& viewport) { return DumpScene(Build(viewport), run_.names); }

  // Labels of the rows, in order.
  std::vector<std::string> Labels() {
    std::vector<std::string> labels;
    for (const Row& row : BuildRows(run_.summary, run_.ranks, choices_).rows) {
      labels.push_back(row.label);
    }
    return labels;
  }

  testing::SmallRun run_;
  RowChoices choices_;
  float scroll_y_ = 0;
};

// Where a text differs from the golden is to be judged by a person: the test writes what it got
// beside the golden's name into its working folder.
void ExpectGolden(const std::string& text, const std::string& name) {
  std::ifstream file(std::string(TUTTI_GOLDEN_DIR) + "/" + name);
  std::stringstream golden;
  golden << file.rdbuf();
  if (golden.str() != text) std::ofstream(name) << text;
  EXPECT_EQ(text, golden.str()) << name;
}

TEST_F(SceneTest, WholeRun) { ExpectGolden(Dump({0, 400, 200}), "whole_run.scene.txt"); }

TEST_F(SceneTest, ZoomedIn) { ExpectGolden(Dump({295, 325, 300}), "zoomed_in.scene.txt"); }

TEST_F(SceneTest, ClosedRowsBecomeBands) {
  choices_.flipped = {"r0/3.0.7", "r1"};
  choices_.pinned = {"r1"};
  ExpectGolden(Dump({0, 400, 200}), "closed.scene.txt");
}

TEST_F(SceneTest, TheCriticalPathIsPartOfTheText) {
  Scene scene = Build({0, 400, 400});
  const std::vector<PathPiece> path = testing::ScriptedReplay().CriticalPath();
  scene.path = MarkPath(path, run_.summary, run_.ranks, run_.names, scene);
  scene.rows.clear();
  ExpectGolden(DumpScene(scene, run_.names), "path.scene.txt");
}

TEST(SceneOfTwoRuns, RanksStandAboveEachOtherWithTheirDifference) {
  const testing::TwoSmallRuns runs;
  const RowTree tree = BuildRows(runs.summary, runs.ranks, {});
  const Scene scene = BuildScene(runs.summary, runs.ranks, tree, {{0, 500, 250}, 0, 600});
  ExpectGolden(DumpScene(scene, *runs.shared_names), "two_runs.scene.txt");
}

TEST_F(SceneTest, FilterKeepsTheGroupsAbove) {
  choices_.filter = "memory";
  EXPECT_EQ(Labels(), (std::vector<std::string>{"rank 0", "memory of GPU 0"}));
}

TEST_F(SceneTest, RanksOfSeveralNodesAreGrouped) {
  run_.summary.ranks[1].host = "node1";
  const std::vector<std::string> labels = Labels();
  EXPECT_EQ(labels.front(), "node0  1 rank");
  EXPECT_NE(std::find(labels.begin(), labels.end(), "node1  1 rank"), labels.end());
}

TEST_F(SceneTest, RanksStandBelowTheirGroupsClosed) {
  choices_.groups = {{"pipeline  ranks 0, 1", {1, 0}}};
  choices_.rank_notes = {{1, "stage 0, bubble 23 %"}};
  EXPECT_EQ(Labels(), (std::vector<std::string>{"pipeline  ranks 0, 1",
                                                "rank 1  stage 0, bubble 23 %", "rank 0"}));
  Reveal(run_.summary, run_.ranks, {0, 0, 0, 0}, &choices_);
  EXPECT_NE(FindSceneRow(Build({0, 400, 200}), {0, 0, 0, 0}), nullptr);
}

TEST_F(SceneTest, RowsThatWereDraggedTakeThoseBelowThemAlong) {
  const std::vector<std::string> before = Labels();
  choices_.moves = {{"r1", "r0"}};
  const std::vector<std::string> after = Labels();
  const auto rank_0 = std::find(after.begin(), after.end(), "rank 0");
  EXPECT_EQ(after.front(), "rank 1");
  EXPECT_EQ(
      std::vector<std::string>(after.begin(), rank_0),
      std::vector<std::string>(std::find(before.begin(), before.end(), "rank 1"), before.end()));
  choices_.moves.push_back({"r1", ""});
  EXPECT_EQ(Labels(), before);
  choices_.moves.push_back({"r0", ""});
  EXPECT_EQ(Labels(), after);
  // What is gone, or has another parent, is no place.
  choices_.moves = {{"r7", "r0"}, {"r0", "r7"}, {"r0", "r1/gpu0"}};
  EXPECT_EQ(Labels(), before);
}

TEST_F(SceneTest, ARankThatLoadsShowsItsSteps) {
  run_.ranks[1] = nullptr;
  run_.summary.windows = {{.rank = 1, .step = 0, .begin_ns = 0, .end_ns = 200, .step_ns = 200}};
  run_.summary.breakdowns = {{.rank = 1, .step = 0, .step_ns = 200, .compute_ns = 150}};
  const std::string text = Dump({0, 400, 200});
  EXPECT_NE(text.find("- rank 1"), std::string::npos) << text;
  EXPECT_NE(text.find("[0 101) compute 75%"), std::string::npos) << text;
}

TEST_F(SceneTest, MorePinnedRowsThanThereIsRoomForScroll) {
  for (const Row& row : BuildRows(run_.summary, run_.ranks, choices_).rows) {
    choices_.pinned.push_back(row.key);
  }
  const RowTree tree = BuildRows(run_.summary, run_.ranks, choices_);
  SceneView view{{0, 400, 200}, 0, 200};
  const Scene first = BuildScene(run_.summary, run_.ranks, tree, view);
  EXPECT_EQ(first.pinned_height, 80);
  EXPECT_GT(first.pinned_total, first.pinned_height);
  EXPECT_EQ(first.pinned.front().row.key, tree.pinned.front().key);
  EXPECT_LT(first.pinned.back().y, first.pinned_height);
  view.pinned_scroll = 10'000;
  const Scene last = BuildScene(run_.summary, run_.ranks, tree, view);
  EXPECT_EQ(last.pinned_scroll, last.pinned_total - last.pinned_height);
  EXPECT_EQ(last.pinned.back().row.key, tree.pinned.back().key);
  const SceneRow& bottom = last.pinned.back();
  EXPECT_EQ(bottom.y + bottom.row.height, last.pinned_height);
  EXPECT_EQ(HitTest(last, 0, last.pinned_height - 1).row, &bottom);
}

TEST_F(SceneTest, RowsThatWereBuiltAreTakenAndOthersMade) {
  choices_.pinned = {"r0/3.0.7"};
  const RowTree tree = BuildRows(run_.summary, run_.ranks, choices_);
  const auto build = [&](float scroll_y, std::vector<SceneRow> built = {}) {
    return BuildScene(run_.summary, run_.ranks, tree, {{0, 400, 200}, scroll_y, 150},
                      std::move(built));
  };
  Scene first = build(0);
  std::vector<SceneRow> built = first.rows;
  built.insert(built.end(), first.pinned.begin(), first.pinned.end());
  EXPECT_EQ(DumpScene(build(50, built), run_.names), DumpScene(build(50), run_.names));
  for (SceneRow& row : built) row.unit = "taken";
  const Scene scrolled = build(50, built);
  EXPECT_EQ(scrolled.rows.front().unit, "taken");
  EXPECT_EQ(scrolled.pinned.front().unit, "taken");
  EXPECT_NE(scrolled.rows.back().unit, "taken");
}

TEST_F(SceneTest, HitTestFindsMarks) {
  const Scene scene = Build({0, 400, 400});
  const SceneRow* stream = nullptr;
  for (const SceneRow& row : scene.rows) {
    if (row.row.label == "stream 7") {
      stream = &row;
      break;
    }
  }
  ASSERT_NE(stream, nullptr);
  const Hit hit = HitTest(scene, 140, stream->y + 5);
  ASSERT_NE(hit.mark, nullptr);
  EXPECT_EQ(EventAt(run_.ranks, hit.event)->row_id, 2U);
  EXPECT_EQ(HitTest(scene, 140, stream->y + kLaneHeight + 5).mark->category, Category::kCopy);
  EXPECT_EQ(HitTest(scene, 115, stream->y + 5).mark, nullptr);
  EXPECT_EQ(HitTest(scene, 0, 10'000).row, nullptr);
}

TEST_F(SceneTest, RevealOpensWhatHidesAnEvent) {
  choices_.flipped = {"r0", "r0/gpu0", "r0/3.0.7"};
  choices_.filter = "rank 1";
  Reveal(run_.summary, run_.ranks, {0, 0, 1, 0}, &choices_);
  EXPECT_NE(FindSceneRow(Build({0, 400, 200}), {0, 0, 1, 0}), nullptr);
}

TEST_F(SceneTest, TicksAreRoundTimes) {
  const std::vector<Tick> ticks = TicksOf({1'000'000, 3'000'000, 1000}, 500'000);
  ASSERT_FALSE(ticks.empty());
  EXPECT_EQ(ticks[0].label, "500 µs");
  EXPECT_EQ(ticks[1].label, "1.0 ms");
  EXPECT_NEAR(ticks[1].x, 250, 0.01);
}

// Below ProfilerStep and the like a thread's calls begin.
TEST_F(SceneTest, AThreadsBandShowsWhatIsBelowItsRanges) {
  Track track;
  track.kind = TrackKind::kThread;
  track.lanes = BuildLanes({{.begin_ns = 0, .end_ns = 100, .category = Category::kStep},
                            {.begin_ns = 10, .end_ns = 30, .category = Category::kHost},
                            {.begin_ns = 12, .end_ns = 20, .category = Category::kHost}});
  auto trace = std::make_shared<RankTrace>();
  trace->tracks.push_back(std::move(track));
  const RankTraces ranks = {trace};
  const std::vector<const Lane*> lanes = LanesOf(ranks, {{0, 0}});
  ASSERT_EQ(lanes.size(), 1U);
  EXPECT_EQ(lanes[0], &trace->tracks[0].lanes[1]);
}

}  // namespace
}  // namespace tutti::viewer
