#include "collector/importers/text_ids.h"

#include <gtest/gtest.h>

#include <string>

namespace tutti::collector::importers {
namespace {

// The id of a text, `fresh` if it has none.
int64_t IdOf(TextIds& ids, const std::string& text, int64_t fresh) {
  const auto [id, is_new] = ids.Of(text);
  if (is_new) id = fresh;
  return id;
}

TEST(TextIds, KeepsTheFirstIdOfAText) {
  TextIds ids;
  EXPECT_EQ(IdOf(ids, "a", 1), 1);
  EXPECT_EQ(IdOf(ids, "b", 2), 2);
  EXPECT_EQ(IdOf(ids, "a", 3), 1);
}

TEST(TextIds, ForgetsOnlyWhatNobodyAskedForLately) {
  constexpr int64_t kMany = 1'000;
  TextIds ids(100);
  EXPECT_EQ(IdOf(ids, "used", 1), 1);
  EXPECT_EQ(IdOf(ids, "rare", 2), 2);
  for (int64_t i = 0; i < kMany; ++i) {
    EXPECT_EQ(IdOf(ids, "name " + std::to_string(i), 10 + i), 10 + i);
    EXPECT_EQ(IdOf(ids, "used", -1), 1);
  }
  EXPECT_EQ(IdOf(ids, "name 990", -1), 1'000);
  EXPECT_EQ(IdOf(ids, "rare", 3), 3);
}

}  // namespace
}  // namespace tutti::collector::importers
