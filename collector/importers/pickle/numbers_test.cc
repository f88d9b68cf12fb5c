#include "collector/importers/pickle/numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tutti::collector::importers::pickle {
namespace {

using std::string_literals::operator""s;
using testing::Optional;

TEST(FromTwosComplement, GivesWhatFits64Bits) {
  EXPECT_EQ(FromTwosComplement("").small, 0);
  EXPECT_EQ(FromTwosComplement("\xff").small, -1);
  EXPECT_EQ(FromTwosComplement("\xff\x00"s).small, 255);
  EXPECT_EQ(FromTwosComplement("\x00\x80"s).small, -32768);
  EXPECT_EQ(FromTwosComplement("\x00\x00\x00\x00\x00\x00\x00\x80"s).small,
            std::numeric_limits<int64_t>::min());
  EXPECT_EQ(FromTwosComplement("\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"s).small, 1);
  EXPECT_EQ(FromTwosComplement("\xfe\xff\xff\xff\xff\xff\xff\xff\xff\xff").small, -2);
}

TEST(FromTwosComplement, WritesWiderOnesAsDecimals) {
  EXPECT_EQ(FromTwosComplement("\xff\xff\xff\xff\xff\xff\xff\xff\x00"s).text,
            "18446744073709551615");
  EXPECT_EQ(FromTwosComplement("\x00\x00\x00\x00\x00\x00\x00\x80\x00"s).text,
            "9223372036854775808");
  EXPECT_EQ(FromTwosComplement("\xff\xff\xff\xff\xff\xff\xff\x7f\xff").text,
            "-9223372036854775809");
  // 2^70
  EXPECT_EQ(FromTwosComplement("\x00\x00\x00\x00\x00\x00\x00\x00\x40"s).text,
            "1180591620717411303424");
}

TEST(FromTwosComplement, WritesHugeOnesInLinearTime) {
  std::string bytes(1 << 20, '\x00');
  bytes.back() = '\x40';
  const std::string text = FromTwosComplement(bytes).text;
  EXPECT_EQ(text.substr(0, 6), "0x4000");
  EXPECT_EQ(text.size(), 2 + 2 * bytes.size());
}

TEST(ParseWholeNumber, ReadsPythonsNotations) {
  EXPECT_EQ(ParseWholeNumber("42")->small, 42);
  EXPECT_EQ(ParseWholeNumber("-5L")->small, -5);
  EXPECT_EQ(ParseWholeNumber("1180591620717411303424L")->text, "1180591620717411303424");
  EXPECT_FALSE(ParseWholeNumber("").has_value());
  EXPECT_FALSE(ParseWholeNumber("4x").has_value());
  EXPECT_FALSE(ParseWholeNumber("-").has_value());
}

TEST(ParseReal, ReadsWhatReprWrites) {
  EXPECT_THAT(ParseReal("1.5"), Optional(1.5));
  EXPECT_THAT(ParseReal("-1e+16"), Optional(-1e16));
  EXPECT_THAT(ParseReal("inf"), Optional(std::numeric_limits<double>::infinity()));
  EXPECT_THAT(ParseReal("1e999"), Optional(std::numeric_limits<double>::infinity()));
  EXPECT_THAT(ParseReal("1e-999"), Optional(0.0));
  EXPECT_TRUE(std::isnan(*ParseReal("nan")));
  EXPECT_FALSE(ParseReal("").has_value());
  EXPECT_FALSE(ParseReal("1.5x").has_value());
}

TEST(ParseQuoted, TakesEscapesAway) {
  EXPECT_THAT(ParseQuoted(R"('a\nb\\\'\x41\101')"), Optional(std::string("a\nb\\'AA")));
  EXPECT_THAT(ParseQuoted("\"\""), Optional(std::string()));
  EXPECT_FALSE(ParseQuoted("'").has_value());
  EXPECT_FALSE(ParseQuoted("'a\"").has_value());
  EXPECT_FALSE(ParseQuoted(R"('\x4')").has_value());
}

TEST(DecodeRawUnicodeEscape, GivesUtf8) {
  EXPECT_THAT(DecodeRawUnicodeEscape("\\u6a21 \xe9 \\U0001F600"), Optional(std::string("模 é 😀")));
  EXPECT_FALSE(DecodeRawUnicodeEscape("\\u12").has_value());
  EXPECT_FALSE(DecodeRawUnicodeEscape("\\U00110000").has_value());
}

TEST(EncodeLatin1, IsTheWayBack) {
  EXPECT_THAT(EncodeLatin1("a\xc3\xa9\xc2\x80"), Optional(std::string("a\xe9\x80")));
  EXPECT_FALSE(EncodeLatin1("模").has_value());
  EXPECT_FALSE(EncodeLatin1("\xc3").has_value());
}

}  // namespace
}  // namespace tutti::collector::importers::pickle
