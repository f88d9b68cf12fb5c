#include "schema/catalog.h"

#include <gtest/gtest.h>

namespace tutti::schema {
namespace {

constexpr const char* kSql = R"(-- About the file.
-- In two lines.
--
-- And two paragraphs.

-- One row per cat,
-- alive or not.
CREATE TABLE cat (
  id   INTEGER PRIMARY KEY,  -- chip number
  x INTEGER, y REAL,         -- place
  name TEXT NOT NULL CHECK (name IN ('a, b', '--')),  -- as called;
                             -- never shouted
  pad  ANY,
  mood TEXT CHECK (mood IN
    ('purring', 'asleep'))  -- when last seen
) STRICT;

-- Cats with more.
CREATE VIEW v_cat AS
SELECT c.id, c.x, c.y,
  upper(c.name) AS loud_name,  -- shouted
  c.name
FROM cat AS c;
)";

TEST(Catalog, ReadsTablesColumnsAndComments) {
  const Result<Catalog> catalog = ReadCatalog(kSql);
  ASSERT_TRUE(catalog.ok()) << catalog.status().message();
  EXPECT_EQ(catalog->introduction, "About the file. In two lines.\n\nAnd two paragraphs.");
  ASSERT_EQ(catalog->tables.size(), 2u);
  const CatalogTable& cat = catalog->tables[0];
  EXPECT_EQ(cat.name, "cat");
  EXPECT_EQ(cat.comment, "One row per cat, alive or not.");
  EXPECT_FALSE(cat.is_view);
  ASSERT_EQ(cat.columns.size(), 6u);
  EXPECT_EQ(cat.columns[0].comment, "chip number");
  EXPECT_TRUE(cat.columns[0].primary_key);
  EXPECT_EQ(cat.Find("x")->comment, "place");
  EXPECT_EQ(cat.Find("y")->comment, "place");
  EXPECT_EQ(cat.Find("y")->type, "REAL");
  EXPECT_EQ(cat.Find("name")->comment, "as called; never shouted");
  EXPECT_FALSE(cat.Find("name")->nullable);
  EXPECT_EQ(cat.Find("pad")->comment, "") << "no comment is no comment";
  EXPECT_EQ(cat.Find("mood")->comment, "when last seen") << "behind its last line";
}

TEST(Catalog, GivesAViewsColumnsTheirOwnCommentOrTheirTables) {
  const Catalog catalog = *ReadCatalog(kSql);
  const CatalogTable& view = *catalog.Find("v_cat");
  EXPECT_TRUE(view.is_view);
  EXPECT_EQ(view.select.rfind("SELECT c.id", 0), 0u);
  EXPECT_EQ(view.Find("id")->comment, "chip number");
  EXPECT_EQ(view.Find("loud_name")->comment, "shouted");
  EXPECT_EQ(view.Find("name")->comment, "as called; never shouted");
}

class EmbeddedSql : public testing::TestWithParam<const Catalog*> {};

TEST_P(EmbeddedSql, CommentsEveryTableAndColumn) {
  EXPECT_FALSE(GetParam()->introduction.empty());
  EXPECT_FALSE(GetParam()->tables.empty());
  for (const CatalogTable& table : GetParam()->tables) {
    EXPECT_FALSE(table.comment.empty()) << table.name;
    EXPECT_FALSE(table.columns.empty()) << table.name;
    for (const CatalogColumn& column : table.columns) {
      EXPECT_FALSE(column.comment.empty()) << table.name << "." << column.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Contract, EmbeddedSql, testing::Values(&RawCatalog(), &DerivedCatalog()));

TEST(EmbeddedSql, RawAndDerivedTablesHaveDifferentNames) {
  for (const CatalogTable& table : DerivedCatalog().tables) {
    EXPECT_EQ(RawCatalog().Find(table.name), nullptr) << table.name;
  }
}

}  // namespace
}  // namespace tutti::schema
