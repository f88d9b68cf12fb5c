// The import as a whole, with what no format is needed for.
#include "collector/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "collector/importers/import_cache.h"
#include "collector/run/staged_run.h"
#include "schema/database.h"
#include "schema/testing/scratch.h"

namespace tutti::collector {
namespace {

namespace fs = std::filesystem;
using schema::testing::Scratch;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Import, LeavesNothingBehindWhereNothingCanBeRead) {
  const Scratch scratch;
  std::ofstream(scratch.Path("notes.txt")) << "no trace";
  const std::string run = scratch.Path("run");
  const auto report = Import({.inputs = {scratch.Path("notes.txt")}, .output = run});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().code(), StatusCode::kBadData);
  EXPECT_NE(report.status().message().find("notes.txt: not in a format"), std::string::npos);
  EXPECT_FALSE(fs::exists(run));
}

TEST(Import, SaysWhatFilesOfOtherToolsAre) {
  const Scratch scratch;
  const auto why = [&](const char* name, const std::string& content) {
    std::ofstream(scratch.Path(name)) << content;
    return Import({.inputs = {scratch.Path(name)}, .output = scratch.Path("run")})
        .status()
        .message();
  };
  EXPECT_THAT(why("t.json.bz2", "BZh91AY&SY"), HasSubstr("packed by bzip2"));
  EXPECT_THAT(why("t.json.xz",
                  "\xfd"
                  "7zXZ"),
              HasSubstr("packed by xz"));
  EXPECT_THAT(why("k.ncu-rep", std::string("NVR\0....", 8)), HasSubstr("Nsight Compute"));
  EXPECT_THAT(why("cut.nsys-rep", "NVIDIA"), HasSubstr("nsys export"));
  EXPECT_THAT(why("host.xplane.pb", "\n"), HasSubstr("trace.json.gz"));
  EXPECT_THAT(why("t.pftrace", "\n"), HasSubstr("traceconv json"));
  EXPECT_THAT(why("r.json", R"({"rocprofiler-sdk-tool": [{}]})"), HasSubstr("torch.profiler"));
}

TEST(Import, SaysThatAFileIsEmpty) {
  const Scratch scratch;
  std::ofstream(scratch.Path("trace.json")) << "";
  const auto report =
      Import({.inputs = {scratch.Path("trace.json")}, .output = scratch.Path("run")});
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.status().message().find("the file is empty"), std::string::npos);
}

TEST(Import, SaysWhichInputIsMissing) {
  const Scratch scratch;
  const auto report = Import({.inputs = {scratch.Path("none")}, .output = scratch.Path("run")});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().code(), StatusCode::kNotFound);
}

// What was named and can't be read is told apart from what lies in a folder beside traces.
TEST(Import, TakesWhatCanBeReadAndCountsWhatWasNamedAndCant) {
  const Scratch scratch;
  fs::create_directory(scratch.Path("d"));
  std::ofstream(scratch.Path("d/rank0.json")) << R"({"traceEvents": []})";
  std::ofstream(scratch.Path("d/notes.txt")) << "no trace";
  std::ofstream(scratch.Path("bad.json")) << "no trace";
  const auto report =
      Import({.inputs = {scratch.Path("d"), scratch.Path("bad.json"), scratch.Path("none")},
              .output = scratch.Path("run")});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->traces.size(), 1U);
  EXPECT_EQ(report->named_unread, 2U);
  EXPECT_THAT(
      report->messages,
      ElementsAre(
          HasSubstr("none: there is no such file"), HasSubstr("bad.json: not in a format"),
          AllOf(HasSubstr("1 file in the directories is no trace"), HasSubstr("notes.txt"))));
}

TEST(Import, SaysThatARunIsOneAlready) {
  const Scratch scratch;
  std::ofstream(scratch.Path("a.json")) << R"({"traceEvents": []})";
  const std::string run = scratch.Path("run");
  ASSERT_TRUE(Import({.inputs = {scratch.Path("a.json")}, .output = run}).ok());
  for (const char* input : {"/", "/rank-00000.sqlite"}) {
    const auto again = Import({.inputs = {run + input}, .output = scratch.Path("other")});
    EXPECT_THAT(again.status().message(), HasSubstr(" already; tutti report opens it"));
  }
}

