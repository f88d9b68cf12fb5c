#include "viewer/app/state.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <sstream>

#include "viewer/app/commands.h"
#include "viewer/app/script.h"
#include "viewer/testing/small_run.h"
#include "viewer/testing/two_small_runs.h"

namespace tutti::viewer {
namespace {

class StateTest : public ::testing::Test {
 protected:
  StateTest() : StateTest(testing::SmallRun()) {}
  explicit StateTest(const testing::SmallRun& run)
      : state_(std::make_unique<Session>(run.summary, run.shared_names, run.ranks)) {
    state_.SetSize(400, 120);
  }

  TimeRange Shown() const { return {state_.viewport().begin_ns, state_.viewport().end_ns}; }
  std::string SelectedName() {
    const auto event = state_.selected_event();
    return event ? std::string(state_.session().names().Text(event->name)) : "nothing";
  }
  bool IsOnScreen(const EventRef& ref) { return FindSceneRow(state_.scene(), ref) != nullptr; }

  State state_;
};

TEST_F(StateTest, BeginsWithTheWholeRun) {
  EXPECT_LE(Shown().begin_ns, 0);
  EXPECT_GE(Shown().end_ns, 379);
  EXPECT_LT(Shown().end_ns, 420);
}

TEST_F(StateTest, UndoGoesBackAndRedoForward) {
  const TimeRange whole = Shown();
  state_.Show(100, 200);
  state_.Show(120, 150);
  const TimeRange last = Shown();
  EXPECT_TRUE(state_.Undo());
  EXPECT_TRUE(state_.Undo());
  EXPECT_EQ(Shown(), whole);
  EXPECT_FALSE(state_.Undo());
  state_.Redo();
  state_.Redo();
  EXPECT_EQ(Shown(), last);
}

TEST_F(StateTest, GoToBringsRowAndTimeOnScreen) {
  state_.Show(300, 340);
  const EventRef gemm_of_rank_1{1, 0, 0, 0};
  EXPECT_FALSE(IsOnScreen(gemm_of_rank_1));
  state_.GoTo(gemm_of_rank_1);
  EXPECT_TRUE(IsOnScreen(gemm_of_rank_1));
  EXPECT_LE(Shown().begin_ns, 30);
  EXPECT_EQ(SelectedName(), "void Gemm<float>(int)");
}

TEST_F(StateTest, SearchGoesFromMatchToMatchAndRound) {
  state_.Search("nccl");
  EXPECT_EQ(state_.search().result.total, 2);
  state_.GoToHit(1);
  EXPECT_EQ(SelectedName(), "ncclAllReduce");
  EXPECT_EQ(state_.selected()->rank, 0U);
  state_.GoToHit(1);
  EXPECT_EQ(state_.selected()->rank, 1U);
  state_.GoToHit(1);
  EXPECT_EQ(state_.selected()->rank, 0U);
  state_.Search("/(/");
  EXPECT_NE(state_.search().error, "");
}

TEST_F(StateTest, StepsAreGoneThroughAtTheSameZoom) {
  ASSERT_TRUE(state_.GoToPlace("0:10").ok());
  const TimeRange first = Shown();
  state_.GoToNextStep(1);
  EXPECT_EQ(Shown().end_ns - Shown().begin_ns, first.end_ns - first.begin_ns);
  EXPECT_EQ(state_.CurrentStep(), 1);
  state_.GoToNextStep(1);  // there is none
  EXPECT_EQ(state_.CurrentStep(), 1);
}

TEST_F(StateTest, PlacesAreCheckedInWords) {
  EXPECT_EQ(state_.GoToPlace("nonsense").code(), StatusCode::kUsage);
  EXPECT_EQ(state_.GoToPlace("0:x").code(), StatusCode::kUsage);
  EXPECT_EQ(state_.GoToPlace("9:10").message(), "no rank 9 in this run");
  EXPECT_EQ(state_.GoToPlace("0:12").message(), "no step 12 in this run");
  EXPECT_TRUE(state_.GoToPlace("1:11:3").ok());
  EXPECT_EQ(state_.selected_event()->row_id, 3U);
}

TEST(StateOfTwoRuns, APlaceNamesItsRun) {
  const testing::TwoSmallRuns runs;
  State state(std::make_unique<Session>(runs.summary, runs.shared_names, runs.ranks));
  ASSERT_TRUE(state.GoToPlace("B1:11:2").ok());
  EXPECT_EQ(state.selected()->rank, 3U);
  EXPECT_EQ(state.selected_event()->begin_ns, 250);
  ASSERT_TRUE(state.GoToPlace("A0:10").ok());
  ASSERT_TRUE(state.GoToPlace("0:10").ok());
  EXPECT_EQ(state.GoToPlace("B7:10").message(), "no B rank 7 in this run");
}

// Rank 1 on a host whose clock is 50 ns ahead, known to 20 ns.
class StateOfTwoHosts : public StateTest {
 protected:
  StateOfTwoHosts() : StateTest(Run()) {}

