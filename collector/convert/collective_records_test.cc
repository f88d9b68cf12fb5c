#include "collector/convert/collective_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/testing/spool_builder.h"

namespace tutti::collector::convert {
namespace {

using testing::ConvertTest;
using ::testing::ElementsAre;
using testing::Header;
using testing::kEpochNs;
using testing::kMainTid;

constexpr uint32_t kGlooTid = 200;

class CollectiveRecordsTest : public ConvertTest {
 protected:
  void SetUp() override { spool().AddThread(1, kGlooTid, "pt_gloo_runloop"); }

  void Announce(uint32_t communicator, wire::Backend backend) {
    wire::CommunicatorRecord record{};
    record.header = Header(wire::RecordKind::kCommunicator);
    record.communicator = communicator;
    record.rank = -1;
    record.backend = backend;
    spool().Add(0, record);
  }
  void Enqueue(uint64_t work, uint64_t ticks, int64_t sequence, uint32_t communicator = 1) {
    wire::CollectiveEnqueueRecord record{};
    record.header = Header(wire::RecordKind::kCollectiveEnqueue, String("all_reduce"));
    record.ticks = ticks;
    record.work = work;
    record.sequence = sequence;
    record.communicator = communicator;
    spool().Add(0, record);
  }
  void Run(uint64_t work, uint64_t begin, uint64_t end, uint32_t communicator = 1) {
    wire::CollectiveRecord record{};
    record.header = Header(wire::RecordKind::kCollective, String("all_reduce"));
    record.begin_ticks = begin;
    record.end_ticks = end;
    record.work = work;
    record.bytes = 4096;
    record.sequence = -1;
    record.communicator = communicator;
    record.dtype = String("float32");
    record.peer = -1;
    record.root = -1;
    spool().Add(1, record);
  }
  wire::OpenSpan Open(uint64_t work, uint64_t begin) {
    wire::OpenSpan span{};
    span.begin_ticks = begin;
    span.name = String("all_reduce");
    span.kind = static_cast<uint8_t>(wire::RecordKind::kCollective);
    span.aux = work;
    span.aux2 = 1024;
    span.domain = 1;
    return span;
  }
  std::vector<schema::CollectiveSourceRow> Rows() {
    return All<schema::CollectiveSourceRow>("ORDER BY coalesce(begin_ns, enqueue_ns)");
  }
};

TEST_F(CollectiveRecordsTest, IsJoinedWithTheLatestEnqueueBeforeItsBegin) {
  Announce(1, wire::Backend::kGloo);
  Enqueue(7, 100, 0);
  Run(7, 150, 200);
  Enqueue(7, 300, 1);  // the handle comes again
  Run(7, 350, 400);
  Convert();
  const auto rows = Rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].enqueue_ns, kEpochNs + 100);
  EXPECT_EQ(rows[0].begin_ns, kEpochNs + 150);
  EXPECT_EQ(rows[0].end_ns, kEpochNs + 200);
  EXPECT_EQ(rows[0].sequence, 0);
  EXPECT_EQ(rows[0].tid, kGlooTid);
  EXPECT_EQ(rows[0].enqueue_tid, kMainTid);
  EXPECT_EQ(rows[0].bytes, 4096);
  EXPECT_EQ(rows[0].communicator_id, 1);
  EXPECT_EQ(rows[0].peer, std::nullopt);
  EXPECT_EQ(Text(rows[0].op_id), "all_reduce");
  EXPECT_EQ(Text(rows[0].dtype_id), "float32");
  EXPECT_EQ(rows[1].enqueue_ns, kEpochNs + 300);
  EXPECT_EQ(rows[1].sequence, 1);
}

TEST_F(CollectiveRecordsTest, EnqueuesOfAnotherCommunicatorAreNotTaken) {
  Announce(1, wire::Backend::kGloo);
  Announce(2, wire::Backend::kGloo);
  Enqueue(7, 100, 5, 1);
  Enqueue(7, 110, 6, 2);
  Run(7, 150, 200, 1);
  Convert();
  const auto rows = Rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].begin_ns, kEpochNs + 150);
  EXPECT_EQ(rows[1].sequence, 5);
  EXPECT_EQ(rows[0].begin_ns, std::nullopt);  // handed over, never begun
  EXPECT_EQ(rows[0].sequence, 6);
}

