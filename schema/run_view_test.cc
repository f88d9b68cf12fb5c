#include "schema/run_view.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "schema/catalog.h"
#include "schema/reader.h"
#include "schema/rows.h"
#include "schema/sql.h"
#include "schema/testing/scratch.h"
#include "schema/writer.h"

namespace tutti::schema {
namespace {

using testing::Scratch;
namespace fs = std::filesystem;

// Five operators named "op<rank>" and two steps of 10 ns × (rank + 1) each.
void WriteRank(const std::string& path, int64_t rank, int64_t attempt = 0, bool finish = true) {
  fs::create_directories(fs::path(path).parent_path());
  std::unique_ptr<TraceWriter> writer = *TraceWriter::Create(path);
  EXPECT_TRUE(
      writer->Append(ProcessRow{.pid = 100 + rank, .host = "h", .rank = rank, .attempt = attempt})
          .ok());
  EXPECT_TRUE(writer->Append(StringRow{.id = 3, .text = "op" + std::to_string(rank)}).ok());
  for (int64_t id = 0; id < 5; ++id) {
    EXPECT_TRUE(
        writer
            ->Append(CpuOpRow{
                .id = id, .tid = 1, .name_id = 3, .begin_ns = 100 * id, .end_ns = 100 * id + rank})
            .ok());
  }
  for (int64_t id = 0; id < 2; ++id) {
    EXPECT_TRUE(writer
                    ->Append(StepRow{.id = id,
                                     .number = id,
                                     .tid = 1,
                                     .begin_ns = 1000 * id,
                                     .end_ns = 1000 * id + 10 * (rank + 1),
                                     .origin = "annotate"})
                    .ok());
  }
  EXPECT_TRUE((finish ? writer->Finalize() : writer->Commit()).ok());
}

// The result as text: columns by '|', rows by ';'.
std::string Query(Database& database, const std::string& sql) {
  Result<Statement> statement = database.Prepare(sql);
  if (!statement.ok()) return "error: " + statement.status().message();
  std::string text;
  for (;;) {
    const Result<bool> found = statement->Step();
    if (!found.ok()) return "error: " + found.status().message();
    if (!*found) return text;
    if (!text.empty()) text += ";";
    for (int column = 0; column < statement->column_count(); ++column) {
      if (column > 0) text += "|";
      const NullableValue value = statement->GetAny(column);
      if (!value) text += "NULL";
      if (value && std::holds_alternative<int64_t>(*value)) {
        text += std::to_string(std::get<int64_t>(*value));
      }
      if (value && std::holds_alternative<std::string>(*value)) {
        text += std::get<std::string>(*value);
      }
    }
  }
}

std::string Query(RunView& run, const std::string& sql) { return Query(run.database(), sql); }

class ThreeRanks : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int64_t rank = 0; rank < 3; ++rank) {
      WriteRank(scratch_.Path("rank-0000" + std::to_string(rank) + ".sqlite"), rank);
    }
    WriteRank(scratch_.Path("attempt-1/rank-00001.sqlite"), 1, 1);
    Result<RunView> run = RunView::Open(scratch_.Path(""));
    ASSERT_TRUE(run.ok()) << run.status().message();
    run_.emplace(std::move(run).value());
  }
  std::string Ask(const std::string& sql) { return Query(*run_, sql); }

  Scratch scratch_;
  std::optional<RunView> run_;
};

TEST_F(ThreeRanks, AreOneTableWithRankAndAttemptFirst) {
  EXPECT_EQ(Ask("SELECT * FROM step WHERE id = 0"),
            "0|0|0|0|1|0|10|annotate;1|0|0|0|1|0|20|annotate;1|1|0|0|1|0|20|annotate;"
            "2|0|0|0|1|0|30|annotate");
  EXPECT_EQ(Ask("SELECT rank, attempt, count(*) FROM cpu_op GROUP BY rank, attempt"),
            "0|0|5;1|0|5;1|1|5;2|0|5");
}

