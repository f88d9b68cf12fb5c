#include "collector/importers/memory_snapshot/rows.h"

#include <gtest/gtest.h>

#include "collector/importers/pickle/json.h"
#include "schema/database.h"
#include "schema/reader.h"
#include "schema/testing/scratch.h"

namespace tutti::collector::importers::memory_snapshot {
namespace {

class SnapshotRowsTest : public testing::Test {
 protected:
  void Import(const char* json) {
    const Result<pickle::Document> document = pickle::ReadJson(json);
    ASSERT_TRUE(document.ok() && document->problem.ok());
    Result<std::unique_ptr<TraceSink>> sink = TraceSink::Create(path_);
    ASSERT_TRUE(sink.ok()) << sink.status().message();
    (*sink)->sources.emplace_back().format = "memory_snapshot";
    WriteSnapshot(document->root, std::string_view(json).size(), **sink);
    const Status finished = (*sink)->Finish(0);
    ASSERT_TRUE(finished.ok()) << finished.message();
  }

  template <typename Row>
  std::vector<Row> All(const char* suffix) {
    auto database = schema::Database::OpenReadOnly(path_);
    EXPECT_TRUE(database.ok()) << database.status().message();
    auto rows = schema::ReadAll<Row>(*database, suffix);
    EXPECT_TRUE(rows.ok()) << rows.status().message();
    return rows.ok() ? *rows : std::vector<Row>();
  }

 private:
  schema::testing::Scratch scratch_;
  std::string path_ = scratch_.Path("trace.sqlite");
};

// allocated   300 -> 200 -> 250 -> 150; the snapshot says 150 at the end
TEST_F(SnapshotRowsTest, TotalsLeadToWhatTheSnapshotSays) {
  Import(R"({
    "segments": [{"device": 0, "address": 0, "total_size": 1000, "allocated_size": 150,
                  "blocks": []}],
    "device_traces": [[
      {"action": "free_requested", "addr": 1, "size": 100, "time_us": 1},
      {"action": "free_completed", "addr": 1, "size": 100, "time_us": 2},
      {"action": "segment_alloc", "addr": 9, "size": 400, "time_us": 3},
      {"action": "alloc", "addr": 2, "size": 50, "time_us": 4},
      {"action": "oom", "size": 5000, "time_us": 5},
      {"action": "free", "addr": 3, "size": 100, "time_us": 6}]]})");
  const auto rows = All<schema::MemoryEventRow>("ORDER BY id");
  ASSERT_EQ(rows.size(), 6U);
  const int64_t allocated[] = {200, 200, 200, 250, 250, 150};
  const int64_t reserved[] = {600, 600, 1000, 1000, 1000, 1000};
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].allocated_bytes, allocated[i]) << i;
    EXPECT_EQ(rows[i].reserved_bytes, reserved[i]) << i;
  }
  EXPECT_EQ(rows[0].delta_bytes, -100);
  EXPECT_EQ(rows[1].delta_bytes, 0);
  EXPECT_EQ(rows[3].delta_bytes, 50);
  EXPECT_EQ(rows[3].time_ns, 4000);
  EXPECT_EQ(rows[4].is_oom, 1);
  EXPECT_EQ(rows[4].delta_bytes, 5000);
  const auto stats = All<schema::TraceStatRow>("WHERE name = 'free_without_alloc'");
  ASSERT_EQ(stats.size(), 1U);
  EXPECT_EQ(stats[0].count, 2);
}

TEST_F(SnapshotRowsTest, SharesStacksAndKeepsUnknownActions) {
  Import(R"({"device_traces": [[
      {"action": "alloc", "addr": 1, "size": 10, "time_us": 1,
       "frames": [{"name": "f", "filename": "a.py", "line": 1}]},
      {"action": "worker_hook", "addr": 1, "size": 10, "time_us": 2,
       "frames": [{"name": "f", "filename": "a.py", "line": 1}]}]]})");
  const auto rows = All<schema::MemoryEventRow>("ORDER BY id");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_NE(rows[0].stack_id, 0);
  EXPECT_EQ(rows[0].stack_id, rows[1].stack_id);
  EXPECT_EQ(rows[1].action, "worker_hook");
  EXPECT_EQ(rows[1].allocated_bytes, 10);
  const auto stats = All<schema::TraceStatRow>("WHERE name = 'memory_action_unknown'");
  ASSERT_EQ(stats.size(), 1U);
  EXPECT_NE(stats[0].detail.find("(first: device 0, event 1)"), std::string::npos);
}

TEST_F(SnapshotRowsTest, KeepsSegmentsAndTheirBlocks) {
  Import(R"({"segments": [{"device": 1, "address": 16, "total_size": 8, "stream": 3,
      "allocated_size": 4, "active_size": 5, "requested_size": 3, "segment_type": "small",
      "segment_pool_id": [0, 0], "is_expandable": true,
      "blocks": [{"address": 16, "size": 4, "requested_size": 3, "state": "active_allocated"},
                 {"address": 20, "size": 4, "state": "inactive"}]}]})");
  const auto segments = All<schema::MemorySegmentRow>("");
  ASSERT_EQ(segments.size(), 1U);
  EXPECT_EQ(segments[0].device_id, 1);
  EXPECT_EQ(segments[0].stream_id, 3);
  EXPECT_EQ(segments[0].active_bytes, 5);
  EXPECT_EQ(segments[0].kind, "small");
  EXPECT_FALSE(segments[0].pool.has_value());
  EXPECT_EQ(segments[0].is_expandable, 1);
  const auto blocks = All<schema::MemoryBlockRow>("ORDER BY id");
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[1].segment_id, segments[0].id);
  EXPECT_EQ(blocks[1].state, "inactive");
}

}  // namespace
}  // namespace tutti::collector::importers::memory_snapshot
