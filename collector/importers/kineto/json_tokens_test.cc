#include "collector/importers/kineto/json_tokens.h"

#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tutti::collector::importers::kineto {
namespace {

TEST(JsonTokens, TakesKeysAndValuesAsTheyStand) {
  JsonTokens tokens;
  ASSERT_TRUE(tokens.Scan(R"({"a" : 1.50 , "b\"c":"x:,}" ,"d":[1,{"e":[]}] ,"":null})"));
  ASSERT_TRUE(tokens.Take('{'));
  std::string all;
  do {
    std::string_view key, value;
    ASSERT_TRUE(tokens.TakeKey(key) && tokens.TakeValue(value));
    all += std::string(key) + '=' + std::string(value) + ';';
  } while (tokens.Take(','));
  EXPECT_EQ(all, R"(a=1.50;b\"c="x:,}";d=[1,{"e":[]}];=null;)");
  EXPECT_TRUE(tokens.Take('}'));
  EXPECT_TRUE(tokens.AtEnd());
}

TEST(JsonTokens, RefusesWhatIsNotValid) {
  JsonTokens tokens;
  EXPECT_FALSE(tokens.Scan(R"({"a": "open)"));
  EXPECT_FALSE(tokens.Scan("{\"a\": \"\x01\"}"));
  EXPECT_FALSE(tokens.Scan("{\"a\": \"\xff\"}"));
  EXPECT_TRUE(tokens.AtEnd());
  EXPECT_FALSE(tokens.Scan("  "));
}

TEST(JsonTokens, DoesNotTakeWhatIsNotThere) {
  JsonTokens tokens;
  std::string_view key, value;
  for (const char* text : {R"("a")", R"("a"x:1)", "a:1", ":1", R"("a",:)"}) {
    ASSERT_TRUE(tokens.Scan(text)) << text;
    EXPECT_FALSE(tokens.TakeKey(key)) << text;
  }
  for (const char* text : {",", "}", "]", ":", "[1", R"({"a":[1,2})"}) {
    ASSERT_TRUE(tokens.Scan(text)) << text;
    EXPECT_FALSE(tokens.TakeValue(value)) << text;
  }
  EXPECT_FALSE(tokens.TakeValue(value));  // at the end
  EXPECT_FALSE(tokens.Take(','));
}

TEST(JsonTokens, DepthCostsNothing) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  JsonTokens tokens;
  ASSERT_TRUE(tokens.Scan(deep));
  std::string_view value;
  ASSERT_TRUE(tokens.TakeValue(value));
  EXPECT_EQ(value.size(), deep.size());
}

}  // namespace
}  // namespace tutti::collector::importers::kineto