TEST_F(ThreeRanks, ViewsHaveTheNamesOfTheirOwnFile) {
  EXPECT_EQ(Ask("SELECT DISTINCT rank, name FROM v_cpu_op ORDER BY rank"), "0|op0;1|op1;2|op2");
  EXPECT_EQ(Ask("SELECT sum(duration_ns) FROM v_step WHERE attempt = 0"), "120");
}

TEST_F(ThreeRanks, ARanksOwnColumnsGiveWayToThoseOfTheFile) {
  EXPECT_EQ(Ask("SELECT rank, attempt, pid, host FROM process"),
            "0|0|100|h;1|0|101|h;1|1|101|h;2|0|102|h");
}

TEST_F(ThreeRanks, OnlyTheFilesOfTheRanksAskedForAreOpened) {
  EXPECT_EQ(Ask("SELECT count(*) FROM cpu_op WHERE rank = 2"), "5");
  EXPECT_LE(run_->open_files(), 2u) << "rank 2, and the first for the estimate";
  std::ofstream(scratch_.Path("rank-00001.sqlite"), std::ios::trunc) << "damaged";
  EXPECT_EQ(Ask("SELECT count(*) FROM cpu_op WHERE rank IN (0, 2)"), "10");
  EXPECT_EQ(Ask("SELECT count(*) FROM cpu_op WHERE rank <> 1"), "10");
  EXPECT_EQ(Ask("SELECT count(*) FROM cpu_op WHERE rank > 1"), "5");
  EXPECT_EQ(Ask("SELECT count(*) FROM cpu_op WHERE rank = 1 AND attempt = 1"), "5");
}

TEST_F(ThreeRanks, ADamagedFileIsNamed) {
  const std::string path = scratch_.Path("rank-00001.sqlite");
  std::ofstream(path, std::ios::trunc) << std::string(5000, 'x');
  Statement count = *run_->database().Prepare("SELECT count(*) FROM cpu_op");
  const Status status = count.Step().status();
  EXPECT_EQ(status.code(), StatusCode::kBadData);
  EXPECT_EQ(status.message(), path + ": not an SQLite database");
}

TEST_F(ThreeRanks, JoinsLookUpByPrimaryKeyInTheRightFile) {
  EXPECT_EQ(Ask("SELECT o.rank, o.id, s.text FROM cpu_op AS o JOIN string AS s "
                "ON s.rank = o.rank AND s.attempt = o.attempt AND s.id = o.name_id "
                "WHERE o.id = 4 ORDER BY o.rank, o.attempt"),
            "0|4|op0;1|4|op1;1|4|op1;2|4|op2");
}

TEST_F(ThreeRanks, ComparisonsFollowSqlitesRules) {
  EXPECT_EQ(Ask("SELECT count(*) FROM cpu_op WHERE rank = '2'"), "5");
  EXPECT_EQ(Ask("SELECT count(*) FROM cpu_op WHERE rank = 2.0"), "5");
  EXPECT_EQ(Ask("SELECT count(*) FROM cpu_op WHERE rank > 0.5"), "15");
  EXPECT_EQ(Ask("SELECT count(*) FROM cpu_op WHERE rank = NULL"), "0");
  EXPECT_EQ(Ask("SELECT count(*) FROM cpu_op WHERE rank IS NULL"), "0");
  EXPECT_EQ(Ask("SELECT count(*) FROM cpu_op WHERE begin_ns >= '300'"), "8");
  EXPECT_EQ(Ask("SELECT count(*) FROM string WHERE text = 'OP1' COLLATE NOCASE"), "2");
  EXPECT_EQ(Ask("SELECT count(*) FROM string WHERE text = 'OP1'"), "0");
  EXPECT_EQ(Ask("SELECT count(*) FROM cpu_op WHERE id BETWEEN 1 AND 2 AND end_ns <> 101"), "6");
}