// A trace of one operation of a rank of a job, which began at `begin_us`.
void WriteRank(const std::string& path, int rank, int world_size, int64_t begin_us = 1) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << R"({"distributedInfo": {"rank": )" << rank << R"(, "world_size": )"
                      << world_size << R"(}, "traceEvents": [{"ph": "X", "cat": "cpu_op",)"
                      << R"( "name": "op", "ts": )" << begin_us
                      << R"(, "dur": 2, "pid": 1, "tid": 1}]})";
}

TEST(Import, RefusesAFolderOfTwoRuns) {
  const Scratch scratch;
  for (const int rank : {0, 1}) {
    const std::string name = "/rank" + std::to_string(rank) + ".json";
    WriteRank(scratch.Path("jobs/a") + name, rank, 2, 1);
    WriteRank(scratch.Path("jobs/b") + name, rank, 2, 1'000);
  }
  const auto report = Import({.inputs = {scratch.Path("jobs")}, .output = scratch.Path("run")});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().code(), StatusCode::kBadData);
  EXPECT_THAT(report.status().message(),
              AllOf(HasSubstr("traces of 2 runs"), HasSubstr("jobs/a, "), HasSubstr("jobs/b;")));
  EXPECT_FALSE(fs::exists(scratch.Path("run")));
}

// What torch.profiler's schedule leaves of a process: a capture of one step, which began at
// `begin_us` and holds an operator of rank `rank` and a launch with its kernel.
void WriteCapture(const std::string& path, int rank, int step, int64_t begin_us) {
  fs::create_directories(fs::path(path).parent_path());
  const auto event = [&](const char* category, const std::string& name, int64_t at,
                         const char* args) {
    return R"({"ph": "X", "cat": ")" + std::string(category) + R"(", "name": ")" + name +
           R"(", "ts": )" + std::to_string(begin_us + at) +
           R"(, "dur": 2, "pid": 7, "tid": 1, "args": {)" + args + "}}";
  };
  std::ofstream(path) << R"({"distributedInfo": {"rank": )" << rank
                      << R"(, "world_size": 2}, "traceEvents": [)"
                      << event("user_annotation", "ProfilerStep#" + std::to_string(step), 0, "")
                      << ", " << event("cpu_op", "op" + std::to_string(step), 0, "") << ", "
                      << event("cuda_runtime", "cudaLaunchKernel", 1, R"("correlation": 5)") << ", "
                      << event("kernel", "k", 2, R"("correlation": 5, "device": 0, "stream": 7)")
                      << "]}";
}

std::string Rows(const std::string& path, const std::string& sql) {
  auto database = schema::Database::OpenReadOnly(path);
  EXPECT_TRUE(database.ok()) << database.status().message();
  auto statement = database->Prepare("SELECT group_concat(line, ' ') FROM (" + sql + ")");
  EXPECT_TRUE(statement.ok() && *statement->Step()) << statement.status().message();
  return *statement->Get<std::string>(0);
}

