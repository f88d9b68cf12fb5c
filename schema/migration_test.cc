#include "schema/migration.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "schema/database.h"
#include "schema/reader.h"
#include "schema/rows.h"
#include "schema/run_view.h"
#include "schema/schema.h"
#include "schema/sql.h"
#include "schema/testing/scratch.h"
#include "schema/trace_file.h"

namespace tutti::schema {
namespace {

namespace fs = std::filesystem;
using testing::Scratch;

std::string VersionOneSql() {
  std::ifstream file(TUTTI_SOURCE_DIR "/schema/history/raw_v1.sql");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// A run as version 1 left it: two attempts of a rank, a manifest, an analysis.
class Migration : public ::testing::Test {
 protected:
  Migration() : run_(scratch_.Path("old")) {
    fs::create_directories(run_ + "/attempt-1");
    fs::create_directories(run_ + "/manifest.d");
    fs::create_directories(run_ + "/.spool");
    std::ofstream(run_ + "/manifest.d/h.1.json") << "{}";
    std::ofstream(run_ + "/run.sqlite") << "derived";
    WriteRank(run_ + "/rank-00003.sqlite", 30);
    WriteRank(run_ + "/attempt-1/rank-00003.sqlite", 50);
  }

  static void WriteRank(const std::string& path, int64_t end_ns) {
    Database database = *Database::Create(path);
    const Status made = database.Execute(
        "PRAGMA application_id=" + std::to_string(kApplicationId) + "; PRAGMA user_version=1;" +
        VersionOneSql() +
        "INSERT INTO meta VALUES ('file.kind', 'rank'), ('schema.version', '1'),"
        " ('file.complete', '1'), ('tutti.version', '0.0.9');"
        "INSERT INTO process (pid, host, rank, attempt) VALUES (7, 'h', 3, 0);"
        "INSERT INTO string VALUES (1, 'aten::mm');"
        "INSERT INTO thread (tid, kernel_tid) VALUES (7, 7);"
        "INSERT INTO cpu_op (id, tid, name_id, scope, begin_ns, end_ns, depth, shapes_id)"
        " VALUES (0, 7, 1, 0, 10, " +
        std::to_string(end_ns) +
        ", 0, 0);"
        "INSERT INTO counter VALUES (1, 'c', 'ns', 'gauge', '', NULL);"
        "INSERT INTO counter_sample VALUES (1, 5, 0.25);");
    ASSERT_TRUE(made.ok()) << made.message();
  }

  template <typename T>
  static T Ask(const std::string& path, const std::string& sql) {
    Result<Database> database = OpenRankFile(path);
    EXPECT_TRUE(database.ok()) << database.status().message();
    return *database->QueryOne<T>(sql);
  }

  Scratch scratch_;
  std::string run_;
};

TEST_F(Migration, WritesARunOfThisVersionWithEveryRow) {
  const std::string output = scratch_.Path("new");
  const auto files = MigrateRun(run_ + "/", output + "/");
  ASSERT_TRUE(files.ok()) << files.status().message();
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ(files->back().file, "attempt-1/rank-00003.sqlite");
  EXPECT_EQ(files->back().from_version, 1);
  const std::string rank = output + "/rank-00003.sqlite";
  EXPECT_EQ(Ask<int64_t>(rank, "PRAGMA user_version"), kSchemaVersion);
  EXPECT_EQ(Ask<int64_t>(rank, "SELECT end_ns FROM cpu_op WHERE external_id IS NULL"), 30);
  EXPECT_EQ(Ask<double>(rank, "SELECT value FROM counter_sample"), 0.25);
  EXPECT_EQ(Ask<int64_t>(rank, "SELECT count(*) FROM memory_segment"), 0);
  EXPECT_EQ(Ask<std::string>(rank, "SELECT value FROM meta WHERE key = 'tutti.version'"), "0.0.9");
  EXPECT_EQ(Ask<std::string>(rank, "SELECT value FROM meta WHERE key = 'schema.version'"),
            std::to_string(kSchemaVersion));
  EXPECT_EQ(Ask<std::string>(rank, "SELECT value FROM meta WHERE key = 'migrated.from_version'"),
            "1");
  EXPECT_EQ(Ask<int64_t>(output + "/attempt-1/rank-00003.sqlite", "SELECT end_ns FROM cpu_op"), 50);
  EXPECT_TRUE(fs::exists(output + "/manifest.d/h.1.json"));
  EXPECT_FALSE(fs::exists(output + "/run.sqlite"));
  EXPECT_FALSE(fs::exists(output + "/.spool"));
  // A copy of this version can be copied as well.
  EXPECT_TRUE(MigrateRun(output, scratch_.Path("again")).ok());
}

TEST_F(Migration, CopiesDumpsAsRunsOfTheirOwn) {
  fs::create_directories(run_ + "/dumps/0001-asked");
  WriteRank(run_ + "/dumps/0001-asked/rank-00000.sqlite", 70);
  const auto files = MigrateRun(run_, scratch_.Path("new"));
  ASSERT_TRUE(files.ok()) << files.status().message();
  EXPECT_EQ(files->back().file, "dumps/0001-asked/rank-00000.sqlite");
  EXPECT_EQ(
      Ask<int64_t>(scratch_.Path("new/dumps/0001-asked/rank-00000.sqlite"), "PRAGMA user_version"),
      kSchemaVersion);
}

TEST_F(Migration, LeavesNothingWhereItFails) {
  const auto expect_failure = [&](StatusCode code, const std::string& said) {
    const auto files = MigrateRun(run_, scratch_.Path("new"));
    ASSERT_FALSE(files.ok());
    EXPECT_EQ(files.status().code(), code);
    EXPECT_NE(files.status().message().find(said), std::string::npos) << files.status().message();
    size_t left = 0;
    for (const auto& entry : fs::directory_iterator(scratch_.Path("."))) {
      left += entry.path().filename() == "old" ? 0 : 1;
    }
    EXPECT_EQ(left, 0u);
  };
  const std::string rank = run_ + "/attempt-1/rank-00003.sqlite";
  ASSERT_TRUE(Database::OpenTrusted(rank)->Execute("PRAGMA user_version=99").ok());
  expect_failure(StatusCode::kBadData, "schema version 99");
  ASSERT_TRUE(Database::OpenTrusted(rank)
                  ->Execute("PRAGMA user_version=1; DELETE FROM meta WHERE key = 'file.complete'")
                  .ok());
  expect_failure(StatusCode::kUsage, "not complete");
  fs::remove(rank);
  std::ofstream(rank) << "no database";
  expect_failure(StatusCode::kBadData, "rank-00003.sqlite");
}

TEST_F(Migration, ReplacesNothing) {
  fs::create_directory(scratch_.Path("new"));
  EXPECT_EQ(MigrateRun(run_, scratch_.Path("new")).status().code(), StatusCode::kUsage);
}

}  // namespace
}  // namespace tutti::schema
