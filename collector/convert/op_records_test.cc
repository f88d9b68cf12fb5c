#include "collector/convert/op_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/convert/op_name.h"
#include "collector/testing/spool_builder.h"

namespace tutti::collector::convert {
namespace {

using testing::ConvertTest;
using ::testing::ElementsAre;
using testing::Header;
using testing::kEpochNs;
using testing::kMainTid;

constexpr uint8_t kUserScope = 7;

class OpRecordsTest : public ConvertTest {
 protected:
  wire::CpuOpRecord Op(const char* name, uint64_t begin, uint64_t end) {
    wire::CpuOpRecord record{};
    record.header = Header(wire::RecordKind::kCpuOp, String(name));
    record.begin_ticks = begin;
    record.end_ticks = end;
    record.sequence_nr = -1;
    return record;
  }
  wire::AsyncBeginRecord Begin(uint64_t identity, uint64_t ticks) {
    wire::AsyncBeginRecord record{};
    record.header = Header(wire::RecordKind::kAsyncBegin, String("async"));
    record.ticks = ticks;
    record.identity = identity;
    record.sequence_nr = -1;
    return record;
  }
  wire::AsyncEndRecord End(uint64_t identity, uint64_t ticks) {
    wire::AsyncEndRecord record{};
    record.header = Header(wire::RecordKind::kAsyncEnd);
    record.ticks = ticks;
    record.identity = identity;
    record.sequence_nr = -1;
    return record;
  }
};

// ticks     100    200    300    400
// addmm     [=================)
// copy_            [=====)
TEST_F(OpRecordsTest, KeepsNestingAndEveryField) {
  wire::CpuOpRecord inner = Op("aten::copy_", 200, 300);
  inner.depth = 1;
  inner.torch_tid = 3;
  inner.shapes = String("[[2, 3]]");
  wire::CpuOpRecord outer = Op("aten::addmm", 100, 400);
  outer.sequence_nr = 17;
  spool().Add(0, inner);
  spool().Add(0, outer);
  Convert();

  const auto ops = All<schema::CpuOpRow>("ORDER BY begin_ns");
  ASSERT_EQ(ops.size(), 2U);
  EXPECT_EQ(Text(ops[0].name_id), "aten::addmm");
  EXPECT_EQ(ops[0].begin_ns, kEpochNs + 100);
  EXPECT_EQ(ops[0].end_ns, kEpochNs + 400);
  EXPECT_EQ(ops[0].depth, 0);
  EXPECT_EQ(ops[0].sequence_nr, 17);
  EXPECT_EQ(ops[0].shapes_id, 0);
  EXPECT_EQ(ops[1].depth, 1);
  EXPECT_EQ(ops[1].sequence_nr, std::nullopt);
  EXPECT_EQ(ops[1].torch_tid, 3);
  EXPECT_EQ(Text(ops[1].shapes_id), "[[2, 3]]");
  EXPECT_EQ(ops[1].tid, kMainTid);
  EXPECT_THAT(Findings(), ElementsAre());
}

TEST_F(OpRecordsTest, OnlyBackwardFunctionsHaveAForward) {
  wire::CpuOpRecord backward = Op("AddmmBackward0", 100, 200);
  backward.scope = 1;
  backward.forward_tid = 5;
  wire::CpuOpRecord forward = Op("aten::addmm", 300, 400);
  forward.forward_tid = 5;  // PyTorch leaves garbage here
  spool().Add(0, backward);
  spool().Add(0, forward);
  Convert();
  const auto ops = All<schema::CpuOpRow>("ORDER BY begin_ns");
  EXPECT_EQ(ops.at(0).forward_tid, 5);
  EXPECT_EQ(ops.at(1).forward_tid, std::nullopt);
}

TEST_F(OpRecordsTest, EndBeforeBeginBecomesAnEmptySpanAndIsCounted) {
  spool().Add(0, Op("aten::add", 400, 300));
  Convert();
  const auto ops = All<schema::CpuOpRow>();
  EXPECT_EQ(ops.at(0).begin_ns, kEpochNs + 400);
  EXPECT_EQ(ops.at(0).end_ns, kEpochNs + 400);
  EXPECT_THAT(Findings(), ElementsAre("error stamps_out_of_order 1"));
}

TEST_F(OpRecordsTest, StampsOutsideTheClockAreMovedToItsEdge) {
  spool().Add(0, Op("aten::add", 900'000'000, 5'000'000'000));
  Convert();
  EXPECT_EQ(All<schema::CpuOpRow>().at(0).end_ns, kEpochNs + 1'000'000'000);
  EXPECT_THAT(Findings(), ElementsAre("notice stamp_outside_clock 1"));
}

TEST_F(OpRecordsTest, AsyncHalvesOfTwoThreadsAreJoined) {
  spool().AddThread(1, 200, "pt_gloo");
  wire::AsyncEndRecord end = End(42, 300);
  end.sequence_nr = 9;
  spool().Add(0, end);             // written on ring 0 …
  spool().Add(1, Begin(42, 100));  // … and read before its begin
  Convert();
  const auto ops = All<schema::CpuOpRow>();
  ASSERT_EQ(ops.size(), 1U);
  EXPECT_EQ(ops[0].tid, 200);
  EXPECT_EQ(ops[0].end_tid, kMainTid);
  EXPECT_EQ(ops[0].begin_ns, kEpochNs + 100);
  EXPECT_EQ(ops[0].end_ns, kEpochNs + 300);
  EXPECT_EQ(ops[0].sequence_nr, 9);
}

// One address is used by three operators in turn; the last one does not end.
TEST_F(OpRecordsTest, AnAddressThatComesAgainIsAnotherOperator) {
  spool().AddThread(1, 200);
  for (const uint64_t ticks : {100, 300, 500}) spool().Add(1, Begin(42, ticks));
  for (const uint64_t ticks : {200, 400}) spool().Add(0, End(42, ticks));
  Convert();
  const auto ops = All<schema::CpuOpRow>("ORDER BY begin_ns");
  ASSERT_EQ(ops.size(), 3U);
  EXPECT_EQ(ops[0].end_ns, kEpochNs + 200);
  EXPECT_EQ(ops[1].end_ns, kEpochNs + 400);
  EXPECT_EQ(ops[2].end_ns, std::nullopt);
}

TEST_F(OpRecordsTest, ABeginFoundOutLateTakesTheEarliestEndAfterIt) {
  spool().Add(0, End(42, 200));
  spool().Flush(100'000'000);
  spool().Flush(200'000'000);
  const uint64_t slice = spool().committed();
  spool().Add(0, Begin(42, 100));
  Convert({}, {slice});
  const auto ops = All<schema::CpuOpRow>();
  ASSERT_EQ(ops.size(), 1U);
  EXPECT_EQ(ops[0].end_ns, kEpochNs + 200);
}

TEST_F(OpRecordsTest, AnEndWithoutBeginIsCounted) {
  spool().Add(0, End(42, 200));
  Convert();
  EXPECT_TRUE(All<schema::CpuOpRow>().empty());
  EXPECT_THAT(Findings(), ElementsAre("notice async_end_unmatched 1"));
}

TEST_F(OpRecordsTest, ConventionsOfPytorchBecomeStepsPhasesAndWaits) {
  for (const char* name : {"ProfilerStep#12", "Optimizer.step#SGD.step",
                           "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"}) {
    wire::CpuOpRecord record = Op(name, 100, 200);
    record.scope = kUserScope;
    spool().Add(0, record);
  }
  spool().Add(0, Op("ProfilerStep#99", 300, 400));  // an operator of that name is none
  Convert();
  const auto steps = All<schema::StepRow>();
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].number, 12);
  EXPECT_EQ(steps[0].origin, "profiler_step");
  const auto phases = All<schema::PhaseRow>();
  ASSERT_EQ(phases.size(), 1U);
  EXPECT_EQ(phases[0].phase, "optimizer");
  const auto waits = All<schema::DataWaitRow>();
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(Text(waits[0].loader_id), "_SingleProcessDataLoaderIter");
  EXPECT_EQ(waits[0].origin, "dataloader_next");
  EXPECT_EQ(waits[0].queue_depth, std::nullopt);
  EXPECT_EQ(All<schema::CpuOpRow>().size(), 4U);
}

TEST(ParseOpName, TakesOnlyWholeConventions) {
  EXPECT_EQ(ParseOpName("ProfilerStep#7").step, 7);
  for (const char* name : {"ProfilerStep#", "ProfilerStep#7x", "ProfilerStep", "aten::add", "",
                           "enumerate(DataLoader)#.__next__", "enumerate(DataLoader)#X",
                           "ProfilerStep#99999999999999999999"}) {
    EXPECT_EQ(ParseOpName(name).meaning, OpMeaning::kPlain) << name;
  }
  EXPECT_EQ(ParseOpName("Optimizer.zero_grad#Adam.zero_grad").meaning, OpMeaning::kOptimizer);
}

}  // namespace
}  // namespace tutti::collector::convert