// Rank 1 has one capture fewer: its last is of the second time.
TEST(Import, JoinsCapturesOfAProcess) {
  const Scratch scratch;
  WriteCapture(scratch.Path("d/w0.2.pt.trace.json"), 0, 5, 100);
  WriteCapture(scratch.Path("d/w0.1.pt.trace.json"), 0, 2, 10);
  WriteCapture(scratch.Path("d/w0.3.pt.trace.json"), 0, 8, 200);
  WriteCapture(scratch.Path("d/w1.1.pt.trace.json"), 1, 2, 10);
  WriteCapture(scratch.Path("d/w1.2.pt.trace.json"), 1, 5, 100);
  const std::string run = scratch.Path("run");
  const auto report = Import({.inputs = {scratch.Path("d")}, .output = run});
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_EQ(report->traces.size(), 2U);
  EXPECT_THAT(report->messages,
              ElementsAre(HasSubstr("w0.1.pt.trace.json: the first of 5 captures of 2 processes")));
  EXPECT_EQ(report->traces[0].sources.size(), 3U);
  const std::string rank = run + "/rank-00000.sqlite";
  EXPECT_EQ(Rows(rank, "SELECT id || ':' || number AS line FROM step ORDER BY begin_ns"),
            "0:2 1:5 2:8");
  EXPECT_EQ(Rows(rank,
                 "SELECT text AS line FROM cpu_op JOIN string ON string.id = name_id"
                 " WHERE text LIKE 'op%' ORDER BY begin_ns"),
            "op2 op5 op8");
  // Each kernel has one launch, of its own capture.
  EXPECT_EQ(Rows(rank,
                 "SELECT (k.begin_ns - a.begin_ns) AS line FROM kernel AS k"
                 " JOIN api_call AS a USING (correlation_id)"),
            "1000 1000 1000");
  EXPECT_EQ(Rows(rank,
                 "SELECT begin_ns || '-' || end_ns AS line FROM trace_stat"
                 " WHERE name = 'capture_gap' ORDER BY begin_ns"),
            "14000-100000 104000-200000");
  EXPECT_EQ(Rows(rank, "SELECT count(*) AS line FROM thread"), "1");
}

// Two runs of one program in containers, where it always is process 7.
TEST(Import, DoesNotJoinCapturesWhoseStepsBeginAgain) {
  const Scratch scratch;
  WriteCapture(scratch.Path("d/w0.1.pt.trace.json"), 0, 2, 10);
  WriteCapture(scratch.Path("d/w0.2.pt.trace.json"), 0, 2, 100);
  const auto report = Import({.inputs = {scratch.Path("d")}, .output = scratch.Path("run")});
  EXPECT_THAT(report.status().message(), HasSubstr("each rank was traced 2 times"));
}

TEST(Import, TellsReplicasApartByTheirNames) {
  const Scratch scratch;
  for (const int replica : {0, 1}) {
    for (const int rank : {0, 1}) {
      const std::string tensor_rank = std::to_string(rank);
      WriteCapture(scratch.Path("d/dp") + std::to_string(replica) + "_tp" + tensor_rank + "_rank" +
                       tensor_rank + ".1.pt.trace.json",
                   rank, 2, 10 + replica);
    }
  }
  const auto report = Import({.inputs = {scratch.Path("d")}, .output = scratch.Path("run")});
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_EQ(report->traces.size(), 4U);
  EXPECT_THAT(report->traces[2].sources.front(), HasSubstr("dp1_tp0"));
  EXPECT_EQ(report->traces[3].rank, 3);
  EXPECT_FALSE(report->traces[3].is_conflict);
  EXPECT_THAT(report->messages, ElementsAre(HasSubstr("of 2 replicas")));
}

TEST(Import, LeavesOutACopyOfATrace) {
  const Scratch scratch;
  WriteRank(scratch.Path("d/rank0.json"), 0, 2);
  WriteRank(scratch.Path("d/rank1.json"), 1, 2);
  fs::copy_file(scratch.Path("d/rank0.json"), scratch.Path("d/rank0 (1).json"));
  const auto report = Import({.inputs = {scratch.Path("d")}, .output = scratch.Path("run")});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->traces.size(), 2U);
  EXPECT_THAT(report->messages, ElementsAre(AllOf(HasSubstr("rank0 (1).json: the same trace as"),
                                                  HasSubstr("d/rank0.json; left out"))));
}

TEST(Import, TakesRanksFromTheNamesOfFolders) {
  const Scratch scratch;
  for (const char* rank : {"5", "2"}) {
    fs::create_directories(scratch.Path("d/rank_") + rank);
    std::ofstream(scratch.Path("d/rank_") + rank + "/trace.json") << R"({"traceEvents": []})";
  }
  const auto report = Import({.inputs = {scratch.Path("d")}, .output = scratch.Path("run")});
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_EQ(report->traces.size(), 2U);
  EXPECT_EQ(report->traces[0].rank, 2);
  EXPECT_EQ(report->traces[1].rank, 5);
  EXPECT_FALSE(report->traces[1].is_assumed);
}