TEST_F(ThreeRanks, OrderIsWhatWasAskedForWhoeverSorts) {
  EXPECT_EQ(Ask("SELECT rank, attempt, id FROM step ORDER BY rank, attempt, id"),
            "0|0|0;0|0|1;1|0|0;1|0|1;1|1|0;1|1|1;2|0|0;2|0|1");
  EXPECT_EQ(Ask("SELECT rank, attempt, id FROM step ORDER BY id, rank, attempt"),
            "0|0|0;1|0|0;1|1|0;2|0|0;0|0|1;1|0|1;1|1|1;2|0|1");
  EXPECT_EQ(Ask("SELECT rank, id FROM step WHERE attempt = 0 ORDER BY rank DESC, id DESC"),
            "2|1;2|0;1|1;1|0;0|1;0|0");
  EXPECT_EQ(Ask("SELECT rank FROM step WHERE rank IN (2, 0) AND id = 0 ORDER BY rank"), "0;2");
  EXPECT_EQ(Ask("SELECT rank, id FROM step WHERE rank = 1 ORDER BY rank, id"), "1|0;1|0;1|1;1|1")
      << "two attempts of rank 1 interleave";
}

std::string PlanOf(RunView& run, const std::string& sql) {
  Statement plan = *run.database().Prepare("EXPLAIN QUERY PLAN " + sql);
  std::string text;
  while (*plan.Step()) text += *plan.Get<std::string>(3) + "\n";
  return text;
}

TEST_F(ThreeRanks, NothingIsSortedThatComesSorted) {
  EXPECT_EQ(PlanOf(*run_, "SELECT id FROM step ORDER BY rank, attempt, id").find("TEMP B-TREE"),
            std::string::npos);
  EXPECT_NE(PlanOf(*run_, "SELECT id FROM step ORDER BY rank, id").find("TEMP B-TREE"),
            std::string::npos)
      << "an attempt of rank 1 stands between";
}

TEST_F(ThreeRanks, TypedReadsWorkOnTheView) {
  const Result<std::vector<StepRow>> steps =
      ReadAll<StepRow>(run_->database(), "WHERE rank = ?1 AND attempt = ?2 ORDER BY id", 2, 0);
  ASSERT_TRUE(steps.ok()) << steps.status().message();
  ASSERT_EQ(steps->size(), 2u);
  EXPECT_EQ((*steps)[1].end_ns, 1030);
}

TEST_F(ThreeRanks, NothingCanBeWritten) {
  for (const char* sql : {"DELETE FROM step", "INSERT INTO meta VALUES (1, 1, 'a', 'b')",
                          "CREATE TABLE t (x)", "CREATE TEMP TABLE t (x)", "ATTACH '/tmp/x' AS x",
                          "DROP TABLE step", "VACUUM INTO '/tmp/x'", "PRAGMA query_only=OFF"}) {
    EXPECT_EQ(Ask(sql).rfind("error: ", 0), 0u) << sql;
  }
  EXPECT_EQ(Ask("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 3) "
                "SELECT x FROM n"),
            "1;2;3");
}

TEST_F(ThreeRanks, DerivedTablesAreThereOnceTheRunWasAnalyzed) {
  EXPECT_EQ(Ask("SELECT * FROM run_meta"), "error: no such table: run_meta");
  Database derived = *Database::Create(scratch_.Path("run.sqlite"));
  ASSERT_TRUE(derived.Execute(std::string(DerivedSql())).ok());
  ASSERT_TRUE(derived
                  .Execute("PRAGMA application_id=" + std::to_string(kApplicationId) +
                           "; PRAGMA user_version=1; INSERT INTO run_meta VALUES ('k', 'v')")
                  .ok());
  RunView run = *RunView::Open(scratch_.Path(""));
  EXPECT_EQ(Query(run, "SELECT * FROM run_meta"), "k|v");
  EXPECT_EQ(Query(run, "SELECT * FROM run_meta WHERE key = 'x'"), "");
  EXPECT_EQ(Query(run, "SELECT count(*) FROM v_finding"), "0");
  RunView alone = *RunView::Open(scratch_.Path("run.sqlite"));
  EXPECT_EQ(Query(alone, "SELECT * FROM run_meta"), "k|v");
}

