// The list of causes against the rules and the tests.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "analyzer/findings/catalogue.h"
#include "analyzer/findings/rule.h"

namespace tutti::analyzer {
namespace {

std::vector<std::string> SplitKinds(std::string_view kinds) {
  std::vector<std::string> list;
  for (;;) {
    const size_t comma = kinds.find(", ");
    list.emplace_back(kinds.substr(0, comma));
    if (comma == std::string_view::npos) return list;
    kinds.remove_prefix(comma + 2);
  }
}

std::set<std::string> AllTests() {
  std::set<std::string> names;
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      names.insert(std::string(suite.name()) + "." + suite.GetTestInfo(j)->name());
    }
  }
  return names;
}

TEST(CatalogueList, HasAllCausesInOrder) {
  ASSERT_EQ(Catalogue().size(), 41u);
  for (size_t i = 0; i < Catalogue().size(); ++i) {
    EXPECT_EQ(Catalogue()[i].number, static_cast<int>(i) + 1);
  }
}

TEST(CatalogueList, NamesEveryKindOfFindingAndNoOther) {
  std::set<std::string> named;
  for (const CatalogueEntry& entry : Catalogue()) {
    for (const std::string& kind : SplitKinds(entry.kinds)) named.insert(kind);
  }
  std::set<std::string> kinds;
  for (const std::string_view kind : AllFindingKindNames()) kinds.emplace(kind);
  EXPECT_EQ(named, kinds);
}

TEST(CatalogueList, NamesATestOfEveryCause) {
  const std::set<std::string> tests = AllTests();
  for (const CatalogueEntry& entry : Catalogue()) {
    EXPECT_TRUE(tests.contains(std::string(entry.test))) << entry.number << " " << entry.test;
  }
}

// What advice names as told by a finding is one.
TEST(CatalogueList, GeneralAdviceIsThatOfFindings) {
  std::string page = FindingsDocument();
  for (const GeneralAdvice& advice : AllGeneralAdvice()) {
    EXPECT_NE(
        page.find("| " + std::string(advice.advice) + " | " + std::string(advice.when) + " |"),
        std::string::npos);
    bool names_one = advice.when.starts_with("where nothing else") || advice.when.starts_with('`');
    for (const std::string_view kind : AllFindingKindNames()) {
      names_one = names_one || advice.when.find(kind) != std::string_view::npos;
    }
    EXPECT_TRUE(names_one) << advice.advice;
  }
}

}  // namespace
}  // namespace tutti::analyzer