// Without a rank, at different times, and beside one that tells its rank: 4.
TEST(Import, TakesTheRanksThatTheUserAssumes) {
  const Scratch scratch;
  for (const int begin_us : {1, 900'000'000}) {
    std::ofstream(scratch.Path("t" + std::to_string(begin_us) + ".json"))
        << R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "op", "ts": )" << begin_us
        << R"(, "dur": 2, "pid": 1, "tid": 1}]})";
  }
  WriteRank(scratch.Path("told.json"), 4, 8);
  const std::vector<std::string> unnamed = {scratch.Path("t900000000.json"),
                                            scratch.Path("t1.json")};
  EXPECT_THAT(Import({.inputs = unnamed, .output = scratch.Path("a")}).status().message(),
              HasSubstr("or with --assume-rank 0"));
  const auto report = Import({.inputs = {unnamed[0], scratch.Path("told.json"), unnamed[1]},
                              .output = scratch.Path("run"),
                              .assume_rank = 3});
  ASSERT_TRUE(report.ok()) << report.status().message();
  std::vector<std::string> files;
  for (const ImportedTrace& trace : report->traces) {
    EXPECT_FALSE(trace.is_assumed);
    files.push_back(fs::path(trace.sources.at(0)).filename());
  }
  EXPECT_THAT(files, ElementsAre("t1.json", "told.json", "t900000000.json"));
  EXPECT_EQ(report->traces[2].rank, 5);
  EXPECT_EQ(Rows(scratch.Path("run/rank-00005.sqlite"), "SELECT rank_source AS line FROM process"),
            "--assume-rank");
}

TEST(Import, SaysHowToReadWhatWasPackedOtherwise) {
  const Scratch scratch;
  std::ofstream(scratch.Path("t.tar")) << std::string(257, 'a') << "ustar\n";
  std::ofstream(scratch.Path("t.json")) << "\xff\xfe{";
  const auto report = Import({.inputs = {scratch.Path("t.tar")}, .output = scratch.Path("run")});
  EXPECT_THAT(report.status().message(), HasSubstr("t.tar: a tar archive; unpack it"));
  const auto text = Import({.inputs = {scratch.Path("t.json")}, .output = scratch.Path("run")});
  EXPECT_THAT(text.status().message(), HasSubstr("t.json: a text in UTF-16"));
}

// A run of one trace to be replaced by another, which is interrupted in different ways.
class Replacement : public ::testing::Test {
 protected:
  Replacement() {
    WriteTrace(old_, "old");
    WriteTrace(new_, "new");
    const auto made = Import({.inputs = {old_}, .output = run_});
    EXPECT_TRUE(made.ok()) << made.status().message();
  }
  static void WriteTrace(const std::string& path, const std::string& op) {
    std::ofstream(path) << R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": ")" << op
                        << R"(", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]})";
  }
  ImportOptions Replace() const { return {.inputs = {new_}, .output = run_, .force = true}; }

  // What the run holds: 'old' or 'new', and nothing else than a run does.
  std::string Holds() {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(run_)) names.insert(entry.path().filename());
    EXPECT_EQ(names, (std::set<std::string>{".lock", "manifest.d", "rank-00000.sqlite"}));
    auto database = schema::Database::OpenReadOnly(run_ + "/rank-00000.sqlite");
    auto name = database->Prepare("SELECT text FROM string JOIN cpu_op ON name_id = string.id");
    EXPECT_TRUE(*name->Step());
    return *name->Get<std::string>(0);
  }

  const Scratch scratch_;
  const std::string old_ = scratch_.Path("old.json");
  const std::string new_ = scratch_.Path("new.json");
  const std::string run_ = scratch_.Path("run");
};

TEST_F(Replacement, TakesPlaceWhenTheNewRunIsComplete) {
  ImportOptions options = Replace();
  std::string meanwhile;
  options.progress = [&](std::string_view, size_t, size_t) {
    meanwhile = fs::exists(run_ + "/rank-00000.sqlite") ? "there" : "gone";
  };
  ASSERT_TRUE(Import(options).ok());
  EXPECT_EQ(meanwhile, "there");
  EXPECT_EQ(Holds(), "new");
}