// The oracle: the same rows in ordinary tables of one ordinary database.
Database Merged(RunView& run) {
  Database merged = *Database::OpenMemory();
  EXPECT_TRUE(merged
                  .Execute("CREATE TABLE step (rank INTEGER, attempt INTEGER, id INTEGER, number "
                           "INTEGER, end_ns INTEGER, origin TEXT)")
                  .ok());
  Statement from = *run.database().Prepare(
      "SELECT rank, attempt, id, number, end_ns, origin FROM "
      "step");
  Statement into = *merged.Prepare("INSERT INTO step VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
  while (*from.Step()) {
    for (int column = 0; column < 6; ++column) {
      EXPECT_TRUE(into.Bind(column + 1, from.GetAny(column)).ok());
    }
    EXPECT_TRUE(into.Run().ok());
  }
  return merged;
}

template <typename T>
const T& Pick(std::mt19937& random, const std::vector<T>& choices) {
  return choices[random() % choices.size()];
}

std::string RandomQuery(std::mt19937& random) {
  static const std::vector<std::string> kColumns = {"rank",   "attempt", "id",
                                                    "number", "end_ns",  "origin"};
  static const std::vector<std::string> kOperators = {"=",  "<",  "<=", ">",
                                                      ">=", "<>", "IS", "IS NOT"};
  static const std::vector<std::string> kValues = {"0",          "1",     "2",    "-1",     "1.5",
                                                   "'1'",        "' 1'",  "NULL", "20",     "1020",
                                                   "'annotate'", "x'31'", "9e99", "b.rank", "b.id"};
  std::string sql =
      "SELECT a.rank, a.attempt, a.id, a.end_ns, b.rank, b.attempt, b.id "
      "FROM step AS a JOIN step AS b ON a.id = b.id AND a.rank <= b.rank";
  for (unsigned i = random() % 4; i > 0; --i) {
    sql += " AND a." + Pick(random, kColumns) + " " + Pick(random, kOperators) + " " +
           Pick(random, kValues);
  }
  // A total order, so that the results can be compared.
  std::string order = random() % 2 == 0 ? " ORDER BY a.rank, a.attempt, a.id"
                                        : " ORDER BY a." + Pick(random, kColumns) + " DESC";
  return sql + order + ", a.rank, a.attempt, a.id, b.rank, b.attempt, b.id";
}

TEST_F(ThreeRanks, AnswerAsOrdinaryTablesWould) {
  RunView& run = *run_;
  Database merged = Merged(run);
  std::mt19937 random(20261130);
  int with_rows = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::string sql = RandomQuery(random);
    const std::string expected = Query(merged, sql);
    ASSERT_EQ(Query(run.database(), sql), expected) << sql;
    with_rows += expected.empty() ? 0 : 1;
  }
  EXPECT_GT(with_rows, 500);
}

// Every view and table can be read through the module, with every column.
TEST_F(ThreeRanks, EveryTableAndViewOfTheSchemaCanBeRead) {
  for (const CatalogTable& table : RawCatalog().tables) {
    const std::string result = Ask("SELECT * FROM \"" + table.name + "\"");
    EXPECT_NE(result.rfind("error", 0), 0u) << table.name << ": " << result;
  }
}

TEST(RunView, ReadsOneFileByItself) {
  const Scratch scratch;
  WriteRank(scratch.Path("mine.sqlite"), 6, 2);
  RunView run = *RunView::Open(scratch.Path("mine.sqlite"));
  EXPECT_EQ(Query(run, "SELECT rank, attempt, count(*) FROM step"), "6|2|2");
}

