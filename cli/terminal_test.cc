#include "cli/terminal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

namespace tutti::cli {
namespace {

TEST(Printable, ReplacesControlCharactersAndKeepsTheRest) {
  EXPECT_EQ(Printable("a\x1b[31mb\tc\n"), "a\uFFFD[31mb\tc\n");
  EXPECT_EQ(Printable("\xC2\x9B"
                      "31m \xC3\xA9 \x7F"),
            "\uFFFD31m \xC3\xA9 \uFFFD");
}

TEST(UseColor, FollowsTheFlagBeforeTheEnvironmentBeforeTheTerminal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  unsetenv("CLICOLOR_FORCE");
  setenv("NO_COLOR", "1", 1);
  EXPECT_TRUE(UseColor(ColorChoice::kAlways, ends[1]));
  EXPECT_FALSE(UseColor(ColorChoice::kAuto, ends[1]));
  unsetenv("NO_COLOR");
  EXPECT_FALSE(UseColor(ColorChoice::kAuto, ends[1])) << "a pipe is no terminal";
  setenv("CLICOLOR_FORCE", "1", 1);
  EXPECT_TRUE(UseColor(ColorChoice::kAuto, ends[1]));
  EXPECT_FALSE(UseColor(ColorChoice::kNever, ends[1]));
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace tutti::cli
