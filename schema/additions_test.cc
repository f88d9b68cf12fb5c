// Files of older schema versions: what was added since is listed, and they are read.
#include "schema/additions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "schema/database.h"
#include "schema/reader.h"
#include "schema/rows.h"
#include "schema/run_view.h"
#include "schema/sql.h"
#include "schema/testing/scratch.h"
#include "schema/trace_file.h"

namespace tutti::schema {
namespace {

using testing::Scratch;

std::string SqlOfVersion(int64_t version) {
  const std::string path =
      std::string(TUTTI_SOURCE_DIR) + "/schema/history/raw_v" + std::to_string(version) + ".sql";
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// A rank file as version 1 wrote it, with an operator and a step.
std::string MakeVersionOne(const std::string& path) {
  Database database = *Database::Create(path);
  const Status made = database.Execute(
      "PRAGMA application_id=" + std::to_string(kApplicationId) + "; PRAGMA user_version=1;" +
      SqlOfVersion(1) +
      "INSERT INTO process (pid, host, rank, attempt) VALUES (7, 'h', 3, 0);"
      "INSERT INTO string VALUES (1, 'aten::mm');"
      "INSERT INTO thread (tid, kernel_tid) VALUES (7, 7);"
      "INSERT INTO cpu_op (id, tid, name_id, scope, begin_ns, end_ns, depth, shapes_id)"
      " VALUES (0, 7, 1, 0, 10, 30, 0, 0);"
      "INSERT INTO collective_source (id, origin, op_id, dtype_id) VALUES (0, 'c10d', 1, 0);");
  EXPECT_TRUE(made.ok()) << made.message();
  return path;
}

// "table.column" for each column of version `old` that `now` lacks.
std::vector<std::string> Missing(const Catalog& now, const Catalog& old) {
  std::vector<std::string> names;
  for (const CatalogTable& table : old.tables) {
    for (const CatalogColumn& column : table.columns) {
      const CatalogTable* found = now.Find(table.name);
      if (found == nullptr || found->Find(column.name) == nullptr) {
        names.push_back(table.name + "." + column.name);
      }
    }
  }
  return names;
}

TEST(Additions, AreTheDifferenceOfTwoVersions) {
  for (int64_t version = 1; version < kSchemaVersion; ++version) {
    const Catalog old = *ReadCatalog(SqlOfVersion(version));
    EXPECT_EQ(Missing(RawCatalog(), old), std::vector<std::string>());
    for (const CatalogTable& table : RawCatalog().tables) {
      if (table.is_view) continue;
      for (const CatalogColumn& column : table.columns) {
        const CatalogTable* then = old.Find(table.name);
        const bool was_there = then != nullptr && then->Find(column.name) != nullptr;
        EXPECT_NE(was_there, IsNewer(table.name, column.name, version))
            << table.name << "." << column.name << " and version " << version;
      }
    }
  }
}

TEST(Additions, AnOlderFileReadsAsOneOfThisVersion) {
  const Scratch scratch;
  const std::string path = MakeVersionOne(scratch.Path("rank-00003.sqlite"));
  Result<Database> database = OpenRankFile(path);
  ASSERT_TRUE(database.ok()) << database.status().message();
  const auto ops = ReadAll<CpuOpRow>(*database);
  ASSERT_TRUE(ops.ok()) << ops.status().message();
  ASSERT_EQ(ops->size(), 1u);
  EXPECT_EQ(ops->front().end_ns, 30);
  EXPECT_EQ(ops->front().external_id, std::nullopt);
  const auto collectives = ReadAll<CollectiveSourceRow>(*database);
  ASSERT_EQ(collectives->size(), 1u);
  EXPECT_EQ(collectives->front().stack_id, 0);
  EXPECT_EQ(ReadAll<PythonCallRow>(*database)->size(), 0u);
  EXPECT_FALSE(database->Execute("CREATE TEMP TABLE t (x)").ok()) << "reading only, still";
}

TEST(Additions, AnOlderFileIsPartOfARunView) {
  const Scratch scratch;
  MakeVersionOne(scratch.Path("rank-00003.sqlite"));
  Result<RunView> run = RunView::Open(scratch.Path("."));
  ASSERT_TRUE(run.ok()) << run.status().message();
  EXPECT_EQ(*run->database().QueryOne<std::string>("SELECT name FROM v_cpu_op WHERE rank = 3"),
            "aten::mm");
  EXPECT_EQ(*run->database().QueryOne<int64_t>("SELECT count(*) FROM python_call"), 0);
  EXPECT_EQ(
      *run->database().QueryOne<int64_t>("SELECT count(*) FROM cpu_op WHERE external_id IS NULL"),
      1);
}

TEST(Additions, AnOlderFileThatLacksMoreIsDamaged) {
  const Scratch scratch;
  const std::string path = MakeVersionOne(scratch.Path("rank-00003.sqlite"));
  ASSERT_TRUE(Database::OpenTrusted(path)
                  ->Execute("DROP VIEW v_cpu_op; ALTER TABLE cpu_op DROP COLUMN depth")
                  .ok());
  const Result<Database> database = OpenRankFile(path);
  ASSERT_FALSE(database.ok());
  EXPECT_NE(database.status().message().find("no stored column depth"), std::string::npos);
}

}  // namespace
}  // namespace tutti::schema
