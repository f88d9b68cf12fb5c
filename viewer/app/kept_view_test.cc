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
    state.ToggleMark(50);
    rows = KeysOf(state.tree().rows);
    ASSERT_TRUE(WriteKeptView(state.Kept(), path).ok());
  }
  State state = StateOf(run);
  EXPECT_NE(KeysOf(state.tree().rows), rows);
  state.Restore(ReadKeptView(path));
  EXPECT_EQ(KeysOf(state.tree().rows), rows);
  EXPECT_EQ(KeysOf(state.tree().pinned), (std::vector<std::string>{"r1"}));
  EXPECT_EQ(state.marks, (std::vector<int64_t>{50}));
}

TEST(KeptView, IsEmptyWithoutAFileAndMakesNone) {
  const schema::testing::Scratch scratch;
  const std::string path = scratch.Path("rows/x.txt");
  EXPECT_EQ(TextOf(ReadKeptView(path)), "");
  EXPECT_TRUE(WriteKeptView(KeptView(), path).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(WriteKeptView({{}, {1}}, "/proc/none/x.txt").ok());
}

TEST(KeptView, PassesOverWhatMeansNothing) {
  const KeptView kept = ParseKeptView(
      "pinned\tr0\nflies\tr1\nmark\tsoon\nmark\t7\nmoved\tr1\n\nhidden\n\t\nmoved\tr1\t\n");
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
