#include "collector/importers/kineto/number.h"

#include <limits>
#include <random>
#include <string>

#include "gtest/gtest.h"

namespace tutti::collector::importers::kineto {
namespace {

TEST(ParseMicroseconds, KeepsEveryNanosecondOfATimeSince1970) {
  EXPECT_EQ(ParseMicroseconds("1775078550050150.123"), 1775078550050150123);
  EXPECT_EQ(ParseMicroseconds("3743411230047.485"), 3743411230047485);
  EXPECT_EQ(ParseMicroseconds("0.032"), 32);
  EXPECT_EQ(ParseMicroseconds("-1"), -1000);
  EXPECT_EQ(ParseMicroseconds("-0.5"), -500);
  EXPECT_EQ(ParseMicroseconds("100"), 100000);
  EXPECT_EQ(ParseMicroseconds("0"), 0);
}

TEST(ParseMicroseconds, RoundsHalfToEvenBelowANanosecond) {
  EXPECT_EQ(ParseMicroseconds("0.0005"), 0);
  EXPECT_EQ(ParseMicroseconds("0.0015"), 2);
  EXPECT_EQ(ParseMicroseconds("0.00050000000000000000000000000000000000000000001"), 1);
  EXPECT_EQ(ParseMicroseconds("0.0014999999999999999999999999999999999999999999"), 1);
  EXPECT_EQ(ParseMicroseconds("-0.0025"), -2);
  EXPECT_EQ(ParseMicroseconds("4236.099998474121"), 4236100);
  EXPECT_EQ(ParseMicroseconds("0.9999"), 1000);
  EXPECT_EQ(ParseMicroseconds("0.0000000000000000000000000009"), 0);
}

TEST(ParseMicroseconds, TakesExponentsAndStrings) {
  EXPECT_EQ(ParseMicroseconds("1.5e3"), 1500000);
  EXPECT_EQ(ParseMicroseconds("1.775078550050150123E+15"), 1775078550050150123);
  EXPECT_EQ(ParseMicroseconds("25e-4"), 2);
  EXPECT_EQ(ParseMicroseconds("5e-999999999999"), 0);
  EXPECT_EQ(ParseMicroseconds("0e999999999999"), 0);
  EXPECT_EQ(ParseMicroseconds("\"11552125241\""), 11552125241000);
  EXPECT_EQ(ParseMicroseconds("7 "), 7000);
}

TEST(ParseMicroseconds, RefusesWhatIsNoNumberOrDoesNotFit) {
  for (const char* token : {"", "null", "NaN", "inf", "-Infinity", "\"\"", "\"x\"", "1e", "1.2.3",
                            "--1", ".", "1x", "true", "[1]", "1e999"}) {
    EXPECT_EQ(ParseMicroseconds(token), std::nullopt) << token;
  }
  EXPECT_EQ(ParseMicroseconds("9223372036854775.807"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(ParseMicroseconds("9223372036854775.808"), std::nullopt);
  EXPECT_EQ(ParseMicroseconds("-9223372036854775.808"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(ParseMicroseconds("99999999999999999999999999999999999999999999"), std::nullopt);
}

TEST(ParseMicroseconds, AgreesWithIntegersPrintedAtRandom) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 100'000; ++round) {
    const auto nanoseconds = static_cast<int64_t>(random() >> (1 + random() % 62));
    std::string digits = std::to_string(nanoseconds);
    while (digits.size() < 4) digits.insert(0, 1, '0');
    digits.insert(digits.size() - 3, 1, '.');
    ASSERT_EQ(ParseMicroseconds(digits), nanoseconds) << digits;
    ASSERT_EQ(ParseMicroseconds(std::to_string(nanoseconds) + "e-3"), nanoseconds);
    ASSERT_EQ(ParseMicroseconds(digits + "0000"), nanoseconds);
  }
}

TEST(ParseInteger, IsExactOrAbsent) {
  EXPECT_EQ(ParseInteger("4294967299"), 4294967299);
  EXPECT_EQ(ParseInteger("12.0"), 12);
  EXPECT_EQ(ParseInteger("1.2e1"), 12);
  EXPECT_EQ(ParseInteger("\"38\""), 38);
  EXPECT_EQ(ParseInteger("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  for (const char* token :
       {"18446744073709551615", "99999999999999999999", "12.5", "null", "", "inf"}) {
    EXPECT_EQ(ParseInteger(token), std::nullopt) << token;
  }
}

TEST(ParseBits, TakesAllOf64Bits) {
  EXPECT_EQ(ParseBits("18446744073709551615"), -1);
  EXPECT_EQ(ParseBits("\"0x7f1bac201800\""), 0x7f1bac201800);
  EXPECT_EQ(ParseBits("-5"), -5);
  EXPECT_EQ(ParseBits("18446744073709551616"), std::nullopt);
}

TEST(ParseNumber, TellsIntegersFromReals) {
  EXPECT_TRUE(ParseNumber("12")->is_integer);
  EXPECT_EQ(ParseNumber("12")->integer, 12);
  EXPECT_FALSE(ParseNumber("0.25")->is_integer);
  EXPECT_EQ(ParseNumber("0.25")->real, 0.25);
  EXPECT_EQ(ParseNumber("1e999"), std::nullopt);
  EXPECT_EQ(ParseNumber("nan"), std::nullopt);
}

TEST(IsNonFinite, KnowsTheSpellings) {
  for (const char* token : {"inf", "-inf", "nan", "Infinity", "-Infinity", "NaN "}) {
    EXPECT_TRUE(IsNonFinite(token)) << token;
  }
  for (const char* token : {"null", "1", "", "\"infinite\""}) EXPECT_FALSE(IsNonFinite(token));
}

}  // namespace
}  // namespace tutti::collector::importers::kineto