TEST_F(Replacement, LeavesTheOldRunWhereTheNewOneFails) {
  std::ofstream(new_) << R"({"version": "2.4", "entries": []})";
  EXPECT_FALSE(Import(Replace()).ok());
  EXPECT_EQ(Holds(), "old");
}

TEST_F(Replacement, LeavesTheOldRunWhenASignalEndsIt) {
  ImportOptions options = Replace();
  options.progress = [](std::string_view, size_t, size_t) { ::raise(SIGTERM); };
  const auto interrupted = [&] {
    const auto report = Import(options);
    ::_exit(report.ok() ? 0 : ImportInterruptedBy());
  };
  EXPECT_EXIT(interrupted(), ::testing::ExitedWithCode(SIGTERM), "");
  EXPECT_EQ(Holds(), "old");
}

TEST_F(Replacement, CanBeRepeatedAfterItWasKilled) {
  ImportOptions options = Replace();
  options.progress = [](std::string_view, size_t, size_t) { ::raise(SIGKILL); };
  EXPECT_EXIT((void)Import(options).ok(), ::testing::KilledBySignal(SIGKILL), "");
  EXPECT_TRUE(fs::exists(run_ + "/.spool/import"));
  EXPECT_FALSE(Import({.inputs = {new_}, .output = run_}).ok());
  EXPECT_EQ(Holds(), "old");
  ASSERT_TRUE(Import(Replace()).ok());
  EXPECT_EQ(Holds(), "new");
}

TEST(Import, GoesIntoTheDirectoryOfAnImportThatWasKilled) {
  const Scratch scratch;
  std::ofstream(scratch.Path("a.json")) << R"({"traceEvents": []})";
  ImportOptions options{.inputs = {scratch.Path("a.json")}, .output = scratch.Path("run")};
  options.progress = [](std::string_view, size_t, size_t) { ::raise(SIGKILL); };
  EXPECT_EXIT((void)Import(options).ok(), ::testing::KilledBySignal(SIGKILL), "");
  options.progress = nullptr;
  EXPECT_TRUE(Import(options).ok());
}

TEST(ImportCache, KeyChangesWithTheFile) {
  const Scratch scratch;
  const std::string path = scratch.Path("a.json");
  std::ofstream(path) << "one";
  const std::string key = *importers::ImportCacheKey(path);
  EXPECT_EQ(*importers::ImportCacheKey(path), key);
  std::ofstream(path) << "other";
  EXPECT_NE(*importers::ImportCacheKey(path), key);
  EXPECT_EQ(importers::ImportCacheKey(scratch.Path("none")).status().code(), StatusCode::kNotFound);
}

TEST(ImportCache, ForgetsWhatNobodyUsedForAWeek) {
  const Scratch scratch;
  fs::create_directory(scratch.Path("old"));
  fs::create_directory(scratch.Path("new"));
  fs::last_write_time(scratch.Path("old"),
                      fs::file_time_type::clock::now() - std::chrono::hours(8 * 24));
  importers::RemoveOldImports(scratch.Path("."));
  EXPECT_FALSE(fs::exists(scratch.Path("old")));
  EXPECT_TRUE(fs::exists(scratch.Path("new")));
}

TEST(ImportCache, ForgetsWhatAKilledProcessWasMaking) {
  const Scratch scratch;
  fs::create_directory(scratch.Path("fresh.new"));
  fs::create_directory(scratch.Path("dead.new"));
  auto live = run::StagedRun::Begin(scratch.Path("live.new"));
  ASSERT_TRUE(live.ok());
  for (const char* name : {"dead.new", "live.new"}) {
    fs::last_write_time(scratch.Path(name),
                        fs::file_time_type::clock::now() - std::chrono::minutes(1));
  }
  importers::RemoveOldImports(scratch.Path("."));
  EXPECT_TRUE(fs::exists(scratch.Path("fresh.new")));
  EXPECT_FALSE(fs::exists(scratch.Path("dead.new")));
  EXPECT_TRUE(fs::exists(scratch.Path("live.new")));
}

}  // namespace
}  // namespace tutti::collector