 private:
  static testing::SmallRun Run() {
    testing::SmallRun run;
    run.summary.ranks[1].clock_domain = 1;
    run.summary.ranks[1].clock_offset_ns = -50;
    run.summary.ranks[1].clock_error_ns = 20;
    return run;
  }
};

TEST_F(StateOfTwoHosts, OwnClocksMoveARanksEventsAndBack) {
  const EventRef gemm{1, 0, 0, 0};
  state_.ShowOwnClocks(true);
  EXPECT_EQ(EventAt(state_.ranks(), gemm)->begin_ns, 80);
  EXPECT_EQ(EventAt(state_.ranks(), {0, 0, 0, 0})->begin_ns, 0);
  EXPECT_EQ(state_.extent().end_ns, 379);
  state_.SelectRange(70, 80);
  EXPECT_EQ(state_.range_totals().count, 1) << "rank 0's alone";
  state_.ShowOwnClocks(false);
  EXPECT_EQ(EventAt(state_.ranks(), gemm)->begin_ns, 30);
  EXPECT_EQ(state_.range_totals().count, 2);
}

TEST_F(StateOfTwoHosts, ASelectedEventHasWhiskersWhileTimesAreAligned) {
  state_.SetSize(400, 500);
  state_.GoTo({1, 0, 0, 0});
  const Viewport& viewport = state_.viewport();
  ASSERT_EQ(state_.scene().whiskers.size(), 1U);
  EXPECT_NEAR(state_.scene().whiskers[0].x0, viewport.ToX(10), 0.1);
  EXPECT_NEAR(state_.scene().whiskers[0].x1, viewport.ToX(50), 0.1);
  state_.ShowOwnClocks(true);
  EXPECT_TRUE(state_.scene().whiskers.empty());
  state_.ShowOwnClocks(false);
  state_.Deselect();
  EXPECT_TRUE(state_.scene().whiskers.empty());
}

TEST_F(StateTest, OneClockIsSaidToBeOne) {
  state_.ShowOwnClocks(true);
  EXPECT_FALSE(state_.shows_own_clocks());
  EXPECT_NE(state_.message, "");
}

TEST_F(StateTest, StragglersArePinnedAndUnpinned) {
  state_.TogglePinnedStragglers();
  EXPECT_NE(state_.message, "") << "the small run tells no parts of steps";
  const testing::TwoSmallRuns runs;
  State state(std::make_unique<Session>(runs.summary, runs.shared_names, runs.ranks));
  state.TogglePin("r1");
  state.TogglePinnedStragglers();
  ASSERT_EQ(state.tree().pinned.size(), 3U);
  std::set<std::string> badges;
  for (const Row& row : state.tree().pinned) badges.insert(row.badge);
  EXPECT_EQ(badges, (std::set<std::string>{"slowest", "median", "fastest"}));
  state.TogglePinnedStragglers();
  EXPECT_TRUE(state.tree().pinned.empty());
}

TEST_F(StateTest, DurationsAreSearchedAndGoneThrough) {
  state_.Search("Gemm");
  const NameId gemm = *state_.search().result.names.begin();
  state_.SearchDurations(gemm, 100, 120);
  ASSERT_EQ(state_.search().result.hits.size(), 1U);
  state_.GoToHit(1);
  EXPECT_EQ(state_.selected_event()->row_id, 1U);
  EXPECT_EQ(state_.search().text, "void Gemm<float>(int) of 100 ns to 120 ns");
  state_.Search("");
  EXPECT_FALSE(state_.search().durations.has_value());
}

TEST_F(StateTest, ARangeIsSummedUp) {
  state_.SelectRange(290, 100);
  EXPECT_EQ(state_.range()->begin_ns, 100);
  const RangeTotals& totals = state_.range_totals();
  EXPECT_EQ(totals.names.front().total_ns, 10 + 90 + 60 + 60);  // Gemm on both ranks
  state_.SelectRange(300, 310);
  EXPECT_EQ(state_.range_totals().names.front().count, 5);
}

TEST_F(StateTest, AMarkIsRemovedWhereItIs) {
  state_.ToggleMark(50);
  state_.ToggleMark(20);
  EXPECT_EQ(state_.marks, (std::vector<Mark>{{20, ""}, {50, ""}}));
  EXPECT_EQ(state_.MarkAt(50), 1U);
  state_.ToggleMark(51);
  EXPECT_EQ(state_.marks, (std::vector<Mark>{{20, ""}}));
}

TEST_F(StateTest, ANamedViewBringsPlaceAndRowsBack) {
  state_.Show(100, 200);
  state_.TogglePin("r1");
  state_.KeepView("late");
  state_.TogglePin("r1");
  state_.Hide("r0");
  state_.ShowWhole();
  ASSERT_EQ(state_.views.size(), 1U);
  state_.ShowView(state_.views[0]);
  EXPECT_EQ(state_.viewport().begin_ns, 100);
  EXPECT_EQ(state_.viewport().end_ns, 200);
  EXPECT_EQ(state_.tree().pinned.size(), 1U);
  EXPECT_TRUE(state_.choices().hidden.empty());
  // The same name is the same view.
  state_.Show(0, 50);
  state_.KeepView("late");
  ASSERT_EQ(state_.views.size(), 1U);
  EXPECT_EQ(state_.views[0].end_ns, 50);
}

TEST_F(StateTest, AViewGlidesToItsGoalAndCanBeSentElsewhereOnItsWay) {
  state_.Show(0, 400);
  state_.animates = true;
  const Viewport from = state_.viewport();
  state_.Show(100, 200);
  EXPECT_EQ(state_.viewport(), from);
  state_.Advance(0.05);
  EXPECT_LT(state_.viewport().span_ns(), from.span_ns());
  EXPECT_GT(state_.viewport().span_ns(), 100);
  EXPECT_TRUE(state_.is_gliding());
  state_.Show(150, 250);
  state_.Advance(1);
  EXPECT_EQ(state_.viewport().begin_ns, 150);
  EXPECT_FALSE(state_.is_gliding());
  // Back goes to where it was sent, not to where it was on its way.
  state_.Undo();
  state_.Advance(1);
  EXPECT_EQ(state_.viewport().begin_ns, 100);
  // A drag is below the pointer at once.
  const int64_t begin = state_.viewport().begin_ns;
  state_.DragBy(10);
  EXPECT_GT(state_.viewport().begin_ns, begin);
  EXPECT_FALSE(state_.is_gliding());
}

TEST_F(StateTest, ScenesAreBuiltOnlyWhenSomethingChanged) {
  state_.scene();
  const int built = state_.scenes_built();
  state_.scene();
  state_.Update();
  EXPECT_EQ(state_.scenes_built(), built);
  state_.PanBy(10);
  state_.scene();
  EXPECT_EQ(state_.scenes_built(), built + 1);
}

TEST_F(StateTest, DetailsSayWhatIsMissing) {
  state_.Select({0, 0, 0, 0});
  ASSERT_FALSE(state_.details().columns.empty());
  EXPECT_EQ(state_.details().columns[0].first, "not available");
  EXPECT_TRUE(state_.links().empty());
}

// Ten thousand commands in any order: nothing that can be asked for breaks anything.
TEST_F(StateTest, SurvivesAMonkey) {
  std::mt19937 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const Command& command = Commands()[random() % Commands().size()];
    const Pointer pointer{random() % 2 == 0, static_cast<float>(random() % 500) - 50,
                          static_cast<float>(random() % 300) - 50};
    command.run(state_, pointer);
    if (i % 7 == 0)
      state_.Select(
          {static_cast<uint32_t>(random() % 3), 0, 0, static_cast<uint32_t>(random() % 50)});
    if (i % 11 == 0)
      state_.SetSize(static_cast<int>(random() % 800), static_cast<float>(random() % 400));
    if (i % 13 == 0) state_.Search(random() % 2 == 0 ? "a" : "");
    if (i % 17 == 0) state_.Filter(random() % 2 == 0 ? "rank 1" : "");
    ASSERT_LT(state_.viewport().begin_ns, state_.viewport().end_ns);
    ASSERT_GE(state_.viewport().span_ns(), Viewport::kShortestNs);
    ASSERT_LE(state_.scene().viewport.span_ns(), 500);
  }
}

TEST(Commands, HaveDistinctNamesAndKeys) {
  std::set<std::string> names;
  std::set<std::string> keys;
  for (const Command& command : Commands()) {
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    std::istringstream words(command.keys);
    for (std::string key; words >> key;) EXPECT_TRUE(keys.insert(key).second) << key;
  }
  EXPECT_EQ(FindCommand("no-such-command"), nullptr);
}

TEST(ParseScript, TellsWhichLineIsWrong) {
  const auto lines = ParseScript("# a comment\n\n goto 1:2\nsearch all reduce\n");
  ASSERT_TRUE(lines.ok());
  ASSERT_EQ(lines->size(), 2U);
  EXPECT_EQ((*lines)[0].number, 3);
  EXPECT_EQ((*lines)[1].rest, "all reduce");
  EXPECT_EQ(ParseScript("fly").status().message(), "script line 1: there is no action 'fly'");
  EXPECT_EQ(ParseScript("click 3").status().message(), "script line 1: 'click' needs 2 words");
}

}  // namespace
}  // namespace tutti::viewer
