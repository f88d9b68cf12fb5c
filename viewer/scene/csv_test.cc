#include "viewer/scene/csv.h"

#include <gtest/gtest.h>

namespace tutti::viewer {
namespace {

TEST(Csv, QuotesWhatWouldBeReadOtherwise) {
  Csv csv;
  csv.AddRow({"name", "count"});
  csv.AddRow({"void f<int, float>(\"x\")", "3"});
  csv.AddRow({"two\nlines", ""});
  EXPECT_EQ(csv.text(), "name,count\n\"void f<int, float>(\"\"x\"\")\",3\n\"two\nlines\",\n");
}

}  // namespace
}  // namespace tutti::viewer
