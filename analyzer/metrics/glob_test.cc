#include "analyzer/metrics/glob.h"

#include <gtest/gtest.h>

namespace tutti::analyzer {
namespace {

TEST(Glob, MatchesTheWholeText) {
  EXPECT_TRUE(MatchesGlob("aten::mm", "aten::mm"));
  EXPECT_FALSE(MatchesGlob("aten::mm", "aten::mm_out"));
  EXPECT_FALSE(MatchesGlob("mm", "aten::mm"));
  EXPECT_TRUE(MatchesGlob("", ""));
  EXPECT_FALSE(MatchesGlob("", "a"));
}

TEST(Glob, StarsStandForAnyTextAlsoNone) {
  EXPECT_TRUE(MatchesGlob("*", ""));
  EXPECT_TRUE(MatchesGlob("*mm*", "aten::addmm"));
  EXPECT_TRUE(MatchesGlob("a*b*c", "a--b-b--c"));
  EXPECT_FALSE(MatchesGlob("a*b*c", "a--c--b"));
  EXPECT_TRUE(MatchesGlob("aten::??", "aten::mm"));
}

}  // namespace
}  // namespace tutti::analyzer
