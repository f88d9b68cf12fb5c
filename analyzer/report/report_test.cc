// Whole reports of a small run, compared with the files in golden/. To see what changed,
// diff the file that a failing test names; to accept it, run the test with
// TUTTI_UPDATE_GOLDEN=1.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analyzer/analyze.h"
#include "analyzer/report/format.h"
#include "analyzer/testing/derived.h"

namespace tutti::analyzer {
namespace {

using testing::Derived;
using testing::kLoaderTid;
using testing::RunFolder;
using testing::TraceBuilder;

// Two of three ranks train 12 steps of about 10 ms; rank 1's loader is slow, rank 0 lost
// some events, and an operator has a hostile name. Times in microseconds.
void BuildSample(RunFolder& run) {
  TraceBuilder ranks[] = {TraceBuilder(0, 3, 1000), TraceBuilder(1, 3, 1000)};
  for (int64_t step = 0; step < 12; ++step) {
    const int64_t t = step * 10'000;
    for (int64_t r = 0; r < 2; ++r) {
      TraceBuilder& rank = ranks[r];
      const int64_t input = r == 0 ? 100 : 3000 + step % 3 * 100;
      const int64_t forward = t + input;
      rank.Step(step, t, t + 10'000).DataWait(t, forward, r == 0 ? 2 : 0).Batch(t + 50, 64);
      rank.Op("aten::addmm", forward, forward + 1500);
      rank.Op("aten::<script>\x1b[31m|`x`", forward + 1600, forward + 1700);
      rank.Backward("AddmmBackward0", forward + 2000, forward + 3500);
      rank.Op("aten::mm", forward + 2100, forward + 3400);
      rank.AllReduce(step, forward + 3500, forward + 3520, t + 8'000, 1'607'680);
      rank.Op("aten::add_", t + 8'100, t + 9'700);
      rank.Memory(forward, 1 << 20, 3 << 20).Memory(t + 9'000, -(1 << 20), 2 << 20);
      rank.Phase("data", t, t + 9'000, kLoaderTid);
    }
  }
  ranks[0].Lost(1204, 41'000, 63'000).Ended(121'000);
  ranks[1].Ended(121'500);
  run.Add(ranks[0]).Add(ranks[1]);
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Render(ReportFormat format, bool colour = false) {
  RunFolder run;
  BuildSample(run);
  const Derived derived(run);
  const Result<std::string> report =
      RenderReport(derived.path(), {.format = format, .colour = colour});
  EXPECT_TRUE(report.ok()) << report.status().message();
  return *report;
}

void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(TUTTI_SOURCE_DIR "/analyzer/report/golden/") + name;
  if (std::getenv("TUTTI_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  EXPECT_EQ(text, ReadFile(path)) << "differs from " << path;
}

TEST(Report, TextIsAsInTheGoldenFile) { ExpectGolden("report.txt", Render(ReportFormat::kText)); }

TEST(Report, JsonIsAsInTheGoldenFile) { ExpectGolden("report.json", Render(ReportFormat::kJson)); }

TEST(Report, MarkdownIsAsInTheGoldenFile) {
  ExpectGolden("report.md", Render(ReportFormat::kMarkdown));
}

TEST(Report, TextFitsAHundredColumnsAndHoldsNoControlCharacters) {
  const std::string text = Render(ReportFormat::kText);
  std::stringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(DisplayWidth(line), 100u) << line;
    for (const char c : line) EXPECT_FALSE(static_cast<unsigned char>(c) < 0x20) << line;
  }
}

TEST(Report, SaysFirstWhichRanksFailed) {
  RunFolder run;
  TraceBuilder rank(0, 1, 1000);
  rank.Step(0, 0, 100).Op("aten::mm", 0, 90).Ended(110, 3);
  const Derived derived(run.Add(rank));
  const Result<std::string> text = RenderReport(derived.path(), {});
  ASSERT_TRUE(text.ok());
  const size_t second_line = text->find('\n') + 1;
  EXPECT_EQ(text->substr(second_line, text->find('\n', second_line) - second_line),
            "rank 0 exited with 3");
  const Result<std::string> markdown =
      RenderReport(derived.path(), {.format = ReportFormat::kMarkdown});
  ASSERT_TRUE(markdown.ok());
  EXPECT_NE(markdown->find("> **rank 0 exited with 3**"), std::string::npos) << *markdown;
}

// Two groups of the same ranks; c10d calls both "undefined".
TEST(Report, TellsGroupsWithoutANameApart) {
  RunFolder run;
  for (int64_t rank = 0; rank < 2; ++rank) {
    TraceBuilder trace(rank, 2, 1000);
    trace.Communicator(2, "1", {0, 1}).Communicator(3, "3", {0, 1});
    trace.Step(0, 0, 100).Op("aten::mm", 0, 90);
    trace.Collective("all_reduce", 0, 10, 10, 20, 64, 2);
    trace.Collective("broadcast", 0, 30, 30, 40, 64, 3);
    run.Add(trace);
    run.Execute("rank-0000" + std::to_string(rank) + ".sqlite",
                "UPDATE communicator SET description = 'undefined' WHERE id > 1");
  }
  const Result<std::string> text = RenderReport(Derived(run).path(), {});
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find("gloo 1 [0,1] of 2  all_reduce"), std::string::npos) << *text;
  EXPECT_NE(text->find("gloo 3 [0,1] of 2  broadcast"), std::string::npos) << *text;
}

TEST(Report, ColourChangesNothingButColours) {
  std::string text = Render(ReportFormat::kText, true);
  EXPECT_NE(text.find("\x1b["), std::string::npos);
  for (size_t begin = text.find("\x1b["); begin != std::string::npos; begin = text.find("\x1b[")) {
    text.erase(begin, text.find('m', begin) - begin + 1);
  }
  EXPECT_EQ(text, Render(ReportFormat::kText));
}

TEST(Report, JsonHasWhatTheSchemaPromisesAndAddsUp) {
  const auto report = nlohmann::json::parse(Render(ReportFormat::kJson));
  EXPECT_EQ(report["schema"], "tutti.report/1");
  for (const char* key : {"ranks", "ranks_expected", "steps", "workload"}) {
    EXPECT_TRUE(report["run"].contains(key)) << key;
  }
  for (const char* key : {"events", "events_lost", "issues"}) {
    EXPECT_TRUE(report["data_quality"].contains(key)) << key;
  }
  int64_t sum = 0;
  for (const char* part :
       {"compute", "exposed_comm_wait", "exposed_comm_transfer", "exposed_comm_unsplit",
        "exposed_copy", "input_wait", "sync", "host_bound", "idle"}) {
    EXPECT_TRUE(report["step"]["breakdown_ns"].contains(part)) << part;
    sum += report["step"]["breakdown_total_ns"][part].get<int64_t>();
  }
  EXPECT_EQ(sum, report["step"]["total_ns"]);
  EXPECT_EQ(report["step"]["breakdown_total_ns"].size(), 9u);
  for (const char* key : {"comm_ns", "exposed_ns", "overlap_frac"}) {
    EXPECT_TRUE(report["overlap"].contains(key)) << key;
  }
  for (const char* key : {"ranks", "collectives", "memory", "findings"}) {
    EXPECT_TRUE(report[key].is_array()) << key;
  }
  EXPECT_EQ(report["findings"][0]["id"], "input_wait");
  EXPECT_EQ(report["findings"][0]["ranks"], nlohmann::json::array({1}));
}

TEST(Report, OfALongRunStaysShortInMarkdown) {
  RunFolder run;
  for (int64_t rank = 0; rank < 40; ++rank) {
    TraceBuilder trace(rank, 40, 1000);
    for (int64_t i = 0; i < 60; ++i) trace.Op(std::string(200, 'x') + std::to_string(i), i, i + 1);
    run.Add(trace);
  }
  const Derived derived(run);
  EXPECT_LT(RenderReport(derived.path(), {.format = ReportFormat::kMarkdown})->size(), 65'536u);
}

}  // namespace
}  // namespace tutti::analyzer
