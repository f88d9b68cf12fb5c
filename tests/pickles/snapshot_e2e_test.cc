// Memory snapshots, the straggler study's timelines and execution traces from the file on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "tests/pickles/imported.h"

namespace tutti::pickles {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(MemorySnapshot, IsTheSameInEveryProtocol) {
  TUTTI_NEEDS_SHARED_DATA();
  const std::string folder = SharedFolder() + "/cases/52-pickle-protocols";
  const auto facts = FactsOf(folder);
  std::string first;
  for (int protocol = 0; protocol <= 5; ++protocol) {
    Imported run({folder + "/p" + std::to_string(protocol) + ".pickle"});
    ASSERT_EQ(run.error(), "") << protocol;
    EXPECT_EQ(run.Query(0, "SELECT count(*) FROM memory_event"), facts["entries"].dump());
    EXPECT_EQ(run.Derived("SELECT end_bytes FROM memory_peak"), facts["end_bytes"].dump());
    const std::string all =
        run.Query(0,
                  "SELECT action, address, delta_bytes, allocated_bytes, s.text"
                  " FROM memory_event AS e LEFT JOIN string AS s ON s.id = stack_id"
                  " ORDER BY e.id") +
        run.Query(0, "SELECT address, bytes, allocated_bytes FROM memory_segment ORDER BY id") +
        run.Query(0, "SELECT address, bytes, state FROM memory_block ORDER BY id");
    EXPECT_THAT(all, HasSubstr("前向 (模型.py:3)"));
    if (protocol == 0) first = all;
    EXPECT_EQ(all, first) << protocol;
  }
}

TEST(MemorySnapshot, ThatCouldRunCodeIsRefusedByName) {
  TUTTI_NEEDS_SHARED_DATA();
  const std::string folder = SharedFolder() + "/cases/52-pickle-protocols";
  const auto facts = FactsOf(folder);
  const Imported run({folder + "/evil.pickle"});
  EXPECT_EQ(!run.error().empty(), facts["evil_refused"].get<bool>());
  EXPECT_THAT(run.error(), HasSubstr("evil.pickle: byte 55: it wants posix.getcwd"));
}

TEST(MemorySnapshot, CountsAreThoseOfPython) {
  TUTTI_NEEDS_SHARED_DATA();
  const std::string file = SharedFolder() + "/traces/memsnap-magma27/memory_snapshot.pickle";
  const auto counts = Count("snapshot", file);
  Imported run({file});
  ASSERT_EQ(run.error(), "");
  EXPECT_EQ(run.Query(0, "SELECT count(*), sum(bytes) FROM memory_segment"),
            counts["segments"].dump() + "|" + counts["reserved"].dump());
  EXPECT_EQ(run.Query(0, "SELECT count(*) FROM memory_block"), counts["blocks"].dump());
  for (const char* action : {"alloc", "free_requested", "free_completed"}) {
    EXPECT_EQ(run.Query(0, std::string("SELECT count(*) FROM memory_event WHERE action = '") +
                               action + "'"),
              counts[action].dump());
  }
  EXPECT_EQ(run.Derived("SELECT peak_bytes, end_bytes FROM memory_peak"),
            counts["peak"].dump() + "|" + counts["end"].dump());
  EXPECT_EQ(run.Derived("SELECT sum(bytes) FROM memory_holder"), counts["peak"].dump());
  EXPECT_EQ(run.Derived("SELECT reserved_bytes, allocated_bytes FROM memory_state"),
            counts["reserved"].dump() + "|" + counts["end"].dump());
  EXPECT_THAT(run.Report(), HasSubstr("held at the peak"));
}

// A snapshot does not say whose it is: beside one trace, it is of that process.
TEST(MemorySnapshot, JoinsTheOnlyTraceBesideIt) {
  TUTTI_NEEDS_SHARED_DATA();
  const schema::testing::Scratch scratch;
  std::ofstream(scratch.Path("trace.json"))
      << R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "op", "ts": 1, "dur": 2,)"
      << R"( "pid": 1, "tid": 1}]})";
  const std::string snapshot = SharedFolder() + "/cases/52-pickle-protocols/p4.pickle";
  const Imported run({scratch.Path("trace.json"), snapshot});
  ASSERT_EQ(run.error(), "");
  ASSERT_EQ(run.traces(), 1U);
  EXPECT_EQ(run.Query(0, "SELECT (SELECT count(*) FROM cpu_op), count(*) > 0 FROM memory_event"),
            "1|1");
}

