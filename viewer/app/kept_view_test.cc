#include "viewer/app/kept_view.h"

#include <gtest/gtest.h>

#include "schema/testing/scratch.h"
#include "viewer/app/state.h"
#include "viewer/testing/small_run.h"

namespace tutti::viewer {
namespace {

State StateOf(const testing::SmallRun& run) {
  return State(std::make_unique<Session>(run.summary, run.shared_names, run.ranks));
}

std::vector<std::string> KeysOf(const std::vector<Row>& rows) {
  std::vector<std::string> keys;
  for (const Row& row : rows) keys.push_back(row.key);
  return keys;
}

TEST(KeptView, BringsRowsAndMarksBackInAnotherSession) {
  const testing::SmallRun run;
  const schema::testing::Scratch scratch;
  const std::string path = scratch.Path("rows/x.txt");
  std::vector<std::string> rows;
  {
    State state = StateOf(run);
    state.MoveRow("r1", "r0");
    state.TogglePin("r1");
    state.Hide("r0/gpu0");
    state.ToggleOpen("r1");
    state.ToggleDeep("r1/3.0.7");
    state.ShowLevels("r0/3.0.7", 1);
    state.ToggleMark(50);
    rows = KeysOf(state.tree().rows);
    ASSERT_TRUE(WriteKeptView(state.Kept(), path).ok());
  }
  State state = StateOf(run);
  EXPECT_NE(KeysOf(state.tree().rows), rows);
  state.Restore(ReadKeptView(path));
  EXPECT_EQ(KeysOf(state.tree().rows), rows);
  EXPECT_EQ(KeysOf(state.tree().pinned), (std::vector<std::string>{"r1"}));
  EXPECT_EQ(state.choices().levels,
            (std::map<std::string, uint32_t>{{"r0/3.0.7", 1}, {"r1/3.0.7", kAllLevels}}));
  EXPECT_EQ(state.marks, (std::vector<Mark>{{50, ""}}));
}

TEST(KeptView, NotesAreAFileOfTheirOwn) {
  const testing::SmallRun run;
  const schema::testing::Scratch scratch;
  const std::string rows = scratch.Path("rows/x.txt");
  const std::string notes = scratch.Path("run/notes.txt");
  {
    State state = StateOf(run);
    state.marks[state.MarkAt(50)].text = "here\tit\nstalls";
    state.Show(100, 300);
    state.Hide("r0");
    state.KeepView("rank 1 only");
    state.ShowHidden();
    state.TogglePin("r1");
    ASSERT_TRUE(WriteKept(state.Kept(), rows, notes).ok());
  }
  EXPECT_EQ(TextOf(ReadKeptView(rows)), "pinned\tr1\n");
  EXPECT_EQ(TextOf(ReadKeptView(notes)),
            "mark\t50\there it stalls\nview\t100\t300\t0\trank 1 only\nhidden\tr0\n");
  State state = StateOf(run);
  state.Restore(ReadKept(rows, notes));
  EXPECT_EQ(state.marks, (std::vector<Mark>{{50, "here it stalls"}}));
  ASSERT_EQ(state.views.size(), 1U);
  state.ShowView(state.views[0]);
  EXPECT_EQ(KeysOf(state.tree().rows).front(), "r1");
}

TEST(NotesPath, IsInARunsOwnFolderElseBesideTheLayout) {
  const schema::testing::Scratch scratch;
  const std::string run = scratch.Path("run");
  std::filesystem::create_directory(run);
  const std::string layout = "/home/x/.config/tutti/viewer.ini";
  EXPECT_EQ(NotesPath(layout, run + "/", run), run + "/notes.txt");
  // A trace that was imported into the cache.
  const std::string other = NotesPath(layout, scratch.Path("trace.json"), run);
  EXPECT_TRUE(other.starts_with("/home/x/.config/tutti/rows/")) << other;
  EXPECT_NE(other, KeptViewPath(layout, scratch.Path("trace.json")));
  EXPECT_EQ(NotesPath("", "trace.json", run), "");
}

TEST(KeptView, IsEmptyWithoutAFileAndMakesNone) {
  const schema::testing::Scratch scratch;
  const std::string path = scratch.Path("rows/x.txt");
  EXPECT_EQ(TextOf(ReadKeptView(path)), "");
  EXPECT_TRUE(WriteKeptView(KeptView(), path).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(WriteKeptView({{}, {{1, ""}}, {}}, "/proc/none/x.txt").ok());
}

TEST(KeptView, PassesOverWhatMeansNothing) {
  const KeptView kept = ParseKeptView(
      "pinned\tr0\nflies\tr1\nlevels\t0\tr0\nlevels\tr0\nlevels\t3\nmark\tsoon\nmark\t7\nmoved\tr1"
      "\n\nhidden\n\t\nmoved\tr1\t\n"
      "view\t9\t3\t0\tbackward\nview\t1\t2\t0\nview\t1\n");
  EXPECT_EQ(TextOf(kept), "pinned\tr0\nmoved\tr1\t\nmark\t7\n");
  // A key that would end its line is not kept.
  KeptView odd;
  odd.rows.pinned = {"n/a\nhidden\tr0"};
  EXPECT_EQ(TextOf(odd), "");
}

TEST(KeptViewPath, IsOfTheRunAndTheLayoutsFolder) {
  const std::string path = KeptViewPath("/home/x/.config/tutti/viewer.ini", "/runs/a/../b");
  EXPECT_TRUE(path.starts_with("/home/x/.config/tutti/rows/")) << path;
  EXPECT_EQ(path, KeptViewPath("/home/x/.config/tutti/viewer.ini", "/runs/b"));
  EXPECT_NE(path, KeptViewPath("/home/x/.config/tutti/viewer.ini", "/runs/a"));
  EXPECT_EQ(KeptViewPath("", "/runs/b"), "");
}

}  // namespace
}  // namespace tutti::viewer
