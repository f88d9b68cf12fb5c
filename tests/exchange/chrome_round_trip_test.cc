// A PyTorch trace imported, exported as a Chrome trace, and imported again gives the same
// rows, whatever ids they have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "collector/import.h"
#include "exporter/exporter.h"
#include "schema/catalog.h"
#include "schema/database.h"
#include "schema/run_files.h"
#include "schema/testing/scratch.h"
#include "schema/trace_file.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

fs::path SharedFolder() {
  const char* set = std::getenv("TUTTI_SHARED");  // NOLINT(concurrency-mt-unsafe)
  return set != nullptr ? fs::path(set) : fs::path(TUTTI_SOURCE_DIR) / ".." / "shared";
}

// What an id column stands for in a comparison: numbers are given anew by each import.
std::string Comparable(const std::string& table, const std::string& column) {
  static const std::set<std::string> kTexts = {"name_id",   "domain_id", "category_id",
                                               "shapes_id", "op_id",     "dtype_id",
                                               "kind_id",   "loader_id", "stack_id"};
  const std::string name = "t.\"" + column + "\"";
  if (kTexts.contains(column)) return "(SELECT text FROM string WHERE id = " + name + ")";
  if (column == "communicator_id") {
    return "(SELECT uid FROM communicator WHERE id = " + name + ")";
  }
  if (column == "counter_id") return "(SELECT name FROM counter WHERE id = " + name + ")";
  if (column == "id" && table != "device") return "";
  return name;
}

// All rows of a table as text, sorted.
std::vector<std::string> RowsOf(schema::Database& trace, const schema::CatalogTable& table) {
  std::string columns;
  for (const schema::CatalogColumn& column : table.columns) {
    const std::string comparable = Comparable(table.name, column.name);
    if (comparable.empty()) continue;
    columns += (columns.empty() ? "'" + column.name + "='" : " || ' " + column.name + "='") +
               " || coalesce(" + comparable + ", 'NULL')";
  }
  // Threads that a file names by words ("Traces") get numbers above 2^62, anew each time.
  const std::string where =
      table.Find("tid") == nullptr ? "" : " WHERE t.tid IS NULL OR t.tid < 1 << 62";
  auto rows = trace.Prepare("SELECT " + columns + " AS row FROM \"" + table.name + "\" AS t" +
                            where + " ORDER BY row");
  EXPECT_TRUE(rows.ok()) << rows.status().message();
  std::vector<std::string> texts;
  while (rows.ok()) {
    const auto more = rows->Step();
    if (!more.ok() || !*more) break;
    texts.push_back(*rows->Get<std::string>(0));
  }
  return texts;
}

class ChromeRoundTripTest : public ::testing::Test {
 protected:
  // The one trace that comes of importing |file|.
  Result<schema::Database> Imported(const std::string& file, const std::string& run) {
    TUTTI_ASSIGN_OR_RETURN(const auto report, collector::Import({.inputs = {file}, .output = run}));
    return schema::OpenRankFile(report.run_path + "/" + report.traces.at(0).file);
  }

  void CompareAfterRoundTrip(const fs::path& source) {
    SCOPED_TRACE(source);
    const std::string number = std::to_string(runs_++);
    auto before = Imported(source, scratch_.Path("before-" + number));
    ASSERT_TRUE(before.ok()) << before.status().message();
    const std::string json = scratch_.Path("trace-" + number + ".json");
    const auto exported =
        exporter::Export({.run = before->path(), .format = "chrome", .output = json});
    ASSERT_TRUE(exported.ok()) << exported.status().message();
    auto after = Imported(json, scratch_.Path("after-" + number));
    ASSERT_TRUE(after.ok()) << after.status().message();
    for (const char* name : {"thread",       "device",       "stream",
                             "communicator", "step",         "range",
                             "gpu_range",    "phase",        "cpu_op",
                             "python_call",  "api_call",     "kernel",
                             "memcpy",       "memset",       "sync",
                             "overhead",     "flow",         "collective_source",
                             "data_wait",    "memory_event", "counter_sample"}) {
      const schema::CatalogTable* table = schema::RawCatalog().Find(name);
      ASSERT_NE(table, nullptr);
      const auto was = RowsOf(*before, *table);
      const auto is = RowsOf(*after, *table);
      rows_ += was.size();
      EXPECT_EQ(was.size(), is.size()) << name;
      int shown = 0;
      for (size_t i = 0; i < std::min(was.size(), is.size()) && shown < 3; ++i) {
        if (was[i] == is[i]) continue;
        ++shown;
        ADD_FAILURE() << name << "\n before " << was[i] << "\n after  " << is[i];
      }
    }
  }

