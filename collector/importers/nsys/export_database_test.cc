#include "collector/importers/nsys/export_database.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "collector/importers/nsys/string_ids.h"
#include "collector/importers/nsys/table_cursor.h"
#include "collector/importers/nsys/testing/import_fixture.h"

namespace tutti::collector::importers::nsys {
namespace {

class ExportDatabaseTest : public testing::NsysTest {
 protected:
  std::string ErrorOf(const std::string& path) {
    const auto database = ExportDatabase::Open(path);
    return database.ok() ? "opened" : database.status().message();
  }
};

TEST(TableSql, FindsKeywordsOutsideTextsAndComments) {
  EXPECT_TRUE(ScanTableSql("CREATE TABLE t (a INT CHECK (a > 0))").has_check);
  EXPECT_TRUE(ScanTableSql("create table t(a int,check(a>0))").has_check);
  EXPECT_FALSE(ScanTableSql("CREATE TABLE t (a INT -- CHECK this\n)").has_check);
  EXPECT_FALSE(ScanTableSql("CREATE TABLE t (\"check\" INT, a /* CHECK */ INT)").has_check);
  EXPECT_FALSE(ScanTableSql("CREATE TABLE t (a DEFAULT 'it''s CHECK', [check] INT)").has_check);
  EXPECT_TRUE(ScanTableSql("CREATE TABLE t (a INT PRIMARY KEY) WITHOUT ROWID").is_without_rowid);
  EXPECT_TRUE(ScanTableSql("CREATE VIRTUAL TABLE t USING fts5(a)").is_virtual);
  EXPECT_FALSE(ScanTableSql("").has_check);
  EXPECT_FALSE(ScanTableSql("CREATE TABLE t ('").has_check);
}

TEST_F(ExportDatabaseTest, TakesTheNewestVersionOfATable) {
  const auto database = ExportDatabase::Open(MakeDatabase(
      "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
      "CREATE TABLE NVTX_EVENTS (start INT); CREATE TABLE NVTX_EVENTS_V3 (start INT);"
      "CREATE TABLE NVTX_EVENTS_V2 (start INT); CREATE TABLE NVTX_EVENTS_VX (start INT);"
      "CREATE TABLE NVTX_EVENTS_PAYLOAD_SCHEMAS (start INT)"));
  ASSERT_TRUE(database.ok()) << database.status().message();
  EXPECT_EQ(database->Find("NVTX_EVENTS")->name, "NVTX_EVENTS_V3");
  EXPECT_EQ(database->Find("CUPTI_ACTIVITY_KIND_KERNEL"), nullptr);
}

TEST_F(ExportDatabaseTest, ReadsTheVersionFromEitherTable) {
  const std::string strings = "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);";
  for (const char* name : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
    const auto database = ExportDatabase::Open(
        MakeDatabase(strings + "CREATE TABLE " + name + " (name TEXT, value TEXT); INSERT INTO " +
                     name + " VALUES ('EXPORT_SCHEMA_VERSION', '2.9.1'), ('odd', 7)"));
    ASSERT_TRUE(database.ok());
    EXPECT_EQ(database->SchemaVersion(), "2.9.1");
    EXPECT_EQ(database->Meta("odd"), "7");  // the column's affinity makes it a text
    EXPECT_EQ(database->Meta("absent"), "");
  }
}

TEST_F(ExportDatabaseTest, SaysWhatIsWrongInOneLine) {
  const std::string text = scratch_.Path("text.sqlite");
  std::ofstream(text) << "this is not a database, but it is long enough to be read as one: "
                      << std::string(1000, '.');
  EXPECT_NE(ErrorOf(text).find("not an SQLite database"), std::string::npos);
  const std::string empty = scratch_.Path("empty.sqlite");
  std::ofstream(empty).close();
  EXPECT_NE(ErrorOf(empty).find("an empty database; export the report again"), std::string::npos);
  EXPECT_NE(ErrorOf(MakeDatabase("CREATE TABLE users (id INT)")).find("no export of Nsight"),
            std::string::npos);
  EXPECT_NE(ErrorOf(scratch_.Path("none.sqlite")), "opened");
}

TEST_F(ExportDatabaseTest, RefusesExpressionsThatTheFileWouldRun) {
  EXPECT_NE(ErrorOf(MakeDatabase("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT "
                                 "CHECK (length(randomblob(1000)) > 0))"))
                .find("CHECK constraint"),
            std::string::npos);
  const auto database = ExportDatabase::Open(
      MakeDatabase("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT,"
                   " slow INT AS (length(zeroblob(1000000))) VIRTUAL)"));
  ASSERT_TRUE(database.ok());
  EXPECT_TRUE(database->Find("StringIds")->Has("VALUE"));
  EXPECT_FALSE(database->Find("StringIds")->Has("slow"));
}

TEST_F(ExportDatabaseTest, TakesNoViewForATable) {
  const auto database = ExportDatabase::Open(
      MakeDatabase("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
                   "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE r(start) AS "
                   "(SELECT 1 UNION ALL SELECT start + 1 FROM r) SELECT start FROM r"));
  ASSERT_TRUE(database.ok());
  EXPECT_EQ(database->Find("CUPTI_ACTIVITY_KIND_KERNEL"), nullptr);
  EXPECT_EQ(database->views(), std::vector<std::string>{"CUPTI_ACTIVITY_KIND_KERNEL"});
}

TEST_F(ExportDatabaseTest, RefusesADamagedFile) {
  const std::string path = MakeDatabase(
      "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
      "INSERT INTO StringIds SELECT i, 'text number ' || i FROM n");
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(5 * 4096);
  file.write(std::string(4096, '\x5a').data(), 4096);
  file.close();
  EXPECT_NE(ErrorOf(path).find("damaged"), std::string::npos);
}

TEST_F(ExportDatabaseTest, StopsWhenTimeIsUp) {
  const std::string path = MakeDatabase(
      "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) "
      "INSERT INTO StringIds SELECT i, 'text number ' || i FROM n");
  const auto database =
      ExportDatabase::Open(path, {std::chrono::milliseconds(0), int64_t{1} << 40});
  ASSERT_FALSE(database.ok());
  EXPECT_NE(database.status().message().find("longer than it may"), std::string::npos);
}

TEST_F(ExportDatabaseTest, CursorReadsMissingAndMistypedValuesAsNothing) {
  auto database = ExportDatabase::Open(MakeDatabase(
      "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
      "CREATE TABLE OSRT_API (start, \"end\" INT, rowid TEXT);"
      "INSERT INTO OSRT_API VALUES (1, 2, 'x'), ('late', 3, 'y'), (x'00', 4.5, NULL)"));
  ASSERT_TRUE(database.ok());
  auto row = TableCursor::Open(*database, *database->Find("OSRT_API"), {"start", "END", "none"});
  ASSERT_TRUE(row.ok()) << row.status().message();
  ASSERT_TRUE(*row->Next());
  EXPECT_EQ(row->Int(0), 1);
  EXPECT_EQ(row->Int(1), 2);
  EXPECT_EQ(row->Int(2), std::nullopt);
  EXPECT_FALSE(row->damaged());
  ASSERT_TRUE(*row->Next());
  EXPECT_EQ(row->Int(0), std::nullopt);
  EXPECT_TRUE(row->damaged());
  ASSERT_TRUE(*row->Next());
  EXPECT_FALSE(row->damaged());
  EXPECT_EQ(row->Number(1), 4.5);
  EXPECT_EQ(row->Number(0), std::nullopt);
  EXPECT_EQ(row->rowid(), 3);
  EXPECT_FALSE(*row->Next());
}

TEST_F(ExportDatabaseTest, FindsTextsWithAndWithoutKey) {
  for (const char* key : {"INTEGER PRIMARY KEY", "INT"}) {
    auto database = ExportDatabase::Open(
        MakeDatabase(std::string("CREATE TABLE StringIds (id ") + key +
                     ", value ANY); INSERT INTO StringIds VALUES (1, 'one'), (7, x'00')"));
    ASSERT_TRUE(database.ok());
    auto strings = StringIds::Open(*database);
    ASSERT_TRUE(strings.ok());
    EXPECT_EQ(*strings->Find(1), "one");
    EXPECT_EQ(*strings->Find(7), std::nullopt);
    EXPECT_EQ(*strings->Find(-1), std::nullopt);
    EXPECT_EQ(*strings->Find(1), "one");
  }
}

}  // namespace
}  // namespace tutti::collector::importers::nsys
