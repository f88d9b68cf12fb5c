// Dumps of flight recorders from the file to the diagnosis.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "tests/pickles/imported.h"

namespace tutti::pickles {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kRanks =
    "SELECT group_concat(rank, ',') FROM (SELECT rank FROM finding_rank AS r JOIN finding AS f"
    " ON f.id = r.finding_id WHERE f.kind = 'hang' ORDER BY rank)";

// "[12, 14]" -> "12,14"
std::string Joined(const nlohmann::json& ranks) {
  std::string text;
  for (const auto& rank : ranks) text += (text.empty() ? "" : ",") + rank.dump();
  return text;
}

TEST(FlightRecorder, NamesTheRankThatIsBehind) {
  TUTTI_NEEDS_SHARED_DATA();
  const std::string folder = SharedFolder() + "/cases/57-fr-late-rank";
  const auto facts = FactsOf(folder);
  Imported run({folder});
  ASSERT_EQ(run.error(), "");
  ASSERT_EQ(run.traces(), 4U);
  EXPECT_EQ(run.Derived(kRanks), Joined(facts["culprit"]));
  EXPECT_EQ(run.Derived("SELECT c.sequence, c.op FROM finding_evidence AS e JOIN collective AS c"
                        " ON c.id = e.row_id WHERE e.source = 'collective' AND e.ordinal = 0"),
            facts["first_missing_seq"].dump() + "|all_reduce");
  EXPECT_EQ(run.Derived("SELECT count(*) FROM collective WHERE state = 'mismatched'"),
            facts["mismatches"].dump());
  const std::string report = run.Report();
  EXPECT_THAT(report, HasSubstr("rank 2 never entered all_reduce #45 of nccl group default_pg"));
  EXPECT_THAT(report, HasSubstr("rank 2 last called all_reduce #44"));
  EXPECT_THAT(report, HasSubstr("train.py:88"));
  EXPECT_THAT(report, HasSubstr("ranks 0, 1 and 3 wait for rank 2"));
}

TEST(FlightRecorder, NamesTheFirstCallInWhichRanksDiffer) {
  TUTTI_NEEDS_SHARED_DATA();
  const std::string folder = SharedFolder() + "/cases/58-fr-mismatch";
  const auto facts = FactsOf(folder);
  Imported run({folder});
  ASSERT_EQ(run.error(), "");
  EXPECT_EQ(run.Derived("SELECT f.cause, c.sequence FROM finding AS f JOIN finding_evidence AS e"
                        " ON e.finding_id = f.id AND e.ordinal = 0 JOIN collective AS c"
                        " ON c.id = e.row_id WHERE f.kind = 'collective_mismatch'"),
            facts["first"]["kind"].get<std::string>() + "|" + facts["first"]["seq"].dump());
  EXPECT_EQ(run.Derived("SELECT group_concat(rank, ',') FROM finding_rank"),
            Joined(facts["first"]["odd_ranks"]));
  EXPECT_EQ(run.Derived("SELECT count(*) FROM collective WHERE state = 'mismatched'"),
            facts["total"].dump());
  // The mismatch is the cause: no hang is reported besides.
  EXPECT_EQ(run.Derived("SELECT group_concat(kind) FROM finding"), "collective_mismatch");
}

// Sets of dumps of real jobs into which a fault was injected.
TEST(FlightRecorder, FindsTheRanksThatFaultsWereInjectedInto) {
  TUTTI_NEEDS_SHARED_DATA();
  const fs::path sets = SharedFolder() + "/traces/nvrx-flight-recorder/fr_traces";
  int tried = 0;
  for (const auto& set : fs::directory_iterator(sets)) {
    std::ifstream log(set.path() / "fault_injection.log");
    std::string line;
    std::getline(log, line);
    const size_t list = line.find('[');
    ASSERT_NE(list, std::string::npos) << set.path();
    const auto truth = nlohmann::json::parse(line.substr(list));
    Imported run({set.path().string()});
    ASSERT_EQ(run.error(), "") << set.path();
    EXPECT_EQ(run.traces(), 16U);
    EXPECT_EQ(run.Derived(kRanks), Joined(truth)) << set.path() << "\n" << run.Report();
    ++tried;
  }
  EXPECT_GE(tried, 2);
}

TEST(FlightRecorder, HasARowForEveryEntry) {
  TUTTI_NEEDS_SHARED_DATA();
  std::vector<std::string> files;
  for (const char* folder : {"/traces/nvrx-flight-recorder/fr_traces/gpu_error_1st",
                             "/traces/nvrx-flight-recorder/fr_traces/lock_gil_1st",
                             "/cases/57-fr-late-rank", "/cases/58-fr-mismatch"}) {
    for (const auto& file : fs::directory_iterator(SharedFolder() + folder)) {
      const std::string name = file.path().filename();
      if (name.find("dump") == 0 || name.find("_dump") == 0 || name.find("nccl") == 0) {
        files.push_back(file.path());
      }
    }
  }
  ASSERT_GE(files.size(), 40U);
  for (const std::string& file : files) {
    const auto counts = Count("dump", file);
    Imported run({file});
    ASSERT_EQ(run.error(), "") << file;
    EXPECT_EQ(run.Query(0,
                        "SELECT count(*), (SELECT count(*) FROM communicator),"
                        " coalesce(sum(state = 'completed'), 0),"
                        " coalesce(sum(state = 'started'), 0),"
                        " coalesce(sum(state = 'scheduled'), 0) FROM collective_source"),
              counts["entries"].dump() + "|" + counts["groups"].dump() + "|" +
                  std::to_string(counts.value("completed", 0)) + "|" +
                  std::to_string(counts.value("started", 0)) + "|" +
                  std::to_string(counts.value("scheduled", 0)))
        << file;
  }
}

// Beside the profiler's traces of the same ranks, which hold calls 40 to 42 of case 57's, in one of
// which the dump's time lies. The dumps tell the rest.
class DumpsBesideTraces : public testing::Test {
 protected:
  std::string Make() {
    const fs::path folder = scratch_.Path("both");
    fs::create_directory(folder);
    for (int rank = 0; rank < 4; ++rank) {
      const std::string number = std::to_string(rank);
      fs::copy_file(SharedFolder() + "/cases/57-fr-late-rank/nccl_trace_rank_" + number,
                    folder / ("nccl_trace_rank_" + number));
      std::ofstream(folder / ("rank" + number + ".json"))
          << R"({"distributedInfo": {"rank": )" << rank << R"(, "world_size": 4},)"
          << R"( "traceEvents": [)" << Kernel(41, 1'000) << "," << Kernel(42, 2'000) << "]}";
    }
    return folder;
  }