TEST(RunView, ReadsAnUnfinishedFile) {
  const Scratch scratch;
  WriteRank(scratch.Path("rank-00000.sqlite.part"), 0, 0, /*finish=*/false);
  WriteRank(scratch.Path("rank-00001.sqlite"), 1);
  RunView run = *RunView::Open(scratch.Path(""));
  EXPECT_EQ(Query(run, "SELECT rank, count(*) FROM step GROUP BY rank"), "0|2;1|2");
}

TEST(RunView, FollowsAFileThatIsFinishedMeanwhile) {
  const Scratch scratch;
  const std::string part = scratch.Path("rank-00000.sqlite.part");
  WriteRank(part, 0);
  RunView run = *RunView::Open(scratch.Path(""));
  fs::rename(part, scratch.Path("rank-00000.sqlite"));
  EXPECT_EQ(Query(run, "SELECT count(*) FROM step"), "2");
}

TEST(RunView, HundredsOfRanksTakeFewOpenFiles) {
  const Scratch scratch;
  WriteRank(scratch.Path("rank-00000.sqlite"), 0);
  constexpr int kRanks = 300;
  for (int rank = 1; rank < kRanks; ++rank) {
    char name[32];
    std::snprintf(name, sizeof name, "rank-%05d.sqlite", rank);
    fs::copy(scratch.Path("rank-00000.sqlite"), scratch.Path(name));
  }
  RunView run = *RunView::Open(scratch.Path(""), {.max_idle_files = 8});
  EXPECT_EQ(Query(run, "SELECT count(*), max(rank) FROM cpu_op"), "1500|299");
  EXPECT_LE(run.open_files(), 8u);
  EXPECT_EQ(Query(run,
                  "SELECT count(*) FROM cpu_op AS o JOIN string AS s ON s.rank = o.rank AND "
                  "s.attempt = o.attempt AND s.id = o.name_id"),
            "1500");
  EXPECT_LE(run.open_files(), 8u);
  size_t open = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd")) ++open;
  EXPECT_LT(open, 40u);
}

TEST(RunView, SaysWhatIsMissing) {
  const Scratch scratch;
  EXPECT_EQ(RunView::Open(scratch.Path("none")).status().code(), StatusCode::kNotFound);
  const Status empty = RunView::Open(scratch.Path("")).status();
  EXPECT_EQ(empty.code(), StatusCode::kNotFound);
  EXPECT_NE(empty.message().find("no trace in this folder"), std::string::npos);
}

TEST(FindRunFiles, OrdersByRankAndAttemptAndPrefersFinishedFiles) {
  const Scratch scratch;
  fs::create_directories(scratch.Path("attempt-2"));
  fs::create_directories(scratch.Path("attempt-x"));
  for (const char* name : {"rank-00010.sqlite", "rank-00002.sqlite.part", "rank-00002.sqlite",
                           "rank-00003.sqlite.part", "rank-x.sqlite", "rank-00002.sqlite-wal",
                           "rank-00003.sqlite.part.ballast", "notes.txt",
                           "attempt-2/rank-00002.sqlite", "attempt-x/rank-00009.sqlite"}) {
    std::ofstream(scratch.Path(name)).close();
  }
  const RunFileSet files = *FindRunFiles(scratch.Path(""));
  ASSERT_EQ(files.ranks.size(), 4u);
  const auto is = [&](size_t i, int64_t rank, int64_t attempt, bool is_part) {
    return files.ranks[i].rank == rank && files.ranks[i].attempt == attempt &&
           files.ranks[i].is_part == is_part;
  };
  EXPECT_TRUE(is(0, 2, 0, false));
  EXPECT_TRUE(is(1, 2, 2, false));
  EXPECT_TRUE(is(2, 3, 0, true));
  EXPECT_TRUE(is(3, 10, 0, false));
  EXPECT_EQ(files.derived, "");
}

}  // namespace
}  // namespace tutti::schema
