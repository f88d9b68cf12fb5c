#include "tracer/sources/torch/collectives.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tracer/sources/torch/fake_torch.h"
#include "tracer/sources/torch/op_names.h"
#include "tracer/testing/rank_fixture.h"

namespace tutti::tracer::torch {
namespace {

using testing::DrainedRecord;
using wire::RecordKind;

constexpr uint8_t kBroadcast = 0;
constexpr uint8_t kAllReduce = 1;
constexpr uint8_t kAllToAll = 11;
constexpr int32_t kFloat32 = 6;

class CollectivesTest : public testing::RankTest {
 protected:
  CollectivesTest() { AttachToFakeTorch(); }

  template <typename Record>
  std::vector<Record> All(RecordKind kind) {
    std::vector<Record> all;
    for (const DrainedRecord& record : reader().DrainKind(kind)) {
      all.push_back(record.As<Record>());
    }
    return all;
  }

  // A group, made as PyTorch makes one.
  static std::unique_ptr<FakeGloo> MakeGroup(int32_t rank = 0, int32_t size = 2) {
    auto gloo = std::make_unique<FakeGloo>(rank, size, "uid", std::vector<uint64_t>{4, 5});
    OnGroupConstruct(gloo->address(), rank, size);
    return gloo;
  }

  // What Gloo's worker does with a work: runs it, the RecordFunction within.
  static void Run(const FakeWork& work, FakeRecord* record) {
    OnWorkBegin(&work);
    if (record != nullptr) {
      record->Start();
      record->End();
    }
    OnWorkEnd();
  }
};

TEST_F(CollectivesTest, JoinsEnqueueAndRunOverThreads) {
  BecomeRank();
  const auto gloo = MakeGroup(1, 2);
  const FakeWork work = {kAllReduce};
  const FakeTensor tensor({10, 10}, kFloat32);
  OnEnqueue(gloo->address(), &work);
  std::thread([&] {
    FakeRecord record = FakeRecord::Range("gloo:all_reduce");
    record.Async().Inputs({&tensor});
    Run(work, &record);
  }).join();

  std::vector<DrainedRecord> records = reader().Drain();
  std::vector<wire::CommunicatorRecord> groups;
  wire::CollectiveEnqueueRecord enqueue{};
  wire::CollectiveRecord collective{};
  for (const DrainedRecord& record : records) {
    if (record.kind() == RecordKind::kCommunicator) {
      groups.push_back(record.As<wire::CommunicatorRecord>());
    }
    if (record.kind() == RecordKind::kCollectiveEnqueue) {
      enqueue = record.As<wire::CollectiveEnqueueRecord>();
    }
    if (record.kind() == RecordKind::kCollective) {
      collective = record.As<wire::CollectiveRecord>();
    }
  }
  ASSERT_EQ(groups.size(), 2u);  // as it was made, and with all that it tells later
  EXPECT_EQ(groups[1].rank, 1);
  EXPECT_EQ(groups[1].size, 2);
  EXPECT_EQ(reader().String(groups[1].header.name), "uid");
  EXPECT_EQ(reader().String(groups[1].global_ranks), "4,5");
  EXPECT_EQ(collective.work, enqueue.work);
  EXPECT_EQ(collective.communicator, groups[1].communicator);
  EXPECT_EQ(collective.sequence, 0);
  EXPECT_EQ(collective.bytes, 400);
  EXPECT_EQ(reader().String(collective.dtype), "float32");
  EXPECT_EQ(reader().String(collective.header.name), "all_reduce");
  EXPECT_LE(enqueue.ticks, collective.begin_ticks);
  EXPECT_LT(collective.begin_ticks, collective.end_ticks);
}

TEST_F(CollectivesTest, ShowsTheOpenOneWithItsBytes) {
  BecomeRank();
  const auto gloo = MakeGroup();
  const FakeWork work = {kAllReduce};
  const FakeTensor tensor({8}, kFloat32);
  OnEnqueue(gloo->address(), &work);
  OnWorkBegin(&work);
  ASSERT_EQ(reader().OpenSpans(0).size(), 1u);
  EXPECT_EQ(static_cast<int64_t>(reader().OpenSpans(0)[0].aux2), -1);
  FakeRecord record = FakeRecord::Range("gloo:all_reduce");
  record.Inputs({&tensor});
  record.Start();
  const wire::OpenSpan span = reader().OpenSpans(0)[0];
  EXPECT_EQ(span.kind, static_cast<uint8_t>(RecordKind::kCollective));
  EXPECT_EQ(span.aux2, 32u);
  EXPECT_EQ(reader().String(span.name), "all_reduce");
  record.End();
  OnWorkEnd();
  EXPECT_TRUE(reader().OpenSpans(0).empty());
  EXPECT_EQ(All<wire::CollectiveRecord>(RecordKind::kCollective).size(), 1u);
}

TEST_F(CollectivesTest, RecordsAWorkWithoutARecordFunction) {
  BecomeRank();
  const auto gloo = MakeGroup();
  const FakeWork work = {kAllReduce};
  OnEnqueue(gloo->address(), &work);
  Run(work, nullptr);
  const auto collectives = All<wire::CollectiveRecord>(RecordKind::kCollective);
  ASSERT_EQ(collectives.size(), 1u);
  EXPECT_EQ(reader().String(collectives[0].header.name), "all_reduce");
  EXPECT_EQ(collectives[0].bytes, -1);
}

TEST_F(CollectivesTest, NumbersWorksPerGroupInTheOrderOfTheirEnqueue) {
  BecomeRank();
  const auto first = MakeGroup();
  const auto second = MakeGroup();
  const FakeWork works[] = {{kAllReduce}, {kAllReduce}, {kAllReduce}};
  OnEnqueue(first->address(), &works[0]);
  OnEnqueue(second->address(), &works[1]);
  OnEnqueue(first->address(), &works[2]);
  for (const FakeWork& work : works) {
    Run(work, nullptr);
  }
  const auto collectives = All<wire::CollectiveRecord>(RecordKind::kCollective);
  ASSERT_EQ(collectives.size(), 3u);
  EXPECT_EQ(collectives[0].sequence, 0);
  EXPECT_EQ(collectives[1].sequence, 0);
  EXPECT_EQ(collectives[2].sequence, 1);
  EXPECT_EQ(collectives[0].communicator, collectives[2].communicator);
  EXPECT_NE(collectives[0].communicator, collectives[1].communicator);
}

// Sequences must agree over ranks, of which some may have been switched off for a while.
TEST_F(CollectivesTest, CountsWhatItDoesNotRecord) {
  BecomeRank();
  const auto gloo = MakeGroup();
  const FakeWork work = {kAllReduce};
  reader().header().capture_mask = 0;
  OnEnqueue(gloo->address(), &work);
  Run(work, nullptr);
  reader().header().capture_mask = wire::kCaptureTorch;
  OnEnqueue(gloo->address(), &work);
  Run(work, nullptr);
  const auto collectives = All<wire::CollectiveRecord>(RecordKind::kCollective);
  ASSERT_EQ(collectives.size(), 1u);
  EXPECT_EQ(collectives[0].sequence, 1);
}

TEST_F(CollectivesTest, GivesARootOnlyToWhatHasOne) {
  BecomeRank();
  const auto gloo = MakeGroup(0, 4);
  const auto other = MakeGroup(0, 4);
  const FakeWork works[] = {{kBroadcast}, {kAllReduce}, {kBroadcast}};
  OnRootedCall(gloo->address(), 3);
  OnEnqueue(gloo->address(), &works[0]);
  OnEnqueue(gloo->address(), &works[1]);  // the last call's root is not this one's
  OnEnqueue(other->address(), &works[2]);
  for (const FakeWork& work : works) {
    Run(work, nullptr);
  }
  const auto collectives = All<wire::CollectiveRecord>(RecordKind::kCollective);
  EXPECT_EQ(collectives[0].root, 3);
  EXPECT_EQ(collectives[1].root, -1);
  EXPECT_EQ(collectives[2].root, -1);
}

TEST_F(CollectivesTest, CountsBytesAsNcclTestsDo) {
  BecomeRank();
  const auto gloo = MakeGroup(0, 4);
  const FakeTensor tensor({100}, kFloat32);
  for (const uint8_t op : {kAllReduce, kAllToAll}) {
    const FakeWork work = {op};
    OnEnqueue(gloo->address(), &work);
    FakeRecord record = FakeRecord::Range("gloo:some");
    record.Inputs({&tensor, &tensor});
    Run(work, &record);
  }
  const auto collectives = All<wire::CollectiveRecord>(RecordKind::kCollective);
  EXPECT_EQ(collectives[0].bytes, 800);
  EXPECT_EQ(collectives[1].bytes, 200);
}

TEST_F(CollectivesTest, KeepsTheNameOfAReduceScatterThatRunsAsAllReduce) {
  BecomeRank();
  const auto gloo = MakeGroup(0, 4);
  const std::string name = "c10d::_reduce_scatter_base_";
  const FakeTensor tensor({100}, kFloat32);
  const FakeWork works[] = {{kAllReduce}, {kAllReduce}};
  FakeRecord op = FakeRecord::Operator(name);
  op.Start();
  OnEnqueue(gloo->address(), &works[0]);
  op.End();
  OnEnqueue(gloo->address(), &works[1]);
  for (const FakeWork& work : works) {
    FakeRecord record = FakeRecord::Range("gloo:all_reduce");
    record.Inputs({&tensor});
    Run(work, &record);
  }
  const auto collectives = All<wire::CollectiveRecord>(RecordKind::kCollective);
  ASSERT_EQ(collectives.size(), 2u);
  EXPECT_EQ(reader().String(collectives[0].header.name), "reduce_scatter");
  EXPECT_EQ(collectives[0].bytes, 100);
  EXPECT_EQ(reader().String(collectives[1].header.name), "all_reduce");
  EXPECT_EQ(collectives[1].bytes, 400);
}

TEST_F(CollectivesTest, CountsWhatARankReceivesFromAScatter) {
  BecomeRank();
  const auto gloo = MakeGroup(1, 4);
  const FakeTensor output({25}, kFloat32);
  const std::vector<const void*> outputs = {output.impl()};
  const FakeWork work = {kOpTypeScatter};
  OnScatterCall(gloo->address(), 0, &outputs);
  OnEnqueue(gloo->address(), &work);
  FakeRecord record = FakeRecord::Range("gloo:scatter");  // not the root: nothing is passed in
  Run(work, &record);
  const auto collectives = All<wire::CollectiveRecord>(RecordKind::kCollective);
  ASSERT_EQ(collectives.size(), 1u);
  EXPECT_EQ(collectives[0].bytes, 100);
  EXPECT_EQ(reader().String(collectives[0].dtype), "float32");
  EXPECT_EQ(collectives[0].root, 0);
}

TEST_F(CollectivesTest, NamesUnknownKindsAsPyTorchDoes) {
  BecomeRank();
  const auto gloo = MakeGroup();
  const FakeWork work = {kOpTypeUnknown};
  OnEnqueue(gloo->address(), &work);
  FakeRecord record = FakeRecord::Range("gloo:all_new");
  Run(work, &record);
  const auto collectives = All<wire::CollectiveRecord>(RecordKind::kCollective);
  EXPECT_EQ(reader().String(collectives[0].header.name), "all_new");
}

TEST_F(CollectivesTest, FollowsAReceiveThatEndsOnAnotherThread) {
  BecomeRank();
  const auto gloo = MakeGroup();
  const FakeTensor tensor({4}, kFloat32);
  OnPeerCall(gloo->address(), 1);
  FakeRecord record = FakeRecord::Range("gloo:recv");
  record.Async().Inputs({&tensor});
  record.Start();
  std::thread([&] { record.End(); }).join();
  std::vector<DrainedRecord> records = reader().Drain();
  wire::CollectiveEnqueueRecord enqueue{};
  wire::CollectiveRecord receive{};
  int descriptions = 0;
  for (const DrainedRecord& drained : records) {
    descriptions += drained.kind() == RecordKind::kCommunicator ? 1 : 0;
    if (drained.kind() == RecordKind::kCollectiveEnqueue) {
      enqueue = drained.As<wire::CollectiveEnqueueRecord>();
    }
    if (drained.kind() == RecordKind::kCollective) {
      receive = drained.As<wire::CollectiveRecord>();
    }
  }
  EXPECT_EQ(reader().String(receive.header.name), "recv");
  EXPECT_EQ(receive.peer, 1);
  EXPECT_EQ(receive.bytes, 16);
  EXPECT_EQ(receive.sequence, -1);
  EXPECT_EQ(receive.work, enqueue.work);
  EXPECT_EQ(receive.begin_ticks, enqueue.ticks);
  EXPECT_NE(receive.communicator, 0u);
  EXPECT_EQ(descriptions, 2);  // when it was made, and with its names at its first call
}

TEST_F(CollectivesTest, MakesAProcessARankThatMakesAGroup) {
  Listen();
  const auto gloo = MakeGroup();
  EXPECT_TRUE(Active());
  EXPECT_STREQ(collector_->hellos()[0].reason, "c10d::ProcessGroupGloo");
}

TEST_F(CollectivesTest, HandsManyWorksFromCallersToWorkers) {
  BecomeRank({1024, 1u << 16, {{8, 4096}}});
  const auto gloo = MakeGroup();
  constexpr int kWorks = 1000;
  std::vector<FakeWork> works(kWorks, FakeWork{kAllReduce});
  std::atomic<int> handed{0};
  std::thread caller([&] {
    for (const FakeWork& work : works) {
      OnEnqueue(gloo->address(), &work);
      handed.fetch_add(1);
    }
  });
  std::atomic<int> taken{0};
  std::vector<std::thread> workers;
  for (int worker = 0; worker < 2; ++worker) {
    workers.emplace_back([&] {
      int mine;
      while ((mine = taken.fetch_add(1)) < kWorks) {
        while (handed.load() <= mine) std::this_thread::yield();
        Run(works[static_cast<size_t>(mine)], nullptr);
      }
    });
  }
  caller.join();
  for (std::thread& worker : workers) {
    worker.join();
  }
  std::vector<bool> seen(kWorks);
  for (const auto& collective : All<wire::CollectiveRecord>(RecordKind::kCollective)) {
    ASSERT_NE(collective.work, 0u);
    seen[static_cast<size_t>(collective.sequence)] = true;
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), kWorks);
}

}  // namespace
}  // namespace tutti::tracer::torch
