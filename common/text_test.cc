#include "common/text.h"

#include <gtest/gtest.h>

#include <string>

namespace tutti {
namespace {

TEST(StorableText, KeepsWellFormedUtf8OfEveryLength) {
  for (const std::string text : {"", "plain ascii of more than eight bytes", "é", "€", "😀",
                                 "gradient_norm→∞", "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(IsStorableText(text)) << text;
    EXPECT_EQ(ToStorableText(text), text);
  }
}

TEST(StorableText, ReplacesEachByteThatIsNotUtf8) {
  EXPECT_EQ(ToStorableText("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(ToStorableText("\xC0\xAF"), "\uFFFD\uFFFD") << "overlong";
  EXPECT_EQ(ToStorableText("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD") << "surrogate";
  EXPECT_EQ(ToStorableText("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD") << "above U+10FFFF";
  EXPECT_EQ(ToStorableText("cut \xE2\x82"), "cut \uFFFD\uFFFD");
  EXPECT_EQ(ToStorableText(std::string("nul\0in", 6)), "nul\uFFFDin");
}

TEST(StorableText, FindsABadByteAtEveryPlace) {
  for (size_t place = 0; place < 24; ++place) {
    for (const char bad : {'\0', '\x80', '\xFF'}) {
      std::string text(24, 'x');
      text[place] = bad;
      EXPECT_FALSE(IsStorableText(text)) << place;
      EXPECT_TRUE(IsStorableText(ToStorableText(text))) << place;
    }
  }
}

TEST(PrintableText, LeavesNothingThatSteersATerminal) {
  EXPECT_EQ(ToPrintableText("\x1B[31mred\x1B[0m"), "\uFFFD[31mred\uFFFD[0m");
  EXPECT_EQ(ToPrintableText("a\tb\r\nc"), "a b  c");
  EXPECT_EQ(ToPrintableText("\xC2\x9B"
                            "31m"),
            "\uFFFD31m")
      << "C1 CSI";
  EXPECT_EQ(ToPrintableText("\x7F"), "\uFFFD");
  EXPECT_EQ(ToPrintableText("naïve ☃"), "naïve ☃");
  EXPECT_EQ(ToPrintableText("a\u202Eb\u2066c\u200Fd\u061Ce\u2028f"),
            "a\uFFFDb\uFFFDc\uFFFDd\uFFFDe\uFFFDf");
  EXPECT_EQ(ToPrintableText("\u2014 \u2027 \u202F \u2065 \u206A"),
            "\u2014 \u2027 \u202F \u2065 \u206A");
}

}  // namespace
}  // namespace tutti
