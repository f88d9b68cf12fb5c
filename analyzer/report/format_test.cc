#include "analyzer/report/format.h"

#include <gtest/gtest.h>

namespace tutti::analyzer {
namespace {

TEST(Format, ASavingIsWhatAReplayTellsElseTheBound) {
  EXPECT_EQ(SavingOf(13'850'000, 0.699, {}), "up to 13.850 ms per step (69.9 %)");
  EXPECT_EQ(SavingOf(13'850'000, 0.7, 6'925'000),
            "saves 6.925 ms per step (35.0 %), at most 13.850 ms");
}

TEST(Format, Numbers) {
  EXPECT_EQ(Milliseconds(4209876), "4.210");
  EXPECT_EQ(Bytes(512), "512 B");
  EXPECT_EQ(Bytes(1605632), "1.5 MiB");
  EXPECT_EQ(Bytes(20 << 10), "20 KiB");
  EXPECT_EQ(Rate(19968.4), "19,968");
  EXPECT_EQ(Rate(3.4149), "3.41");
  EXPECT_EQ(PercentOf(1, 3), "33.3 %");
  EXPECT_EQ(PercentOf(1, 0), "-");
}

TEST(Cut, CountsCharactersAndNotBytes) {
  EXPECT_EQ(DisplayWidth("12 µs"), 5u);
  EXPECT_EQ(Cut("12 µs", 5), "12 µs");
  EXPECT_EQ(Cut("µµµµ", 3), "µµ…");
}

TEST(Wrap, BreaksAtSpacesAndIndents) {
  EXPECT_EQ(Wrap("one two three four", 9, 0, 2), "one two\n  three\n  four");
  EXPECT_EQ(Wrap("one two", 9, 3, 1), "   one\n two");
  EXPECT_EQ(Wrap("unbreakableword x", 8, 0, 2), "unbre… x");
  EXPECT_EQ(Wrap("", 8, 2, 0), "  ");
}

TEST(Table, AlignsItsColumns) {
  EXPECT_EQ(Table({{"rank", "ms"}, {"0", "12.5"}, {"1"}}, 1), "  rank    ms\n  0     12.5\n  1\n");
}

}  // namespace
}  // namespace tutti::analyzer