TEST_F(CollectiveRecordsTest, WhatNeverBeganAndWhatNeverEndedKeepsItsRow) {
  Announce(1, wire::Backend::kGloo);
  Enqueue(7, 100, 0);
  Enqueue(8, 120, 1);
  spool().OpenStack(1, kGlooTid, spool::OpenSpansReason::kProcessEnd, {Open(7, 150)});
  Convert();
  const auto rows = Rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].enqueue_ns, kEpochNs + 120);
  EXPECT_EQ(rows[0].begin_ns, std::nullopt);
  EXPECT_EQ(rows[0].tid, std::nullopt);
  EXPECT_EQ(rows[1].begin_ns, kEpochNs + 150);
  EXPECT_EQ(rows[1].end_ns, std::nullopt);
  EXPECT_EQ(rows[1].enqueue_ns, kEpochNs + 100);
  EXPECT_EQ(rows[1].sequence, 0);
  EXPECT_EQ(rows[1].bytes, 1024);
}

// The Gloo thread's ring is read before the main thread's, the enqueue comes in the
// batch after: both join all the same.
TEST_F(CollectiveRecordsTest, JoinsOverBatchesInWhicheverOrderTheyAreRead) {
  Announce(1, wire::Backend::kGloo);
  Run(7, 150'000'000, 200'000'000);
  spool().Flush(201'000'000);
  const uint64_t first = spool().committed();
  Enqueue(7, 100'000'000, 3);
  spool().Flush(260'000'000);
  const uint64_t second = spool().committed();
  Convert({}, {first, second});
  const auto rows = Rows();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].enqueue_ns, kEpochNs + 100'000'000);
  EXPECT_EQ(rows[0].sequence, 3);
}

TEST_F(CollectiveRecordsTest, OriginFollowsTheBackend) {
  Announce(1, wire::Backend::kNccl);
  Run(7, 100, 200, 1);
  Run(8, 300, 400, 0);
  Convert();
  const auto rows = Rows();
  EXPECT_EQ(rows.at(0).origin, "c10d");
  EXPECT_EQ(rows.at(1).origin, "gloo_op");
  EXPECT_EQ(rows.at(1).communicator_id, std::nullopt);
  const auto threads = All<schema::ThreadRow>("WHERE tid = 200");
  EXPECT_EQ(threads.at(0).role, "gloo");
}

TEST_F(CollectiveRecordsTest, CommunicatorsAreMergedAndNumberedPerBackend) {
  Announce(1, wire::Backend::kGloo);
  Announce(2, wire::Backend::kNccl);
  Announce(3, wire::Backend::kGloo);
  wire::CommunicatorRecord more{};
  more.header = Header(wire::RecordKind::kCommunicator, String("0"));
  more.communicator = 1;
  more.rank = 1;
  more.size = 4;
  more.description = String("default_pg");
  more.global_ranks = String("0,1,2,3");
  spool().Add(0, more);
  Convert();
  const auto rows = All<schema::CommunicatorRow>("ORDER BY id");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].backend, "gloo");
  EXPECT_EQ(rows[0].uid, "0");
  EXPECT_EQ(rows[0].description, "default_pg");
  EXPECT_EQ(rows[0].group_rank, 1);
  EXPECT_EQ(rows[0].group_size, 4);
  EXPECT_EQ(rows[0].global_ranks, "[0,1,2,3]");
  EXPECT_EQ(rows[0].ordinal, 0);
  EXPECT_EQ(rows[1].ordinal, 0);
  EXPECT_EQ(rows[2].ordinal, 1);
  EXPECT_EQ(rows[2].group_rank, std::nullopt);
}

TEST(RankListToJson, RefusesWhatIsNoList) {
  EXPECT_EQ(RankListToJson("0"), "[0]");
  EXPECT_EQ(RankListToJson("0,12"), "[0,12]");
  for (const char* text : {"", ",", "1,", ",1", "1,,2", "-1", "1;2", "[1]"}) {
    EXPECT_EQ(RankListToJson(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace tutti::collector::convert