  schema::testing::Scratch scratch_;
  int runs_ = 0;
  size_t rows_ = 0;
};

constexpr const char* kTrace = R"json({"schemaVersion":1,"baseTimeNanoseconds":1700000000000000000,
"distributedInfo":{"backend":"nccl","rank":1,"world_size":2,"pg_config":[{"pg_name":"0",
 "pg_desc":"default_pg","backend_config":"cuda:nccl","ranks":[0,1],"pg_size":2}]},
"deviceProperties":[{"id":1,"name":"NVIDIA H100","numSms":132,"warpSize":32,"computeMajor":9,
 "computeMinor":0,"totalGlobalMem":85000000000}],
"traceEvents":[
{"ph":"M","name":"thread_name","pid":900,"tid":901,"args":{"name":"thread 901 (python)"}},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#3","pid":900,"tid":901,"ts":1.001,"dur":999.5},
{"ph":"X","cat":"cpu_op","name":"aten::mm \"x\"","pid":900,"tid":901,"ts":10.125,"dur":5.25,
 "args":{"External id":7,"Sequence number":4,"Input Dims":[[2,3],[3,4]],"Ev Idx":1}},
{"ph":"X","cat":"cpu_op","name":"MmBackward0","pid":900,"tid":902,"ts":40,"dur":5,
 "args":{"External id":9,"Sequence number":4,"Fwd thread id":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":900,"tid":901,"ts":11.5,"dur":2.001,
 "args":{"External id":7,"correlation":77}},
{"ph":"X","cat":"kernel","name":"gemm","pid":1,"tid":7,"ts":20.5,"dur":8.003,"args":{"External id":7,
 "device":1,"context":1,"stream":7,"correlation":77,"registers per thread":40,"shared memory":256,
 "grid":[8,2,1],"block":[128,1,1]}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pinned -> Device)","pid":1,"tid":7,"ts":30,"dur":1,
 "args":{"device":1,"stream":7,"correlation":78,"bytes":4096}},
{"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":900,"tid":901,"ts":50,"dur":3,"args":{
 "Collective name":"allreduce","dtype":"Float","In msg nelems":1024,"Out msg nelems":1024,
 "Group size":2,"Process Group Name":"0","Process Group Ranks":"[0, 1]","Seq":5}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":1,"tid":20,"ts":60,"dur":9,"args":{
 "device":1,"stream":20,"correlation":79,"Collective name":"allreduce","dtype":"Float",
 "In msg nelems":1024,"Group size":2,"Process Group Name":"0","Process Group Ranks":"[0, 1]"}},
{"ph":"s","cat":"ac2g","name":"ac2g","id":77,"pid":900,"tid":901,"ts":11.5},
{"ph":"f","cat":"ac2g","name":"ac2g","id":77,"pid":1,"tid":7,"ts":20.5,"bp":"e"},
{"ph":"i","s":"t","name":"[memory]","pid":900,"tid":901,"ts":12,"args":{"Device Type":1,
 "Device Id":1,"Addr":140000000000000,"Bytes":-512,"Total Allocated":1024,"Total Reserved":2048}}
]})json";

TEST_F(ChromeRoundTripTest, ASmallTraceOfEveryKindComesBack) {
  const std::string path = scratch_.Path("small.json");
  std::ofstream(path) << kTrace;
  CompareAfterRoundTrip(path);
  EXPECT_GE(rows_, 15u);
}

TEST_F(ChromeRoundTripTest, RealTracesComeBack) {
  const fs::path folder = SharedFolder() / "traces";
  if (!fs::exists(folder)) GTEST_SKIP() << "no reference files at " << folder;
  for (const char* name :
       {"hta/triton_example/triton_example.json.gz", "hta/trace_compare/base/base.json.gz"}) {
    if (fs::exists(folder / name)) CompareAfterRoundTrip(folder / name);
  }
  EXPECT_GT(rows_, 50u);
}

}  // namespace
}  // namespace tutti
