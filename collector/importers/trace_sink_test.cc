#include "collector/importers/trace_sink.h"

#include <gtest/gtest.h>

#include <string>

#include "schema/reader.h"
#include "schema/testing/scratch.h"
#include "schema/trace_file.h"

namespace tutti::collector::importers {
namespace {

using schema::testing::Scratch;

constexpr Oddity kMalformed = {Severity::kDataLoss, "event_malformed", "not a JSON object", "x"};

class TraceSinkTest : public testing::Test {
 protected:
  void SetUp() override { sink_ = *TraceSink::Create(path_); }
  schema::Database Finished() {
    EXPECT_TRUE(sink_->Finish(0).ok()) << sink_->status().message();
    return *schema::OpenRankFile(path_);
  }
  Scratch scratch_;
  std::string path_ = scratch_.Path("trace.sqlite");
  std::unique_ptr<TraceSink> sink_;
};

TEST_F(TraceSinkTest, InternsByContentAcrossSuspension) {
  const int64_t mm = sink_->Intern("aten::mm");
  EXPECT_EQ(sink_->Intern(""), 0);
  EXPECT_EQ(sink_->Intern("aten::mm"), mm);
  ASSERT_TRUE(sink_->Suspend().ok());
  ASSERT_TRUE(sink_->Resume().ok());
  EXPECT_EQ(sink_->Intern("aten::mm"), mm);
  const int64_t add = sink_->Intern("aten::add");
  EXPECT_NE(add, mm);
  schema::Database database = Finished();
  EXPECT_EQ(*database.QueryOne<std::string>("SELECT text FROM string WHERE id = ?1", add),
            "aten::add");
  EXPECT_EQ(*database.QueryOne<int64_t>("SELECT count(*) FROM string"), 3);
}

TEST_F(TraceSinkTest, ReplacesBytesThatAreNotText) {
  const int64_t id = sink_->Intern("a\xFF");
  schema::Database database = Finished();
  EXPECT_EQ(*database.QueryOne<std::string>("SELECT text FROM string WHERE id = ?1", id),
            "a\xEF\xBF\xBD");
}

TEST_F(TraceSinkTest, KeepsThreadsOfTwoProcessesApart) {
  EXPECT_EQ(sink_->Thread(1, 10, 100, 200), 10);
  EXPECT_EQ(sink_->Thread(2, 10, 50, 60), -1);
  EXPECT_EQ(sink_->Thread(1, 10, 300), 10);
  sink_->SetThreadName(2, 10, "other");
  schema::Database database = Finished();
  const auto threads = *schema::ReadAll<schema::ThreadRow>(database, "ORDER BY tid");
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads[0].name, "other");
  EXPECT_EQ(threads[0].kernel_tid, 10);
  EXPECT_EQ(threads[1].begin_ns, 100);
  EXPECT_EQ(threads[1].end_ns, 300);
}

TEST_F(TraceSinkTest, CountsOdditiesOnceAKindWithTheirFirstPlace) {
  sink_->sources.push_back({.path = "a.json", .format = "kineto"});
  sink_->Count(kMalformed, "byte 17", 100);
  sink_->Count(kMalformed, "byte 99", 50, 2);
  sink_->Count(kMalformed, "byte 3", {}, 1, "memory");
  schema::Database database = Finished();
  const auto stats = *schema::ReadAll<schema::TraceStatRow>(database, "ORDER BY count DESC");
  ASSERT_EQ(stats.size(), 2u);
  EXPECT_EQ(stats[0].count, 3);
  EXPECT_EQ(stats[0].source, "import.kineto");
  EXPECT_EQ(stats[0].detail, "not a JSON object (first: byte 17)");
  EXPECT_EQ(stats[0].begin_ns, 50);
  EXPECT_EQ(stats[0].end_ns, 100);
  EXPECT_EQ(stats[1].detail, "not a JSON object: memory (first: byte 3)");
}

TEST_F(TraceSinkTest, NamesTheFileOfAnOddityWhereThereAreSeveral) {
  sink_->sources.push_back({.path = "runs/a.json", .format = "kineto"});
  sink_->sources.push_back({.path = "runs/b.pickle", .format = "memory_snapshot"});
  sink_->Count(kMalformed, "byte 17");
  schema::Database database = Finished();
  EXPECT_EQ(*database.QueryOne<std::string>("SELECT detail FROM trace_stat"),
            "not a JSON object (first: b.pickle, byte 17)");
}

TEST_F(TraceSinkTest, LetsTheTablesBeChangedInBetween) {
  sink_->Add(schema::CpuOpRow{.tid = 1, .begin_ns = 5});
  ASSERT_TRUE(sink_
                  ->Update([](schema::Database& database) {
                    return database.Execute("UPDATE cpu_op SET depth = 3");
                  })
                  .ok());
  EXPECT_EQ(sink_->Add(schema::CpuOpRow{.tid = 1, .begin_ns = 6}), 1);
  schema::Database database = Finished();
  EXPECT_EQ(*database.QueryOne<std::string>("SELECT group_concat(depth) FROM cpu_op"), "3,0");
}

TEST_F(TraceSinkTest, SaysWhoItIsAndWhereItCameFrom) {
  sink_->identity.rank = 4;
  sink_->identity.rank_source = "file name";
  sink_->identity.world_size = 8;
  sink_->sources.push_back({.path = "a.json", .format = "kineto", .bytes = 10, .events_read = 2});
  sink_->sources.push_back({.path = "b.pickle", .format = "memory_snapshot"});
  schema::Database database = Finished();
  const auto process = *schema::ReadAll<schema::ProcessRow>(database);
  ASSERT_EQ(process.size(), 1u);
  EXPECT_EQ(process[0].rank, 4);
  EXPECT_EQ(process[0].world_size, 8);
  EXPECT_EQ(*database.QueryOne<std::string>("SELECT group_concat(path) FROM import_source"),
            "a.json,b.pickle");
  EXPECT_EQ(*database.QueryOne<std::string>("SELECT value FROM meta WHERE key = 'import.formats'"),
            "kineto,memory_snapshot");
}

}  // namespace
}  // namespace tutti::collector::importers
