#include "exporter/chrome/event_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace tutti::exporter::chrome {
namespace {

std::string Microseconds(int64_t ns) {
  std::string text;
  AppendMicroseconds(ns, text);
  return text;
}

TEST(EventText, LosesNoNanosecond) {
  EXPECT_EQ(Microseconds(0), "0");
  EXPECT_EQ(Microseconds(1), "0.001");
  EXPECT_EQ(Microseconds(-5), "-0.005");
  EXPECT_EQ(Microseconds(1'234'567), "1234.567");
  EXPECT_EQ(Microseconds(2'000), "2");
  EXPECT_EQ(Microseconds(std::numeric_limits<int64_t>::min()), "-9223372036854775.808");
}

TEST(EventText, QuotesWhatJsonDoesNotAllow) {
  std::string json;
  AppendQuoted("a\"b\\c\n\x01é", json);
  EXPECT_EQ(json, "\"a\\\"b\\\\c\\n\\u0001é\"");
}

TEST(EventText, PutsKeysBeforeArguments) {
  EXPECT_EQ(EventText('X', "kernel", "gemm", 0, 7, 1'500, 500)
                .Duration(250)
                .Key("id", 3)
                .Arg("stream", std::optional<int64_t>(7))
                .Arg("absent", std::optional<int64_t>())
                .Arg("half", 0.5)
                .RawArg("grid", "[1,2,3]")
                .Take(),
            R"({"ph":"X","name":"gemm","cat":"kernel","pid":0,"tid":7,"ts":1,"dur":0.250,"id":3,)"
            R"("args":{"stream":7,"half":0.5,"grid":[1,2,3]}})");
  EXPECT_EQ(
      EventText('M', "", "process_name", 1, 0, 99, 0).Arg("name", std::string_view("x")).Take(),
      R"({"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"x"}})");
}

}  // namespace
}  // namespace tutti::exporter::chrome