 private:
  static std::string Kernel(int sequence, int time_us) {
    return R"({"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL",)"
           R"( "pid": 0, "tid": 7, "dur": 50, "ts": )" +
           std::to_string(time_us) +
           R"(, "args": {"device": 0, "stream": 7, "Collective name": "allreduce",)"
           R"( "In msg nelems": 1024, "Out msg nelems": 1024, "Group size": 4, "dtype": "Float",)"
           R"( "Process Group Name": "0", "Process Group Description": "default_pg",)"
           R"( "Process Group Ranks": "[0, 1, 2, 3]", "Seq": )" +
           std::to_string(sequence) + "}}";
  }

  schema::testing::Scratch scratch_;
};

TEST_F(DumpsBesideTraces, AreJoinedCallByCall) {
  TUTTI_NEEDS_SHARED_DATA();
  Imported run({Make()});
  ASSERT_EQ(run.error(), "");
  EXPECT_TRUE(run.messages().empty());
  ASSERT_EQ(run.traces(), 4U);
  EXPECT_EQ(run.Query(0, "SELECT count(*) FROM communicator"), "1");
  EXPECT_EQ(run.Query(0, "SELECT group_concat(format) FROM import_source"),
            "kineto,flight_recorder");
  // Calls 41 and 42 are the kernels', whatever the dump says of their times.
  EXPECT_EQ(run.Derived("SELECT sequence, ranks_seen, duration_ns FROM collective"
                        " WHERE sequence IN (41, 42) ORDER BY sequence"),
            "41|4|50000\n42|4|50000");
  EXPECT_EQ(run.Derived("SELECT count(*), count(DISTINCT sequence) FROM collective"
                        " WHERE op = 'all_reduce'"),
            "10|10");
  EXPECT_EQ(run.Derived(kRanks), "2");
  EXPECT_THAT(run.Report(), HasSubstr("rank 2 never entered all_reduce #45"));
}

class BrokenDumps : public testing::Test {
 protected:
  // Copies the dumps of case 57, the one of rank 2 cut to `size`.
  std::string CopyCutTo(size_t size) {
    const fs::path folder = scratch_.Path("dumps");
    fs::create_directory(folder);
    for (int rank = 0; rank < 4; ++rank) {
      const std::string name = "nccl_trace_rank_" + std::to_string(rank);
      const fs::path copy = folder / name;
      fs::copy_file(SharedFolder() + "/cases/57-fr-late-rank/" + name, copy);
      fs::permissions(copy, fs::perms::owner_all);
      if (rank == 2) fs::resize_file(copy, size);
    }
    return folder;
  }

 private:
  schema::testing::Scratch scratch_;
};

TEST_F(BrokenDumps, AnEmptyOneIsSaidAndItsRankSuspected) {
  TUTTI_NEEDS_SHARED_DATA();
  Imported run({CopyCutTo(0)});
  ASSERT_EQ(run.error(), "");
  ASSERT_EQ(run.messages().size(), 1U);
  EXPECT_THAT(run.messages()[0], HasSubstr("nccl_trace_rank_2: the dump is empty"));
  EXPECT_EQ(run.traces(), 3U);
  EXPECT_EQ(run.Derived(kRanks), "2");
  EXPECT_THAT(run.Report(), HasSubstr("rank 2 left no dump"));
}

TEST_F(BrokenDumps, ACutOneGivesItsEntriesUntilThere) {
  TUTTI_NEEDS_SHARED_DATA();
  Imported run({CopyCutTo(1500)});
  ASSERT_EQ(run.error(), "");
  EXPECT_EQ(run.traces(), 4U);
  EXPECT_GE(std::stoi(run.Query(2, "SELECT count(*) FROM collective_source")), 3);
  EXPECT_THAT(run.Query(2, "SELECT severity, detail FROM trace_stat WHERE name = 'dump_damaged'"),
              HasSubstr("data_loss|"));
}

TEST_F(BrokenDumps, OneOfAFewBytesIsOnePlainLine) {
  TUTTI_NEEDS_SHARED_DATA();
  Imported run({CopyCutTo(9)});
  ASSERT_EQ(run.error(), "");
  ASSERT_EQ(run.messages().size(), 1U);
  EXPECT_THAT(run.messages()[0], HasSubstr("nccl_trace_rank_2: "));
  EXPECT_THAT(run.messages()[0], HasSubstr("cut off"));
}

}  // namespace
}  // namespace tutti::pickles
