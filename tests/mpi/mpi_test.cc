// The analysis by several processes, started by mpirun, against that of one without MPI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "analyzer/analyze.h"
#include "analyzer/testing/shared_run.h"
#include "schema/database.h"

namespace tutti::analyzer {
namespace {

using testing::DumpTables;
using ::testing::HasSubstr;
using testing::UnevenRanks;

const std::string kProgram = TUTTI_ANALYZE_MPI;  // NOLINT(cert-err58-cpp)

struct Outcome {
  int exit_code = 0;
  std::string out;
  std::string errors;
};

std::string Content(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

// mpirun with these words, which a shell reads. Over TCP, as between machines; what lies in `run`
// beside the ranks is the test's.
Outcome MpiRun(const UnevenRanks& run, const std::string& words) {
  const std::string line = std::string(TUTTI_MPIRUN) +
                           " --allow-run-as-root --oversubscribe --mca btl tcp,self "
                           "--mca btl_tcp_if_include lo --mca oob_tcp_if_include lo " +
                           words + " > " + run.Path("out") + " 2> " + run.Path("errors");
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, Content(run.Path("out")),
          Content(run.Path("errors"))};
}

std::string Tables(const std::string& path) {
  Result<schema::Database> database = schema::Database::OpenReadOnly(path);
  EXPECT_TRUE(database.ok()) << database.status().message();
  return database.ok() ? DumpTables(*database) : "";
}

std::string AnalyzedAlone(const UnevenRanks& run) {
  AnalyzeOptions options;
  options.output = run.Path("alone.db");
  const Result<Analysis> alone = Analyze(run.path(), options);
  EXPECT_TRUE(alone.ok()) << alone.status().message();
  return Tables(options.output);
}

class Processes : public ::testing::TestWithParam<int> {};

TEST_P(Processes, TablesAreThoseOfOne) {
  const UnevenRanks run(5);
  const std::string alone = AnalyzedAlone(run);
  const Outcome outcome =
      MpiRun(run, "-np " + std::to_string(GetParam()) + " " + kProgram + " " + run.path());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  const std::string path = run.Path("run.sqlite");
  EXPECT_EQ(outcome.out, path + "\n");
  EXPECT_EQ(Tables(path), alone);
  EXPECT_FALSE(std::filesystem::exists(path + ".parts"));
}

INSTANTIATE_TEST_SUITE_P(Mpi, Processes, ::testing::Values(1, 2, 3, 4, 7),
                         ::testing::PrintToStringParamName());

// The system ends a process that writes a file larger than it may. Here parts of the first stretch
// of passes have 3 KB, and those of the second, which writes the memory's curve, 36 KB.
TEST(Mpi, GoesOnWhereAKilledProcessWas) {
  const UnevenRanks run(6);
  const std::string alone = AnalyzedAlone(run);
  const std::string others = kProgram + " " + run.path();
  const Outcome killed = MpiRun(
      run, "-np 1 " + others + " : -np 2 sh -c 'ulimit -c 0; ulimit -f 32; exec " + others + "'");
  EXPECT_NE(killed.exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(run.Path("run.sqlite")));
  ASSERT_FALSE(std::filesystem::is_empty(run.Path("run.sqlite.parts")));

  const Outcome resumed = MpiRun(run, "-np 2 " + others);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_THAT(resumed.errors, HasSubstr("were done by an analysis that was ended"));
  EXPECT_EQ(Tables(run.Path("run.sqlite")), alone);
  EXPECT_FALSE(std::filesystem::exists(run.Path("run.sqlite.parts")));
}

// Whoever has it: the leader leaves the file out, for all.
TEST(Mpi, DamagedFileIsLeftOutAsByOne) {
  UnevenRanks run(4);
  run.Execute("rank-00002.sqlite", "DROP TABLE memory_event");
  const std::string alone = AnalyzedAlone(run);
  const Outcome outcome = MpiRun(run, "-np 3 " + kProgram + " " + run.path());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_EQ(Tables(run.Path("run.sqlite")), alone);
}

TEST(Mpi, FailureIsToldOnce) {
  const UnevenRanks run(1);
  const Outcome outcome = MpiRun(run, "-np 3 " + kProgram + " " + run.Path("none"));
  EXPECT_EQ(outcome.exit_code, 3) << outcome.errors;
  const size_t first = outcome.errors.find("tutti-analyze-mpi: ");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(outcome.errors.find("tutti-analyze-mpi: ", first + 1), std::string::npos);
}

}  // namespace
}  // namespace tutti::analyzer
