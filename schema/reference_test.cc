#include "schema/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "schema/meta_keys.h"

namespace tutti::schema {
namespace {

// The first line of `expected` that `text` has not in its place.
std::string FirstDifference(const std::string& text, const std::string& expected) {
  std::istringstream lines(text);
  std::istringstream expected_lines(expected);
  std::string line;
  for (std::string wanted; std::getline(expected_lines, wanted);) {
    if (!std::getline(lines, line) || line != wanted) return wanted;
  }
  return std::getline(lines, line) ? "(nothing more)" : "";
}

TEST(Reference, InDocsIsUpToDate) {
  std::ifstream file(TUTTI_SOURCE_DIR "/docs/schema.md");
  ASSERT_TRUE(file.good());
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(FirstDifference(text, ReferenceMarkdown()), "")
      << "run: tutti schema --markdown > docs/schema.md";
}

TEST(Reference, TellsOneTable) {
  EXPECT_EQ(*TableMarkdown("counter_sample"),
            "### counter_sample\n\nValues of the counters.\n\n"
            "| column | type | meaning |\n|---|---|---|\n"
            "| `counter_id` | INTEGER | what was read |\n"
            "| `time_ns` | INTEGER | when |\n"
            "| `value` | ANY | its value, INTEGER or REAL |\n\n");
  EXPECT_EQ(*TableText("counter_sample"),
            "counter_sample: Values of the counters.\n"
            "  counter_id  INTEGER  what was read\n"
            "  time_ns     INTEGER  when\n"
            "  value       ANY      its value, INTEGER or REAL\n");
  EXPECT_EQ(TableSql("v_counter")->rfind("-- Counter values with names.\nCREATE VIEW v_counter", 0),
            0u);
  EXPECT_EQ(TableSql("v_counter")->substr(TableSql("v_counter")->size() - 2), ";\n");
}

TEST(Reference, NamesSimilarTablesForAnUnknownOne) {
  const Status status = TableText("sample").status();
  EXPECT_EQ(status.code(), StatusCode::kUsage);
  EXPECT_EQ(status.message(), "no table or view is called sample; did you mean counter_sample");
}

TEST(MetaKeys, AreSortedAndUnique) {
  const auto keys = MetaKeys();
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end(),
                             [](const MetaKey& a, const MetaKey& b) { return a.key < b.key; }));
  EXPECT_TRUE(std::adjacent_find(keys.begin(), keys.end(), [](const MetaKey& a, const MetaKey& b) {
                return a.key == b.key;
              }) == keys.end());
  EXPECT_TRUE(IsMetaKey("file.complete"));
  EXPECT_FALSE(IsMetaKey("file.compleet"));
}

}  // namespace
}  // namespace tutti::schema
