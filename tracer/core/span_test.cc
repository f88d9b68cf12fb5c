// The stack of open spans: what a rank was inside, and who ends what.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tracer/core/entry.h"
#include "tracer/testing/rank_fixture.h"

namespace tutti::tracer {
namespace {

using testing::DrainedRecord;
using wire::LossReason;
using wire::RecordKind;
using Outcome = EndedSpan::Outcome;

class SpanTest : public testing::RankTest {
 protected:
  SpanTest() { BecomeRank({1024, 1u << 16, {{2, 1024}}}); }

  static wire::OpenSpan Span(RecordKind kind, uint64_t identity) {
    wire::OpenSpan span{};
    span.begin_ticks = 1000 + identity;
    span.identity = identity;
    span.kind = static_cast<uint8_t>(kind);
    return span;
  }
  static void Begin(RecordKind kind, uint64_t identity) {
    Entry(kCaptureAlways).BeginSpan(Span(kind, identity));
  }
  static Outcome End(uint64_t identity) { return Entry(kCaptureAlways).EndSpan(identity).outcome; }

  std::vector<uint64_t> OpenIdentities() {
    std::vector<uint64_t> identities;
    for (const wire::OpenSpan& span : reader().OpenSpans(0)) identities.push_back(span.identity);
    return identities;
  }
};

TEST_F(SpanTest, NestedSpansEndInsideOut) {
  Begin(RecordKind::kCpuOp, 1);
  Begin(RecordKind::kCpuOp, 2);
  EXPECT_EQ(OpenIdentities(), (std::vector<uint64_t>{1, 2}));
  Entry entry(kCaptureAlways);
  const EndedSpan inner = entry.EndSpan(2);
  ASSERT_EQ(inner.outcome, Outcome::kFound);
  EXPECT_EQ(inner.depth, 1u);
  EXPECT_EQ(inner.span->begin_ticks, 1002u);
  const EndedSpan outer = entry.EndSpan(1);
  EXPECT_EQ(outer.depth, 0u);
  EXPECT_TRUE(OpenIdentities().empty());
}

TEST_F(SpanTest, AnUnknownEndIsElsewhere) {
  EXPECT_EQ(End(5), Outcome::kElsewhere);
  Begin(RecordKind::kCpuOp, 1);
  EXPECT_EQ(End(5), Outcome::kElsewhere);
  EXPECT_EQ(OpenIdentities(), std::vector<uint64_t>{1});
  std::thread([] { EXPECT_EQ(End(1), Outcome::kElsewhere); }).join();
}

// op 1 (op 2 (op 3 … and 1 ends first: 2 and 3 will end on other threads or later.
TEST_F(SpanTest, OperatorsOverAnEndedOneBecomeAsynchronous) {
  for (const uint64_t identity : {1u, 2u, 3u}) Begin(RecordKind::kCpuOp, identity);
  {
    Entry entry(kCaptureAlways);
    const EndedSpan ended = entry.EndSpan(1);
    EXPECT_EQ(ended.outcome, Outcome::kFound);
    EXPECT_EQ(ended.depth, 0u);
    EXPECT_EQ(ended.span->identity, 1u);
  }
  EXPECT_TRUE(OpenIdentities().empty());
  const std::vector<DrainedRecord> begins = reader().DrainKind(RecordKind::kAsyncBegin);
  ASSERT_EQ(begins.size(), 2u);
  EXPECT_EQ(begins[0].As<wire::AsyncBeginRecord>().identity, 2u);
  EXPECT_EQ(begins[0].As<wire::AsyncBeginRecord>().ticks, 1002u);
  EXPECT_EQ(begins[1].As<wire::AsyncBeginRecord>().identity, 3u);
  EXPECT_EQ(End(3), Outcome::kElsewhere);
}

// NVTX ranges of different domains, and ranges and operators, may cross on one thread.
TEST_F(SpanTest, RangesMayCross) {
  Begin(RecordKind::kRange, 1);
  Begin(RecordKind::kCpuOp, 2);
  Begin(RecordKind::kRange, 3);
  EXPECT_EQ(End(1), Outcome::kFound);
  EXPECT_EQ(OpenIdentities(), (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(End(2), Outcome::kFound);
  EXPECT_EQ(OpenIdentities(), std::vector<uint64_t>{3});
  EXPECT_EQ(End(3), Outcome::kFound);
  EXPECT_TRUE(reader().DrainKind(RecordKind::kAsyncBegin).empty());
}

TEST_F(SpanTest, TheInnermostOfOneIdentityEndsFirst) {
  Begin(RecordKind::kRange, 9);
  Begin(RecordKind::kRange, 9);
  Entry entry(kCaptureAlways);
  EXPECT_EQ(entry.EndSpan(9).depth, 1u);
  EXPECT_EQ(entry.EndSpan(9).depth, 0u);
}

TEST_F(SpanTest, FindSpanFillsInWhatWasNotKnownAtTheBegin) {
  Begin(RecordKind::kCollective, 1);
  Begin(RecordKind::kRange, 2);
  Entry entry(kCaptureAlways);
  EXPECT_EQ(entry.FindSpan(3), nullptr);
  ASSERT_NE(entry.FindSpan(1), nullptr);
  entry.FindSpan(1)->aux2 = 4096;
  EXPECT_EQ(reader().OpenSpans(0)[0].aux2, 4096u);
}

// The segment shows 72; the others are kept in the process, to kMaxSpanDepth.
TEST_F(SpanTest, DeepSpansKeepTheirBegins) {
  for (uint64_t i = 0; i < kMaxSpanDepth; ++i) Begin(RecordKind::kCpuOp, i);
  EXPECT_EQ(reader().ring(0).open_depth.load(), kMaxSpanDepth);
  Entry entry(kCaptureAlways);
  for (uint64_t i = kMaxSpanDepth; i-- > 0;) {
    const EndedSpan ended = entry.EndSpan(i);
    ASSERT_EQ(ended.outcome, Outcome::kFound) << i;
    ASSERT_EQ(ended.span->begin_ticks, 1000 + i);
    ASSERT_EQ(ended.depth, i);
  }
  EXPECT_EQ(reader().Lost(LossReason::kTooDeep), 0u);
}

TEST_F(SpanTest, SpansThatAreTooDeepAreCountedAndDoNotDisturbTheOthers) {
  for (uint64_t i = 0; i < kMaxSpanDepth + 10; ++i) Begin(RecordKind::kCpuOp, i);
  for (uint64_t i = kMaxSpanDepth + 10; i-- > kMaxSpanDepth;) {
    EXPECT_EQ(End(i), Outcome::kDropped);
  }
  for (uint64_t i = kMaxSpanDepth; i-- > 0;) ASSERT_EQ(End(i), Outcome::kFound);
  EXPECT_EQ(reader().Lost(LossReason::kTooDeep), 10u);
}

TEST_F(SpanTest, AThreadWithoutARingLosesItsSpansOnce) {
  BecomeRank({1024, 1u << 16, {{1, 64}}});
  Begin(RecordKind::kCpuOp, 1);
  std::thread([] {
    Begin(RecordKind::kCpuOp, 2);
    EXPECT_EQ(End(2), Outcome::kDropped);
  }).join();
  EXPECT_EQ(reader().Lost(LossReason::kNoRing), 1u);
}

}  // namespace
}  // namespace tutti::tracer
