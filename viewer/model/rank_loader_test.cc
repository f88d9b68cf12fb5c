#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "schema/rows.h"
#include "schema/testing/scratch.h"
#include "schema/writer.h"
#include "viewer/model/rank_trace.h"
#include "viewer/model/session.h"

namespace tutti::viewer {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

class RankLoaderTest : public ::testing::Test {
 protected:
  RankLoaderTest() {
    summary_.ranks.push_back({.rank = 0, .begin_ns = 0, .end_ns = 1'000, .clock_offset_ns = 100});
    summary_.traces.push_back(scratch_.Path("rank-00000.sqlite"));
    summary_.kernel_categories["ncclDevKernel"] = Category::kCommunication;
  }

  template <typename... Rows>
  void Write(const Rows&... rows) {
    auto writer = schema::TraceWriter::Create(summary_.traces[0]);
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    ASSERT_TRUE(((*writer)->Append(rows).ok() && ...));
    ASSERT_TRUE((*writer)->Finalize().ok());
  }

  const Track& TrackOf(const RankTrace& trace, TrackKind kind) {
    for (const Track& track : trace.tracks) {
      if (track.kind == kind) return track;
    }
    ADD_FAILURE() << "no track of kind " << static_cast<int>(kind);
    static const Track none;
    return none;
  }

  schema::testing::Scratch scratch_;
  RunSummary summary_;
  NameTable names_;
};

TEST_F(RankLoaderTest, PutsRowsOnTheirTracksInAlignedTime) {
  Write(
      schema::StringRow{1, "aten::mm"}, schema::StringRow{2, "ncclDevKernel"},
      schema::ThreadRow{.tid = 7, .kernel_tid = 7, .role = "main"},
      schema::CpuOpRow{.id = 5, .tid = 7, .name_id = 1, .begin_ns = 10, .end_ns = 30},
      schema::KernelRow{
          .id = 6, .device_id = 0, .stream_id = 20, .name_id = 2, .begin_ns = 40, .end_ns = 90},
      schema::MemoryEventRow{
          .id = 1, .time_ns = 15, .device_type = "cpu", .delta_bytes = 64, .allocated_bytes = 64});
  const RankTrace trace = LoadRankTrace(summary_, 0, &names_);
  ASSERT_TRUE(trace.status.ok()) << trace.status.message();
  EXPECT_EQ(trace.events(), 2);

  const Track& thread = TrackOf(trace, TrackKind::kThread);
  EXPECT_EQ(thread.label, "main 7");
  const Event op = thread.lanes[0].event(0);
  EXPECT_EQ(op.begin_ns, 110);
  EXPECT_EQ(op.end_ns, 130);
  EXPECT_EQ(op.row_id, 5U);
  EXPECT_EQ(names_.Text(op.name), "aten::mm");

  const Event kernel = TrackOf(trace, TrackKind::kStream).lanes[0].event(0);
  EXPECT_EQ(kernel.category, Category::kCommunication);
  EXPECT_EQ(TrackOf(trace, TrackKind::kMemory).series.sample(0).time_ns, 115);
}

// Where a trace names its threads by words, their ids are made up.
TEST_F(RankLoaderTest, ThreadsWithoutAKernelsIdAreNumbered) {
  constexpr int64_t kFirst = int64_t{1} << 62;
  Write(schema::ThreadRow{.tid = kFirst, .kernel_tid = kFirst, .name = "python"},
        schema::ThreadRow{.tid = kFirst + 1, .kernel_tid = kFirst + 1, .role = "loader"},
        schema::CpuOpRow{.id = 1, .tid = kFirst, .name_id = 1, .begin_ns = 10},
        schema::CpuOpRow{.id = 2, .tid = kFirst + 1, .name_id = 1, .begin_ns = 10});
  const RankTrace trace = LoadRankTrace(summary_, 0, &names_);
  ASSERT_EQ(trace.tracks.size(), 2U);
  EXPECT_EQ(trace.tracks[0].label, "thread #1 python");
  EXPECT_EQ(trace.tracks[1].label, "loader #2");
}

TEST_F(RankLoaderTest, WhatIsOpenEndsWithTheRank) {
  Write(schema::CpuOpRow{.id = 1, .tid = 7, .name_id = 1, .begin_ns = 10});
  const RankTrace trace = LoadRankTrace(summary_, 0, &names_);
  const Event op = TrackOf(trace, TrackKind::kThread).lanes[0].event(0);
  EXPECT_TRUE(op.is_open);
  EXPECT_EQ(op.end_ns, 1'000);
}

TEST_F(RankLoaderTest, CumulativeCountersBecomeRates) {
  Write(schema::CounterRow{.id = 1, .name = "disk", .unit = "bytes", .kind = "cumulative"},
        schema::CounterSampleRow{1, 0, int64_t{100}},
        schema::CounterSampleRow{1, 500'000'000, int64_t{150}});
  const Track track = TrackOf(LoadRankTrace(summary_, 0, &names_), TrackKind::kCounter);
  EXPECT_EQ(track.unit, "bytes/s");
  EXPECT_DOUBLE_EQ(track.series.sample(0).value, 100);
}

// Times at the ends of the number line, ends before begins, texts for numbers.
TEST_F(RankLoaderTest, SurvivesHostileRows) {
  summary_.ranks[0].clock_offset_ns = kMost;
  Write(schema::CpuOpRow{.id = 1, .tid = 7, .name_id = 99, .begin_ns = -kMost, .end_ns = kMost},
        schema::CpuOpRow{.id = 2, .tid = 7, .name_id = 99, .begin_ns = kMost, .end_ns = -kMost},
        schema::CounterSampleRow{17, kMost, std::string("text")});
  const RankTrace trace = LoadRankTrace(summary_, 0, &names_);
  EXPECT_EQ(trace.events(), 2);
  for (const Lane& lane : TrackOf(trace, TrackKind::kThread).lanes) {
    for (uint32_t i = 0; i < lane.size(); ++i) EXPECT_GE(lane.duration_ns(i), 0);
  }
}

TEST_F(RankLoaderTest, SaysWhyThereIsNothing) {
  const RankTrace missing = LoadRankTrace(summary_, 0, &names_);
  EXPECT_EQ(missing.status.code(), StatusCode::kNotFound);
  std::ofstream(summary_.traces[0]) << "this is no database at all, whatever its name says";
  const RankTrace damaged = LoadRankTrace(summary_, 0, &names_);
  EXPECT_EQ(damaged.status.code(), StatusCode::kBadData);
}

TEST_F(RankLoaderTest, SessionLoadsInTheBackground) {
  Write(schema::CpuOpRow{.id = 1, .tid = 7, .name_id = 1, .begin_ns = 10, .end_ns = 20});
  Session session(summary_, 2);
  session.WaitUntilComplete();
  ASSERT_NE(session.Ranks()[0], nullptr);
  EXPECT_EQ(session.Ranks()[0]->events(), 1);
}

}  // namespace
}  // namespace tutti::viewer
