// `tutti record` on a job whose GPU is a script (gpu_job.cc): what the fake libcupti recorded is
// in the trace, and the report's numbers are those of gpu_job.h, worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "tests/e2e/gpu_job.h"
#include "tests/e2e/record_fixture.h"

namespace tutti::e2e {
namespace {

using ::testing::HasSubstr;

class GpuTest : public RecordTest {
 protected:
  Finished RecordGpu(const std::string& fake = "") {
    return Record({"--nproc", "1"}, {TUTTI_GPU_JOB},
                  {"TUTTI_CUPTI_LIBRARY=" TUTTI_FAKE_CUPTI, "TUTTI_FAKE_CUPTI=" + fake});
  }
  // |ns| a step, within the job's own error in telling the speed of its clock.
  void ExpectPerStep(schema::Database& run, const std::string& column, double us) {
    const int64_t sum =
        Number(run, "SELECT sum(" + column + ") FROM step_breakdown WHERE step > 0");
    EXPECT_NEAR(static_cast<double>(sum) / kSteps / 1e3, us, us * 1e-3) << column;
  }
};

TEST_F(GpuTest, TheGpusWorkIsInTheTrace) {
  const Finished finished = RecordGpu();
  ASSERT_EQ(finished.exit_status, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("0 lost"));
  auto rank = Open("rank-00000.sqlite");
  const auto count = [&](const std::string& where) {
    return Number(rank, "SELECT count(*) FROM v_kernel WHERE " + where);
  };
  EXPECT_EQ(count("name = 'gemm(float*, float*, int)' AND stream_id = 7"), kSteps);
  EXPECT_EQ(count("name LIKE 'ncclDevKernel_AllReduce%' AND stream_id = 20"), kSteps);
  EXPECT_EQ(count("graph_node_id IS NOT NULL"), kSteps * static_cast<int64_t>(kGraphNodeCount));
  EXPECT_EQ(count("begin_ns IS NULL"), 0);
  EXPECT_EQ(Number(rank,
                   "SELECT count(*) FROM memcpy WHERE copy_kind = 'HtoD' AND "
                   "source_kind = 'pinned' AND stream_id = 13 AND is_async"),
            2 * kSteps);
  // Each kernel's launch is there, on the thread that made it, before it.
  EXPECT_EQ(Number(rank,
                   "SELECT count(*) FROM kernel AS k JOIN api_call AS a USING (correlation_id) "
                   "JOIN string AS n ON n.id = a.name_id JOIN step AS s ON s.tid = a.tid "
                   "AND s.begin_ns <= a.begin_ns AND a.begin_ns < s.end_ns "
                   "WHERE n.text = 'cudaLaunchKernel' AND a.begin_ns < k.begin_ns"),
            5 * kSteps);
  EXPECT_EQ(Number(rank,
                   "SELECT count(DISTINCT correlation_id) FROM kernel "
                   "WHERE graph_node_id IS NOT NULL"),
            kSteps);
  EXPECT_EQ(Text(rank, "SELECT name || ' ' || compute_capability FROM device"), "Fake GPU 9.0");
  EXPECT_EQ(Number(rank, "SELECT count(*) FROM stream"), 3);
  EXPECT_EQ(Text(rank,
                 "SELECT group_concat(DISTINCT algorithm || protocol || origin) FROM "
                 "collective_source"),
            "RINGLLkernel");
  EXPECT_EQ(Number(rank, "SELECT count(*) FROM trace_stat"), 0);
}

TEST_F(GpuTest, TheReportsNumbersAreTheScripts) {
  ASSERT_EQ(RecordGpu().exit_status, 0);
  const Finished report = Running({TUTTI_PROGRAM, "report", Path("run")}, {}, directory_).Wait();
  ASSERT_EQ(report.exit_status, 0) << report.err;
  EXPECT_THAT(report.out, HasSubstr("gemm(float*, float*, int)"));
  auto run = Open("run.sqlite");
  EXPECT_EQ(Text(run, "SELECT device_kind FROM rank"), "gpu");
  ExpectPerStep(run, "compute_ns", 5'500);
  ExpectPerStep(run, "exposed_comm_transfer_ns", 2'000);
  ExpectPerStep(run, "exposed_copy_ns", 500);
  const auto overlap = [&](const char* column) {
    return static_cast<double>(Number(
               run, std::string("SELECT sum(") + column + ") FROM step_overlap WHERE step > 0")) /
           kSteps / 1e3;
  };
  EXPECT_NEAR(overlap("comm_ns"), 3'000, 3);
  EXPECT_NEAR(overlap("exposed_ns"), 2'000, 2);
  EXPECT_EQ(Number(run,
                   "SELECT count(*) FROM collective WHERE op = 'all_reduce' AND "
                   "dtype = 'float32'"),
            kSteps);
}

TEST_F(GpuTest, WithoutAGpuToTraceTheJobIsRecordedAllTheSame) {
  const Finished finished = RecordGpu("subscribe=39,subscriber=CUPTI for Nsight Systems");
  EXPECT_EQ(finished.exit_status, 1) << "the job has no clock to script by, and says so";
  auto rank = Open("rank-00000.sqlite");
  EXPECT_EQ(Number(rank, "SELECT count(*) FROM kernel"), 0);
  EXPECT_EQ(Number(rank, "SELECT count(*) FROM step"), 1);
  EXPECT_THAT(
      Text(rank, "SELECT detail || '; ' || advice FROM trace_stat"),
      HasSubstr("another tool has CUPTI: CUPTI for Nsight Systems (error 39); run without"));
}

#ifdef TUTTI_MNIST_MLP
struct Truth {
  int64_t count = 0;
  int64_t ticks = 0;
};

class GlooGpuTest : public GpuTest {
 protected:
  // What the GPU of |rank| says that it recorded, by kind of record.
  std::map<int, Truth> TruthOf(int rank) {
    std::map<int, Truth> truth;
    std::ifstream file(Path("truth.") + std::to_string(rank));
    int kind = 0;
    Truth told;
    while (file >> kind >> told.count >> told.ticks) truth[kind] = told;
    return truth;
  }
  // Rows and their time against the truth; ticks are told by the trace's own clock readings.
  void ExpectTable(schema::Database& rank, const std::string& table, const Truth& truth) {
    EXPECT_EQ(Number(rank, "SELECT count(*) FROM " + table), truth.count) << table;
    const auto spread = [&](const std::string& column) {
      return static_cast<double>(
          Number(rank, "SELECT max(" + column + ") - min(" + column + ") FROM clock_sync"));
    };
    const double ns = static_cast<double>(truth.ticks) * spread("trace_ns") / spread("ticks");
    EXPECT_NEAR(static_cast<double>(Number(rank, "SELECT sum(end_ns - begin_ns) FROM " + table)),
                ns, ns * 1e-3)
        << table;
  }
};

// A job that trains with Gloo and has a scripted GPU besides: both are in the trace, to the count.
TEST_F(GlooGpuTest, CpuTrainingAndGpuWorkStandSideBySide) {
  const Finished finished =
      Record({"--nproc", "2"}, {TUTTI_MNIST_MLP, "--steps", "30"},
             {"LD_PRELOAD=" TUTTI_FAKE_CUPTI, "TUTTI_CUPTI_LIBRARY=" TUTTI_FAKE_CUPTI,
              "TUTTI_FAKE_GPU_TRUTH=" + Path("truth.")});
  ASSERT_EQ(finished.exit_status, 0) << finished.err;
  for (const int number : {0, 1}) {
    SCOPED_TRACE(number);
    auto rank = Open("rank-0000" + std::to_string(number) + ".sqlite");
    const auto truth = TruthOf(number);
    ASSERT_TRUE(truth.contains(10)) << "the GPU did nothing";
    ExpectTable(rank, "kernel", truth.at(10));
    ExpectTable(rank, "memcpy", truth.at(1));
    ExpectTable(rank, "api_call", truth.at(5));
    EXPECT_EQ(Number(rank, "SELECT count(*) FROM step"), 30);
    EXPECT_GT(Number(rank, "SELECT count(*) FROM cpu_op"), 0);
    EXPECT_GT(Number(rank, "SELECT count(*) FROM collective_source WHERE origin = 'gloo_op'"), 0);
    EXPECT_EQ(Number(rank, "SELECT count(*) FROM collective_source WHERE origin = 'kernel'"),
              Number(rank, "SELECT count(*) FROM v_kernel WHERE name LIKE 'nccl%'"));
    EXPECT_EQ(Number(rank, "SELECT count(*) FROM trace_stat WHERE severity <> 'info'"), 0);
  }
  const Finished report = Running({TUTTI_PROGRAM, "report", Path("run")}, {}, directory_).Wait();
  EXPECT_EQ(report.exit_status, 0) << report.err;
  EXPECT_THAT(report.out, HasSubstr("gemm(float*, float*, int)"));
}
#endif

}  // namespace
}  // namespace tutti::e2e
