// The usual way of a span against the general one: the same cells, and no effect where it refuses.
#include "tracer/core/quick_span.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tracer/testing/rank_fixture.h"

namespace tutti::tracer {
namespace {

using testing::DrainedRecord;
using wire::RecordKind;

constexpr std::string_view kName = "aten::linear";

class QuickSpanTest : public testing::RankTest {
 protected:
  void Become(wire::RingClass ring = {1, 1024}) {
    BecomeRank({1024, 1u << 16, {ring}});
    index_ = Entry(kCaptureAlways).Intern(kName);
  }

  static bool Begin(uint64_t identity, std::string_view name = kName, uint32_t mask = 0,
                    uint32_t wanted = 0) {
    return QuickBeginSpan(mask, wanted, name, [&](wire::OpenSpan& span, uint32_t index) {
      span = {};
      span.identity = identity;
      span.name = index;
      span.kind = static_cast<uint8_t>(RecordKind::kCpuOp);
    });
  }
  static bool End(uint64_t identity) {
    return QuickEndSpan<wire::CpuOpRecord>(
        identity,
        [&](wire::CpuOpRecord& op, const wire::OpenSpan& span, uint16_t depth, uint64_t now) {
          op = {};
          op.header = HeaderOf(RecordKind::kCpuOp, span.name);
          op.begin_ticks = span.begin_ticks;
          op.end_ticks = now;
          op.depth = depth;
        });
  }
  std::vector<DrainedRecord> Operators() { return reader().DrainKind(RecordKind::kCpuOp); }

  uint32_t index_ = 0;
};

TEST_F(QuickSpanTest, NestedSpansGiveTheirRecords) {
  Become();
  const uint64_t before = __rdtsc();
  ASSERT_TRUE(Begin(1));
  ASSERT_TRUE(Begin(2));
  ASSERT_EQ(reader().OpenSpans(0).size(), 2u);
  ASSERT_TRUE(End(2));
  ASSERT_TRUE(End(1));
  const uint64_t after = __rdtsc();
  EXPECT_TRUE(reader().OpenSpans(0).empty());
  const std::vector<DrainedRecord> operators = Operators();
  ASSERT_EQ(operators.size(), 2u);
  const auto inner = operators[0].As<wire::CpuOpRecord>();
  const auto outer = operators[1].As<wire::CpuOpRecord>();
  EXPECT_EQ(inner.header.name, index_);
  EXPECT_EQ(inner.depth, 1u);
  EXPECT_EQ(outer.depth, 0u);
  EXPECT_TRUE(before <= outer.begin_ticks && outer.begin_ticks <= inner.begin_ticks &&
              inner.begin_ticks <= inner.end_ticks && inner.end_ticks <= outer.end_ticks &&
              outer.end_ticks <= after);
}

TEST_F(QuickSpanTest, EachWayEndsWhatTheOtherBegan) {
  Become();
  ASSERT_TRUE(Begin(1));
  EXPECT_EQ(Entry(kCaptureAlways).EndSpan(1).outcome, EndedSpan::Outcome::kFound);
  wire::OpenSpan span{};
  span.identity = 2;
  Entry(kCaptureAlways).BeginSpan(span);
  EXPECT_TRUE(End(2));
  EXPECT_TRUE(reader().OpenSpans(0).empty());
}

TEST_F(QuickSpanTest, AProcessThatIsNoRankIsRefused) {
  EXPECT_FALSE(Begin(1));
  EXPECT_FALSE(End(1));
}

TEST_F(QuickSpanTest, AThreadThatHasNoRingYetIsRefused) {
  Become({2, 1024});
  bool begins = true;
  std::thread([&] { begins = Begin(1); }).join();
  EXPECT_FALSE(begins);
  EXPECT_TRUE(Begin(1));
}

TEST_F(QuickSpanTest, InsideAnEntryItIsRefusedAndTheEntryGoesOn) {
  Become();
  {
    Entry entry(kCaptureAlways);
    EXPECT_FALSE(Begin(1));
    EXPECT_FALSE(End(1));
    EXPECT_FALSE(Entry(kCaptureAlways));
  }
  EXPECT_TRUE(reader().OpenSpans(0).empty());
  EXPECT_TRUE(Begin(1));
}

TEST_F(QuickSpanTest, ANameSeenFirstIsRefusedAndWhatIsNotWanted) {
  Become();
  EXPECT_FALSE(Begin(1, "aten::relu"));
  EXPECT_FALSE(Begin(1, kName, wire::kCaptureTorch, 0));
  EXPECT_TRUE(Begin(1, kName, wire::kCaptureTorch, wire::kCaptureTorch));
}

TEST_F(QuickSpanTest, NamesOfAllLengthsAreComparedWhole) {
  Become();
  std::string name;
  for (size_t length = 1; length <= 40; ++length) {
    name.assign(length, 'n');
    name.reserve(64);
    Entry(kCaptureAlways).Intern(name);
    for (size_t changed = 0; changed < length; ++changed) {
      name[changed] = 'x';  // at the same address
      EXPECT_FALSE(Begin(1, name)) << length << " " << changed;
      name[changed] = 'n';
    }
    ASSERT_TRUE(Begin(1, name)) << length;
    ASSERT_TRUE(End(1));
  }
}

TEST_F(QuickSpanTest, AnEndOutOfOrderIsRefusedAndLeavesTheStack) {
  Become();
  ASSERT_TRUE(Begin(1));
  ASSERT_TRUE(Begin(2));
  EXPECT_FALSE(End(1));
  EXPECT_FALSE(End(3));
  EXPECT_EQ(reader().OpenSpans(0).size(), 2u);
  EXPECT_TRUE(End(2));
}

TEST_F(QuickSpanTest, AFullRingAndALossToTellAreLeftToTheEntry) {
  Become({1, 64});
  uint64_t identity = 0;
  while (Begin(++identity) && End(identity)) {
    ASSERT_LE(identity, 64u);
  }
  EXPECT_EQ(reader().OpenSpans(0).size(), 1u);
  Operators();  // the collector makes room
  EXPECT_EQ(Entry(kCaptureAlways).EndSpan(identity).outcome, EndedSpan::Outcome::kFound);
  Entry(kCaptureAlways).CountLoss(wire::LossReason::kRingFull);
  ASSERT_TRUE(Begin(1));
  EXPECT_FALSE(End(1));
}

}  // namespace
}  // namespace tutti::tracer
