#include "collector/importers/pickle/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tutti::collector::importers::pickle {
namespace {

using testing::HasSubstr;

TEST(ReadJson, GivesPlainData) {
  const Result<Document> document = ReadJson(
      R"({"a": [1, -2, 1.5, true, null, "x"], "b": {"c": 18446744073709551615}, "a2": 1e3})");
  ASSERT_TRUE(document.ok());
  EXPECT_TRUE(document->problem.ok());
  const std::span<const Value> items = document->root.Get("a").Items();
  ASSERT_EQ(items.size(), 6U);
  EXPECT_EQ(items[0].Int(), 1);
  EXPECT_EQ(items[1].Int(), -2);
  EXPECT_EQ(items[2].Number(), 1.5);
  EXPECT_EQ(items[3].Bool(), true);
  EXPECT_TRUE(items[4].is_none());
  EXPECT_EQ(items[5].Text(), "x");
  EXPECT_EQ(document->root.Get("b").Get("c").Text(), "18446744073709551615");
  EXPECT_EQ(document->root.Get("b").Get("c").Bits64(), -1);
  EXPECT_EQ(document->root.Get("a2").Number(), 1000);
  EXPECT_EQ(document->big_integers, 1U);
}

TEST(ReadJson, GivesThePartBeforeACut) {
  const Result<Document> document = ReadJson(R"({"entries": [{"id": 1}, {"id": 2}, {"id)");
  ASSERT_TRUE(document.ok());
  EXPECT_THAT(document->problem.message(), HasSubstr("byte 3"));
  ASSERT_EQ(document->root.Get("entries").Items().size(), 3U);
  EXPECT_EQ(document->root.Get("entries").Items()[1].Get("id").Int(), 2);
  EXPECT_TRUE(document->root.Get("entries").Items()[2].Get("id").is_none());
}

TEST(ReadJson, RefusesWhatIsNoneOrTooDeep) {
  EXPECT_EQ(ReadJson("").status().message(), "the file is empty");
  EXPECT_THAT(ReadJson("x").status().message(), HasSubstr("byte 0"));
  const Result<Document> deep = ReadJson(std::string(2'000'000, '['));
  ASSERT_TRUE(deep.ok());
  EXPECT_THAT(deep->problem.message(), HasSubstr("512 levels"));
}

}  // namespace
}  // namespace tutti::collector::importers::pickle
