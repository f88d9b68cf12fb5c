// Real exports and small broken ones of the reference folder beside the checkout (or in
// TUTTI_SHARED), imported and compared with counts that plain SQL gives on the file itself.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "collector/importers/nsys/testing/import_fixture.h"

namespace tutti::collector::importers::nsys {
namespace {

namespace fs = std::filesystem;

fs::path SharedFolder() {
  const char* set = std::getenv("TUTTI_SHARED");  // NOLINT(concurrency-mt-unsafe)
  return set != nullptr ? fs::path(set) : fs::path(TUTTI_SOURCE_DIR) / ".." / "shared";
}

// The file as SQLite alone sees it, without anything of ours in between.
class PlainDatabase {
 public:
  explicit PlainDatabase(const fs::path& path) {
    sqlite3_open_v2(path.c_str(), &handle_, SQLITE_OPEN_READONLY, nullptr);
  }
  ~PlainDatabase() { sqlite3_close(handle_); }
  PlainDatabase(const PlainDatabase&) = delete;
  PlainDatabase& operator=(const PlainDatabase&) = delete;

  // The number that |sql| gives; 0 where its tables or columns are not there.
  int64_t Number(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    int64_t number = 0;
    if (sqlite3_prepare_v2(handle_, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
      number = sqlite3_column_int64(statement, 0);
    }
    sqlite3_finalize(statement);
    return number;
  }

 private:
  sqlite3* handle_ = nullptr;
};

std::vector<fs::path> Exports(const fs::path& folder) {
  std::vector<fs::path> found;
  if (!fs::exists(folder)) return found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".sqlite") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

nlohmann::json FactsOf(const fs::path& expected) {
  std::ifstream stream(expected);
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  const size_t begin = text.find("```json");
  const size_t end = text.find("```", begin + 7);
  return nlohmann::json::parse(text.substr(begin + 7, end - begin - 7));
}

class SharedFilesTest : public testing::NsysTest {
 protected:
  void SetUp() override {
    if (!fs::exists(SharedFolder())) {
      GTEST_SKIP() << "no reference files at " << SharedFolder() << "; set TUTTI_SHARED";
    }
  }

  // Sum over the traces that came of the last import.
  int64_t Sum(const std::string& sql) {
    int64_t sum = 0;
    for (size_t trace = first_; trace < trace_count(); ++trace) sum += Number(sql, trace);
    return sum;
  }
  int64_t Rows(const std::string& table) { return Sum("SELECT count(*) FROM " + table); }
  Status ImportNext(const fs::path& path) {
    first_ = trace_count();
    return Import(path.string());
  }

