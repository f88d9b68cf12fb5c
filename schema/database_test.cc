// Files that nobody vouches for.
#include "schema/database.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "schema/reader.h"
#include "schema/rows.h"
#include "schema/sql.h"
#include "schema/testing/scratch.h"
#include "schema/trace_file.h"
#include "schema/writer.h"

namespace tutti::schema {
namespace {

using testing::Scratch;

constexpr ReadOptions kNoCheck{.quick_check = false};

// What an attacker can do: any SQL, without any of the product's limits.
void RunSql(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  char* error = nullptr;
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
  sqlite3_close(database);
}

// A finished rank file with a few operators.
std::string MakeRankFile(const Scratch& scratch, int64_t operators = 3) {
  const std::string path = scratch.Path("rank-00000.sqlite");
  std::unique_ptr<TraceWriter> writer = *TraceWriter::Create(path);
  for (int64_t id = 0; id < operators; ++id) {
    EXPECT_TRUE(writer->Append(CpuOpRow{.id = id, .tid = 1, .begin_ns = id}).ok());
  }
  EXPECT_TRUE(writer->Finalize().ok());
  return path;
}

// One line that names the file, as every message about a bad file must be.
void ExpectRefused(const Status& status, const std::string& path, const std::string& reason) {
  EXPECT_EQ(status.code(), StatusCode::kBadData) << status.message();
  EXPECT_EQ(status.message().rfind(path + ": ", 0), 0u) << status.message();
  EXPECT_EQ(status.message().find('\n'), std::string::npos) << status.message();
  EXPECT_NE(status.message().find(reason), std::string::npos) << status.message();
}

TEST(RankFile, OpensWhatTheWriterMade) {
  const Scratch scratch;
  Result<Database> database = OpenRankFile(MakeRankFile(scratch));
  ASSERT_TRUE(database.ok()) << database.status().message();
  EXPECT_EQ(ReadAll<CpuOpRow>(*database)->size(), 3u);
}

TEST(RankFile, AMissingFileIsNotFound) {
  EXPECT_EQ(OpenRankFile("/no/such/folder/x.sqlite").status().code(), StatusCode::kNotFound);
  const Scratch scratch;
  const Status status = OpenRankFile(scratch.Path("x.sqlite")).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.message(), scratch.Path("x.sqlite") + ": No such file or directory");
}

TEST(RankFile, RefusesAnotherApplicationsDatabase) {
  const Scratch scratch;
  RunSql(scratch.Path("x.sqlite"), "CREATE TABLE cpu_op (id)");
  ExpectRefused(OpenRankFile(scratch.Path("x.sqlite")).status(), scratch.Path("x.sqlite"),
                "not one of tutti's traces");
}

TEST(RankFile, RefusesANewerVersionByNumber) {
  const Scratch scratch;
  const std::string path = MakeRankFile(scratch);
  RunSql(path, "PRAGMA user_version=7");
  ExpectRefused(OpenRankFile(path).status(), path,
                "schema version 7, this build reads up to " + std::to_string(kSchemaVersion) +
                    "; a newer tutti is needed");
}

TEST(RankFile, RefusesAViewInATablesPlace) {
  const Scratch scratch;
  const std::string path = MakeRankFile(scratch);
  RunSql(path,
         "DROP VIEW v_cpu_op; DROP TABLE cpu_op; CREATE VIEW cpu_op AS WITH RECURSIVE "
         "endless(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM endless) SELECT id FROM endless");
  ExpectRefused(OpenRankFile(path).status(), path, "cpu_op is a view where a table belongs");
  // Even without that check, the view can't run.
  Database database = *Database::OpenReadOnly(path);
  EXPECT_FALSE(database.Prepare("SELECT * FROM cpu_op").ok());
  EXPECT_NE(database.Prepare("SELECT * FROM v_step").status().message().find("access to view"),
            std::string::npos);
}

TEST(RankFile, RefusesAViewDisguisedAsATableInTheSchemaTable) {
  const Scratch scratch;
  const std::string path = MakeRankFile(scratch);
  RunSql(path,
         "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = 'CREATE VIEW step AS SELECT "
         "1 AS id' WHERE name = 'step'");
  const Status status = OpenRankFile(path).status();
  EXPECT_EQ(status.code(), StatusCode::kBadData) << status.message();
}

TEST(RankFile, RefusesGeneratedColumns) {
  const Scratch scratch;
  const std::string path = MakeRankFile(scratch);
  RunSql(
      path,
      "DROP VIEW v_data_wait; DROP TABLE batch; CREATE TABLE batch (id INTEGER PRIMARY KEY, tid, "
      "time_ns, samples, tokens AS (zeroblob(1000000000)))");
  ExpectRefused(OpenRankFile(path).status(), path, "batch has no stored column tokens");
}

TEST(RankFile, RefusesAVirtualTable) {
  const Scratch scratch;
  const std::string path = MakeRankFile(scratch);
  RunSql(path,
         "DROP TABLE batch; CREATE VIRTUAL TABLE batch USING fts5(id, tid, time_ns, samples, "
         "tokens)");
  const Status status = OpenRankFile(path).status();
  EXPECT_EQ(status.code(), StatusCode::kBadData) << status.message();
}

TEST(RankFile, RefusesAMissingTable) {
  const Scratch scratch;
  const std::string path = MakeRankFile(scratch);
  RunSql(path, "DROP TABLE batch");
  ExpectRefused(OpenRankFile(path).status(), path, "table batch is missing");
}

TEST(RankFile, ReadsThoughItsSchemaHoldsTriggersAndShadowingNames) {
  const Scratch scratch;
  const std::string path = MakeRankFile(scratch);
  RunSql(path,
         "CREATE TRIGGER t AFTER INSERT ON step BEGIN DELETE FROM cpu_op; END;"
         "CREATE TABLE pragma_table_info (name); CREATE TABLE pragma_table_list (type)");
  Result<Database> database = OpenRankFile(path);
  ASSERT_TRUE(database.ok()) << database.status().message();
  EXPECT_EQ(ReadAll<CpuOpRow>(*database)->size(), 3u);
}

TEST(RankFile, SaysWhichColumnHoldsAWrongType) {
  const Scratch scratch;
  const std::string path = MakeRankFile(scratch);
  RunSql(path,
         "DROP TABLE batch; CREATE TABLE batch (id INTEGER PRIMARY KEY, tid, time_ns, samples, "
         "tokens); INSERT INTO batch VALUES (1, 1, 'noon', NULL, NULL)");
  Database database = *OpenRankFile(path);
  ExpectRefused(ReadAll<BatchRow>(database).status(), path,
                "batch.time_ns holds TEXT where INTEGER belongs");
}

TEST(RankFile, RefusesHugeText) {
  const Scratch scratch;
  const std::string path = MakeRankFile(scratch);
  RunSql(path, "INSERT INTO string VALUES (1, printf('%.*c', 20000000, 'x'))");
  Result<Database> database = OpenRankFile(path, kNoCheck);
  ASSERT_TRUE(database.ok()) << database.status().message();
  ExpectRefused(ReadAll<StringRow>(*database).status(), path, "larger than this build reads");
}

TEST(RankFile, RefusesATruncatedFile) {
  const Scratch scratch;
  const std::string path = MakeRankFile(scratch, 20'000);
  for (const int64_t bytes : {200'000, 16'384, 5'000, 100}) {
    ASSERT_EQ(truncate(path.c_str(), bytes), 0);
    const Status status = OpenRankFile(path).status();
    EXPECT_EQ(status.code(), StatusCode::kBadData) << bytes << " " << status.message();
    EXPECT_NE(status.message().find(path), std::string::npos) << status.message();
  }
}

TEST(RankFile, RefusesAnEmptyFileAndOneThatIsNoDatabase) {
  const Scratch scratch;
  const std::string path = scratch.Path("x.sqlite");
  std::ofstream(path).close();
  ExpectRefused(OpenRankFile(path).status(), path, "not one of tutti's traces");
  std::ofstream(path) << std::string(5000, 'x');
  ExpectRefused(OpenRankFile(path).status(), path, "not an SQLite database");
}

// Any damage may be found at opening, while reading, or be harmless; never a crash, and
// never more rows than were written.
TEST(RankFile, SurvivesDamagedPages) {
  const Scratch scratch;
  const std::string path = MakeRankFile(scratch, 5'000);
  std::ifstream source(path, std::ios::binary);
  const std::string intact((std::istreambuf_iterator<char>(source)), {});
  int refused = 0;
  unsigned random = 20261130;
  for (int round = 0; round < 300; ++round) {
    std::string damaged = intact;
    for (int hit = 0; hit < 8; ++hit) {
      random = random * 1664525 + 1013904223;
      damaged[random % damaged.size()] = static_cast<char>(random >> 24);
    }
    std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
    Result<Database> database = OpenRankFile(path, kNoCheck);
    const Status status = database.ok() ? ReadAll<CpuOpRow>(*database).status() : database.status();
    if (!status.ok()) {
      ++refused;
      EXPECT_EQ(status.message().find('\n'), std::string::npos) << status.message();
    }
  }
  EXPECT_GT(refused, 50);
}

TEST(RankFile, RefusesALinkAPipeAndAFolder) {
  const Scratch scratch;
  const std::string path = MakeRankFile(scratch);
  const std::string link = scratch.Path("link.sqlite");
  ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
  ExpectRefused(OpenRankFile(link).status(), link, "a symbolic link");
  const std::string pipe = scratch.Path("pipe.sqlite");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  ExpectRefused(OpenRankFile(pipe).status(), pipe, "not a regular file");
  ExpectRefused(OpenRankFile(scratch.Path("")).status(), scratch.Path(""), "");
}

TEST(RankFile, OpensThroughALinkedFolder) {
  const Scratch scratch;
  MakeRankFile(scratch);
  const Scratch other;
  ASSERT_EQ(symlink(scratch.Path("").c_str(), other.Path("runs").c_str()), 0);
  EXPECT_TRUE(OpenRankFile(other.Path("runs/rank-00000.sqlite")).ok());
}

TEST(ReadOnly, RefusesEverythingButReading) {
  const Scratch scratch;
  Database database = *OpenRankFile(MakeRankFile(scratch));
  for (const char* sql :
       {"DELETE FROM cpu_op", "ATTACH ':memory:' AS other", "PRAGMA writable_schema=ON",
        "CREATE TEMP TABLE t (x)", "PRAGMA query_only=OFF", "VACUUM", "DROP TABLE cpu_op",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n",
        "SELECT load_extension('x')", "BEGIN IMMEDIATE"}) {
    Result<Statement> statement = database.Prepare(sql);
    EXPECT_FALSE(statement.ok() && statement->Step().ok()) << sql;
  }
}

TEST(ReadOnly, StopsAtTheDeadline) {
  const Scratch scratch;
  Database database = *OpenRankFile(MakeRankFile(scratch, 20'000));
  database.SetDeadline(std::chrono::milliseconds(50));
  const Status status =
      database.QueryOne<int64_t>("SELECT count(*) FROM cpu_op a, cpu_op b, cpu_op c").status();
  EXPECT_EQ(status.code(), StatusCode::kBadData);
  EXPECT_NE(status.message().find("took longer"), std::string::npos) << status.message();
  database.SetDeadline(std::chrono::milliseconds(-1));
  EXPECT_EQ(*database.QueryOne<int64_t>("SELECT count(*) FROM cpu_op"), 20'000);
}

TEST(ReadOnly, LeavesTheFileByteForByte) {
  const Scratch scratch;
  const std::string path = MakeRankFile(scratch);
  const auto before = std::filesystem::last_write_time(path);
  { Database database = *OpenRankFile(path); }
  EXPECT_EQ(std::filesystem::last_write_time(path), before);
  EXPECT_FALSE(std::filesystem::exists(path + "-journal"));
}

TEST(Prepare, RefusesMoreThanOneStatement) {
  Database database = *Database::OpenMemory();
  EXPECT_TRUE(database.Prepare("SELECT 1; -- done").ok());
  EXPECT_EQ(database.Prepare("SELECT 1; SELECT 2").status().code(), StatusCode::kUsage);
  EXPECT_EQ(database.Prepare("SELECT 1; nonsense").status().code(), StatusCode::kUsage);
  EXPECT_EQ(database.Prepare(" -- nothing").status().code(), StatusCode::kUsage);
  EXPECT_EQ(database.Prepare("SELEC 1").status().code(), StatusCode::kUsage);
}

TEST(Get, RefusesToConvert) {
  Database database = *Database::OpenMemory();
  EXPECT_EQ(database.QueryOne<int64_t>("SELECT '12'").status().code(), StatusCode::kBadData);
  EXPECT_EQ(database.QueryOne<int64_t>("SELECT NULL").status().code(), StatusCode::kBadData);
  EXPECT_EQ(*database.QueryOne<std::optional<int64_t>>("SELECT NULL"), std::nullopt);
  EXPECT_EQ(*database.QueryOne<Value>("SELECT x'00ff'"), Value(Blob{std::string("\0\xFF", 2)}));
  EXPECT_EQ(*database.QueryOne<std::string>("SELECT ?1 || ?2", "a", std::string("b")), "ab");
}

}  // namespace
}  // namespace tutti::schema
