#include "tracer/sources/torch/operators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "tracer/sources/torch/fake_torch.h"
#include "tracer/testing/rank_fixture.h"

namespace tutti::tracer::torch {
namespace {

using testing::DrainedRecord;
using wire::RecordKind;

const std::string kAdd = "aten::add";
const std::string kMatMul = "aten::mm";
const std::string kAllReduce = "c10d::allreduce_";

class OperatorsTest : public testing::RankTest {
 protected:
  OperatorsTest() { AttachToFakeTorch(); }

  std::vector<wire::CpuOpRecord> Operators() {
    std::vector<wire::CpuOpRecord> all;
    for (const DrainedRecord& record : reader().DrainKind(RecordKind::kCpuOp)) {
      all.push_back(record.As<wire::CpuOpRecord>());
    }
    return all;
  }
  std::string NameOf(const wire::CpuOpRecord& op) { return reader().String(op.header.name); }
};

TEST_F(OperatorsTest, RecordsAnOperatorWithAllItTells) {
  BecomeRank();
  FakeRecord op = FakeRecord::Operator(kMatMul, kScopeBackwardFunction);
  op.Sequence(17).Threads(3, 2);
  op.Start();
  op.End();
  const auto ops = Operators();
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(NameOf(ops[0]), "aten::mm");
  EXPECT_EQ(ops[0].scope, kScopeBackwardFunction);
  EXPECT_EQ(ops[0].sequence_nr, 17);
  EXPECT_EQ(ops[0].torch_tid, 3u);
  EXPECT_EQ(ops[0].forward_tid, 2u);
  EXPECT_EQ(ops[0].depth, 0);
  EXPECT_EQ(ops[0].shapes, 0u);
  EXPECT_LT(ops[0].begin_ticks, ops[0].end_ticks);
}

TEST_F(OperatorsTest, ToldApartByContentWhereNamesShareAnAddress) {
  BecomeRank();
  std::string schema = "first::op";
  for (const char* name : {"first::op", "other::op", "third::op"}) {
    schema = name;  // a registration dropped and its storage used again
    FakeRecord op = FakeRecord::Operator(schema);
    op.Start();
    op.End();
  }
  const auto ops = Operators();
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(NameOf(ops[0]), "first::op");
  EXPECT_EQ(NameOf(ops[1]), "other::op");
  EXPECT_EQ(NameOf(ops[2]), "third::op");
}

TEST_F(OperatorsTest, NestsAndCountsDepth) {
  BecomeRank();
  FakeRecord outer = FakeRecord::Range("outer");
  FakeRecord inner = FakeRecord::Operator(kAdd);
  outer.Start();
  inner.Start();
  EXPECT_EQ(reader().OpenSpans(0).size(), 2u);
  inner.End();
  outer.End();
  const auto ops = Operators();
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(ops[0].depth, 1);
  EXPECT_EQ(ops[1].depth, 0);
  EXPECT_TRUE(reader().OpenSpans(0).empty());
}

TEST_F(OperatorsTest, TellsTheEndOfWhatBeganOnAnotherThread) {
  BecomeRank();
  FakeRecord range = FakeRecord::Range("moves");
  range.Start();
  std::thread([&] { range.End(); }).join();
  EXPECT_TRUE(Operators().empty());
  const auto spans = reader().OpenSpans(0);
  ASSERT_EQ(spans.size(), 1u);
  FakeRecord second = FakeRecord::Range("moves");
  second.Start();
  std::thread([&] { second.End(); }).join();
  const auto ends = reader().DrainKind(RecordKind::kAsyncEnd);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_NE(ends[0].As<wire::AsyncEndRecord>().identity, spans[0].identity);
}

TEST_F(OperatorsTest, KeepsWhatSaysItIsAsynchronousOffTheStack) {
  BecomeRank();
  FakeRecord async = FakeRecord::Range("async");
  async.Async();
  async.Start();
  EXPECT_TRUE(reader().OpenSpans(0).empty());
  FakeRecord op = FakeRecord::Operator(kAdd);
  op.Start();
  op.End();
  async.End();
  const auto records = reader().Drain();
  std::vector<RecordKind> kinds;
  for (const DrainedRecord& record : records) {
    kinds.push_back(record.kind());
  }
  EXPECT_EQ(kinds, (std::vector<RecordKind>{RecordKind::kThread, RecordKind::kAsyncBegin,
                                            RecordKind::kCpuOp, RecordKind::kAsyncEnd}));
  EXPECT_EQ(records[1].As<wire::AsyncBeginRecord>().identity,
            records[3].As<wire::AsyncEndRecord>().identity);
}

TEST_F(OperatorsTest, WritesNoEndWithoutABegin) {
  Listen();
  FakeRecord before = FakeRecord::Range("before the process is a rank");
  before.Start();
  ASSERT_TRUE(Promote("test"));
  before.End();
  reader().header().capture_mask = wire::kCaptureMemory;
  FakeRecord off = FakeRecord::Operator(kAdd);
  off.Start();
  reader().header().capture_mask = wire::kCaptureTorch;
  off.End();
  EXPECT_TRUE(Operators().empty());
  EXPECT_TRUE(reader().DrainKind(RecordKind::kAsyncEnd).empty());
}

TEST_F(OperatorsTest, EndsWhatWasBegunBeforeItWasSwitchedOff) {
  BecomeRank();
  FakeRecord op = FakeRecord::Operator(kAdd);
  op.Start();
  reader().header().capture_mask = 0;
  op.End();
  EXPECT_EQ(Operators().size(), 1u);
  EXPECT_TRUE(reader().OpenSpans(0).empty());
}

struct Sign {
  const char* reason;  // nullptr: no sign of training
  FakeRecord record;
};

TEST_F(OperatorsTest, PromotesACandidateThatTrains) {
  Sign signs[] = {
      {nullptr, FakeRecord::Operator(kAdd)},
      {nullptr, FakeRecord::Range("enumerate(DataLoader)")},
      {"backward", FakeRecord::Range("AddmmBackward0", kScopeBackwardFunction)},
      {"c10d::allreduce_", FakeRecord::Operator(kAllReduce)},
      {"record_param_comms", FakeRecord::Range("record_param_comms", kScopeFunction)},
  };
  for (Sign& sign : signs) {
    Listen();
    sign.record.Start();
    sign.record.End();
    ASSERT_EQ(Active(), sign.reason != nullptr);
    if (sign.reason != nullptr) {
      EXPECT_STREQ(collector_->hellos()[0].reason, sign.reason);
      EXPECT_EQ(Operators().size(), 1u) << "what made it a rank is recorded";
    }
  }
}

TEST_F(OperatorsTest, WritesShapesWhenAsked) {
  BecomeRank();
  const FakeTensor left({2, 3}, 6);
  const FakeTensor right({3, 4}, 6);
  for (const uint32_t shapes : {0u, uint32_t{wire::kCaptureShapes}}) {
    reader().header().capture_mask = wire::kCaptureTorch | shapes;
    FakeRecord op = FakeRecord::Operator(kMatMul);
    op.Inputs({&left, &right});
    op.Start();
    op.End();
  }
  const auto ops = Operators();
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(ops[0].shapes, 0u);
  EXPECT_EQ(reader().String(ops[1].shapes), "[[2,3],[3,4]]");
}

TEST_F(OperatorsTest, LeavesScopesOutThatAreNoExecution) {
  EXPECT_EQ(FakeRegistry::For(kScopeKernelFunctionDtype), nullptr);
  EXPECT_EQ(FakeRegistry::For(kScopeBuildFeature), nullptr);
  EXPECT_FALSE(FakeRegistry::For(kScopeFunction)->needs_inputs);
  EXPECT_TRUE(FakeRegistry::For(kScopeUser)->needs_inputs);
}

TEST_F(OperatorsTest, AsksForInputsOnceWhereShapesAreWanted) {
  const auto asking = [] {
    return std::count_if(FakeRegistry::callbacks.begin(), FakeRegistry::callbacks.end(),
                         [](const GlobalCallback& callback) {
                           return callback.needs_inputs && callback.scopes[kScopeFunction];
                         });
  };
  TheSource().asks_for_inputs = false;
  FakeRegistry::callbacks.resize(2);
  BecomeRank();
  reader().header().capture_mask = wire::kCaptureTorch;
  Attach();
  EXPECT_EQ(asking(), 0);
  reader().header().capture_mask = wire::kCaptureTorch | wire::kCaptureShapes;
  Attach();
  Attach();
  EXPECT_EQ(asking(), 1);
  EXPECT_EQ(FakeRegistry::callbacks.size(), 3u);
}

TEST_F(OperatorsTest, RecordsThreadsApart) {
  BecomeRank({1024, 1u << 16, {{6, 1024}}});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) {
        FakeRecord outer = FakeRecord::Range("outer of a thread");
        FakeRecord inner = FakeRecord::Operator(kAdd);
        outer.Start();
        inner.Start();
        inner.End();
        outer.End();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const auto ops = Operators();
  EXPECT_EQ(ops.size(), 800u);
  for (const wire::CpuOpRecord& op : ops) {
    EXPECT_EQ(op.depth, NameOf(op) == "aten::add" ? 1 : 0);
  }
}

}  // namespace
}  // namespace tutti::tracer::torch