  size_t first_ = 0;
};

TEST_F(SharedFilesTest, CountsOfRealExportsAgree) {
  const std::map<std::string, std::string> same = {
      {"memcpy", "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY"},
      {"memset", "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMSET"},
      {"sync", "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"},
      {"api_call", "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME"},
  };
  int imported = 0;
  for (const char* folder : {"nsys-ai", "nsys-weatherbench2", "flameox"}) {
    for (const fs::path& path : Exports(SharedFolder() / "traces" / folder)) {
      SCOPED_TRACE(path);
      const Status status = ImportNext(path);
      ASSERT_TRUE(status.ok()) << status.message();
      ++imported;
      PlainDatabase plain(path);
      for (const auto& [table, sql] : same) EXPECT_EQ(Rows(table), plain.Number(sql)) << table;
      const int64_t graphs = plain.Number("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE");
      EXPECT_EQ(Rows("kernel"),
                plain.Number("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL") + graphs);
      EXPECT_EQ(Rows("overhead"), plain.Number("SELECT count(*) FROM PROFILER_OVERHEAD") +
                                      plain.Number("SELECT count(*) FROM "
                                                   "CUPTI_ACTIVITY_KIND_OVERHEAD"));
      EXPECT_EQ(Sum("SELECT count(*) FROM range AS r LEFT JOIN string AS d ON d.id = r.domain_id "
                    "WHERE d.text IS NOT 'OS runtime'"),
                plain.Number("SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)"));
      // Every event is a row or is counted.
      EXPECT_EQ(Sum("SELECT count(*) FROM range AS r JOIN string AS d ON d.id = r.domain_id "
                    "WHERE d.text = 'OS runtime'") +
                    Sum("SELECT coalesce(sum(count), 0) FROM trace_stat WHERE name IN "
                        "('os_call_not_kept', 'not_a_rank') AND detail LIKE '%OSRT_API%'"),
                plain.Number("SELECT count(*) FROM OSRT_API"));
      EXPECT_EQ(Sum("SELECT coalesce(sum(end_ns - begin_ns), 0) FROM kernel"),
                plain.Number("SELECT sum(\"end\" - start) FROM CUPTI_ACTIVITY_KIND_KERNEL") +
                    plain.Number("SELECT sum(\"end\" - start) FROM "
                                 "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"));
      EXPECT_EQ(Sum("SELECT count(*) FROM trace_stat WHERE severity IN ('data_loss', 'error')"), 0);
    }
  }
  EXPECT_GE(imported, 9);
}

TEST_F(SharedFilesTest, TwoProcessesAreTwoRanksOnTheEpoch) {
  const fs::path path = SharedFolder() / "traces/nsys-ai/mfu_2gpu_after.sqlite";
  if (!fs::exists(path)) GTEST_SKIP() << "no " << path;
  ASSERT_TRUE(ImportNext(path).ok());
  ASSERT_EQ(trace_count(), 2u);
  PlainDatabase plain(path);
  const int64_t start = plain.Number("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME");
  for (size_t rank = 0; rank < 2; ++rank) {
    const std::string of_device = " WHERE deviceId = " + std::to_string(rank);
    EXPECT_EQ(IdentityOf(rank).device, static_cast<int64_t>(rank));
    EXPECT_EQ(IdentityOf(rank).host, "modal");
    EXPECT_EQ(Number("SELECT count(*) FROM kernel", rank),
              plain.Number("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL" + of_device));
    EXPECT_EQ(
        Number("SELECT min(begin_ns) FROM kernel", rank),
        plain.Number("SELECT min(start) FROM CUPTI_ACTIVITY_KIND_KERNEL" + of_device) + start);
    EXPECT_EQ(Number("SELECT count(*) FROM collective_source", rank), 120);
    EXPECT_GT(Number("SELECT count(*) FROM cpu_op WHERE sequence_nr IS NOT NULL", rank), 0);
  }
  // Each kernel of NCCL whose launch was captured belongs to a group of sends and receives.
  EXPECT_EQ(Sum("SELECT count(DISTINCT correlation_id) FROM collective_source"),
            plain.Number("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN StringIds AS s "
                         "ON s.id = k.shortName AND s.value LIKE 'nccl%' "
                         "JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r ON r.correlationId = "
                         "k.correlationId AND r.globalTid >> 24 = k.globalPid >> 24"));
}

TEST_F(SharedFilesTest, ReportIsAnsweredWithAdvice) {
  const fs::path path = SharedFolder() / "traces/nsys-weatherbench2/report1.nsys-rep";
  if (!fs::exists(path)) GTEST_SKIP() << "no " << path;
  const Status status = ImportNext(path);
  EXPECT_NE(status.message().find("nsys export --type sqlite"), std::string::npos);
}

TEST_F(SharedFilesTest, CaseOfSchemaVariants) {
  const fs::path folder = SharedFolder() / "cases/54-nsys-schema-variants";
  if (!fs::exists(folder)) GTEST_SKIP() << "no " << folder;
  const nlohmann::json facts = FactsOf(folder / "expected.md");
  for (const auto& [name, ranges] : facts.at("nvtx").items()) {
    SCOPED_TRACE(name);
    const Status status = ImportNext(folder / (name + ".sqlite"));
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(Rows("kernel"), facts.at("kernels_each").get<int64_t>());
    EXPECT_EQ(Sum("SELECT sum(end_ns - begin_ns) FROM kernel"),
              facts.at("kernel_ns_each").get<int64_t>());
    EXPECT_EQ(Rows("range"), ranges.get<int64_t>());
    EXPECT_EQ(Text("SELECT format_version FROM import_source", first_),
              name == "old" ? "2.9.1" : "3.25.0");
  }
  EXPECT_FALSE(importer_.Recognizes(FileAt(folder / "empty.sqlite")));
  EXPECT_FALSE(importer_.Recognizes(FileAt(folder / "notdb.sqlite")));
}

// Name of the innermost push/pop ranges around the launch of a kernel, outermost first.
std::string AttributionSql(const std::string& kernel) {
  return "SELECT coalesce(group_concat(name, '/'), '') FROM (SELECT n.text AS name FROM kernel AS k"
         " JOIN api_call AS a ON a.correlation_id = k.correlation_id"
         " JOIN range AS r ON r.tid = a.tid AND r.kind = 'push_pop' AND r.begin_ns <= a.begin_ns"
         "  AND (r.end_ns IS NULL OR r.end_ns > a.begin_ns)"
         " JOIN string AS n ON n.id = r.name_id"
         " WHERE k.correlation_id = " +
         kernel + " ORDER BY r.depth)";
}

TEST_F(SharedFilesTest, CaseOfNvtxRanges) {
  const fs::path folder = SharedFolder() / "cases/55-nvtx-ranges";
  if (!fs::exists(folder)) GTEST_SKIP() << "no " << folder;
  const nlohmann::json facts = FactsOf(folder / "expected.md");
  ASSERT_TRUE(ImportNext(folder / "nvtx.sqlite").ok());
  EXPECT_EQ(Rows("range WHERE kind <> 'mark' AND end_ns IS NOT NULL"),
            facts.at("ranges_closed").get<int64_t>());
  EXPECT_EQ(Rows("range WHERE end_ns IS NULL"), facts.at("ranges_open").get<int64_t>());
  EXPECT_EQ(Rows("range WHERE kind = 'mark'"), facts.at("marks").get<int64_t>());
  for (const auto& [kernel, path] : facts.at("attribution").items()) {
    EXPECT_EQ(Text(AttributionSql(kernel)), path.get<std::string>()) << kernel;
  }
  EXPECT_EQ(Rows("range WHERE kind = 'start_end' AND end_tid IS NOT NULL"), 1);
}

}  // namespace
}  // namespace tutti::collector::importers::nsys