// The study's own slowdown is its replay's; what the trace shows is that times the launch
// delays which its replay leaves out.
TEST(StragglerStudy, SlowdownFromRowsIsTheStudys) {
  TUTTI_NEEDS_SHARED_DATA();
  const std::string folder = SharedFolder() + "/traces/straggler-analysis/data";
  for (const std::string job : {"ST", "AR"}) {
    std::ifstream file(folder + "/result-" + job + ".json");
    const auto result = nlohmann::json::parse(file);
    // Mean over steps, which the study counts from some 0.1 ms before the first event, of the time
    // from the first begin to the last end on any worker.
    const auto mean_step_s = [&](const std::string& timeline) {
      Imported run({folder + "/" + timeline + job + ".json.gz"});
      EXPECT_EQ(run.error(), "");
      std::map<int64_t, std::pair<int64_t, int64_t>> steps;
      for (size_t worker = 0; worker < run.traces(); ++worker) {
        std::istringstream rows(run.Query(worker, "SELECT number, begin_ns, end_ns FROM step"));
        for (std::string row; std::getline(rows, row);) {
          int64_t number = 0, begin_ns = 0, end_ns = 0;
          EXPECT_EQ(std::sscanf(row.c_str(), "%ld|%ld|%ld", &number, &begin_ns, &end_ns), 3);
          auto& step = steps.try_emplace(number, begin_ns, end_ns).first->second;
          step = {std::min(step.first, begin_ns), std::max(step.second, end_ns)};
        }
      }
      EXPECT_EQ(steps.size(), result["step_t_base"].size());
      double sum_s = 0;
      for (const auto& [number, step] : steps) {
        const double length_s = static_cast<double>(step.second - step.first) / 1e9;
        const auto told = result[timeline == "timeline-" ? "step_t_base" : "step_t_noblk"];
        EXPECT_NEAR(length_s, told[std::to_string(number)].get<double>(), 1e-3) << number;
        sum_s += length_s;
      }
      return sum_s / static_cast<double>(steps.size());
    };
    const double slowdown = mean_step_s("timeline-") / mean_step_s("ideal-timeline-");
    const double told = result["blocking_slowdown"].get<double>();
    EXPECT_NEAR(slowdown, told * result["launch_slowdown"].get<double>(), 1e-4) << job;
    EXPECT_NEAR(told, job == "ST" ? 1.179 : 1.973, 5e-4);
  }
}

TEST(StragglerStudy, HasARowForEveryEvent) {
  TUTTI_NEEDS_SHARED_DATA();
  const std::string file = SharedFolder() + "/traces/straggler-analysis/data/timeline-ST.json.gz";
  const auto counts = Count("timeline", file);
  Imported run({file});
  ASSERT_EQ(run.error(), "");
  EXPECT_EQ(run.traces(), 8U);
  std::map<std::string, int64_t> by_name;
  for (size_t worker = 0; worker < run.traces(); ++worker) {
    std::istringstream rows(
        run.Query(worker,
                  "SELECT s.text, count(*) FROM (SELECT name_id FROM kernel UNION ALL"
                  " SELECT name_id FROM gpu_range) JOIN string AS s ON s.id = name_id"
                  " WHERE s.text NOT LIKE '%micro-batch%' GROUP BY 1"));
    for (std::string row; std::getline(rows, row);) {
      const size_t bar = row.find('|');
      by_name[row.substr(0, bar)] += std::stoll(row.substr(bar + 1));
    }
  }
  EXPECT_EQ(nlohmann::json(by_name), counts["names"]);
}

TEST(ExecutionTrace, IsOnePlainLine) {
  TUTTI_NEEDS_SHARED_DATA();
  for (const char* file :
       {"/cases/60-et-orphan-parents/et.json", "/cases/60-et-orphan-parents/dup.json",
        "/traces/chakra/x/tests/data/chakra.0.et",
        "/traces/astra-sim/workload/microbenchmarks/all_reduce/4npus_1MB/all_reduce.0.et",
        "/traces/param/et_replay/tests/inputs/linear_et.json.gz"}) {
    const Imported run({SharedFolder() + file});
    EXPECT_THAT(run.error(), HasSubstr("an execution trace (Chakra); tutti does not read these"))
        << file;
    EXPECT_EQ(run.error().find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace tutti::pickles
