// Rings and losses as a traced thread and the collector see them.
#include "tracer/core/entry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "tracer/core/process_info.h"
#include "tracer/testing/rank_fixture.h"

namespace tutti::tracer {
namespace {

using testing::DrainedRecord;
using testing::Mark;
using wire::LossReason;
using wire::RecordKind;

class EntryTest : public testing::RankTest {};

// Emits marks |begin| to |end| - 1 and returns how many were taken.
uint64_t EmitMarks(uint64_t begin, uint64_t end) {
  uint64_t taken = 0;
  for (uint64_t i = begin; i < end; ++i) {
    Entry entry(kCaptureAlways);
    if (entry.Emit(Mark(i))) ++taken;
  }
  return taken;
}

uint64_t SequenceOf(const DrainedRecord& record) { return record.As<wire::MarkRecord>().payload; }

TEST_F(EntryTest, IsInvalidInACandidate) {
  Listen();
  EXPECT_FALSE(Entry(kCaptureAlways));
  EXPECT_FALSE(Active());
  EXPECT_TRUE(IsCandidate());
}

TEST_F(EntryTest, AThreadsFirstRecordSaysWhoItIs) {
  BecomeRank();
  EmitMarks(7, 8);
  const std::vector<DrainedRecord> records = reader().Drain();
  ASSERT_EQ(records.size(), 2u);
  const auto thread = records[0].As<wire::ThreadRecord>();
  EXPECT_EQ(thread.header.kind, RecordKind::kThread);
  EXPECT_EQ(thread.tid, static_cast<uint32_t>(ThreadId()));
  EXPECT_EQ(thread.generation, 1u);
  EXPECT_EQ(thread.start_ticks, ThreadStartTicks(ThreadId()));
  EXPECT_NE(reader().String(thread.header.name), "");
  EXPECT_EQ(SequenceOf(records[1]), 7u);
}

TEST_F(EntryTest, FollowsTheCollectorsSwitches) {
  BecomeRank();
  reader().header().capture_mask.store(wire::kCaptureTorch);
  EXPECT_TRUE(Entry(wire::kCaptureTorch));
  EXPECT_TRUE(Entry(wire::kCaptureTorch | wire::kCaptureNvtx));
  EXPECT_FALSE(Entry(wire::kCaptureNvtx));
  EXPECT_TRUE(Entry(kCaptureAlways));
  EXPECT_TRUE(Captures(wire::kCaptureTorch));
  EXPECT_FALSE(Captures(wire::kCaptureNvtx));
}

TEST_F(EntryTest, KeepsErrno) {
  BecomeRank();
  errno = 1234;
  EmitMarks(0, 1);
  EXPECT_EQ(errno, 1234);
}

// 64 cells: the thread's record and 63 marks; then the ring of 512: its thread record and
// 511 marks. What comes after that is lost, and the next mark that fits says so first.
TEST_F(EntryTest, MovesToALargerRingAndThenDropsTheNewestExactly) {
  BecomeRank();
  EXPECT_EQ(EmitMarks(0, 1000), 63u + 511u);
  std::vector<DrainedRecord> records = reader().Drain();
  ASSERT_EQ(records.size(), 64u + 512u);
  EXPECT_EQ(reader().ring(records[0].ring).owner.load(), wire::RingOwner::kAbandoned);
  EXPECT_EQ(records[64].kind(), RecordKind::kThread);
  EXPECT_EQ(records[64].tid, records[0].tid);
  EXPECT_EQ(SequenceOf(records[575]), 573u);
  EXPECT_EQ(reader().Lost(LossReason::kRingFull), 1000u - 574u);

  EXPECT_EQ(EmitMarks(1000, 1001), 1u);
  records = reader().Drain();
  ASSERT_EQ(records.size(), 2u);
  const auto loss = records[0].As<wire::LossRecord>();
  EXPECT_EQ(loss.header.kind, RecordKind::kLoss);
  EXPECT_EQ(loss.header.flags, static_cast<uint16_t>(LossReason::kRingFull));
  EXPECT_EQ(loss.count, 1000u - 574u);
  const wire::RingHeader& ring = reader().ring(records[0].ring);
  EXPECT_EQ(loss.first_ticks, ring.lost[1].first_ticks.load());
  EXPECT_EQ(loss.last_ticks, ring.lost[1].last_ticks.load());
  EXPECT_LT(loss.first_ticks, loss.last_ticks);
  EXPECT_EQ(SequenceOf(records[1]), 1000u);
}

TEST_F(EntryTest, AnAbandonedRingIsFreeOnceItIsEmpty) {
  BecomeRank();
  EmitMarks(0, 100);
  reader().FreeRings([](uint32_t) { return true; });
  EXPECT_EQ(reader().ring(0).owner.load(), wire::RingOwner::kAbandoned);
  reader().Drain();
  reader().FreeRings([](uint32_t) { return true; });
  EXPECT_EQ(reader().ring(0).owner.load(), wire::RingOwner::kFree);
  EXPECT_EQ(EmitMarks(100, 200), 100u);  // the thread itself stays where it went
  EXPECT_EQ(reader().Drain()[0].ring, 4u);
}

TEST_F(EntryTest, SpansStayOpenAcrossTheMove) {
  BecomeRank();
  {
    Entry entry(kCaptureAlways);
    entry.BeginSpan({.begin_ticks = 5,
                     .identity = 77,
                     .name = 0,
                     .kind = 2,
                     .scope = 0,
                     .flags = 0,
                     .aux = 0,
                     .domain = 0,
                     .category = 0,
                     .aux2 = 0});
  }
  EmitMarks(0, 100);
  EXPECT_TRUE(reader().OpenSpans(0).empty());
  ASSERT_EQ(reader().OpenSpans(4).size(), 1u);
  Entry entry(kCaptureAlways);
  const EndedSpan ended = entry.EndSpan(77);
  EXPECT_EQ(ended.outcome, EndedSpan::Outcome::kFound);
  EXPECT_EQ(ended.span->begin_ticks, 5u);
}

// Gaps in the sequence must be exactly what the loss records between the marks say.
void CheckSequence(const std::vector<DrainedRecord>& records, uint64_t sent, uint64_t lost_total) {
  uint64_t expected = 0;
  uint64_t lost = 0;
  for (const DrainedRecord& record : records) {
    if (record.kind() == RecordKind::kLoss) {
      const uint64_t count = record.As<wire::LossRecord>().count;
      lost += count;
      expected += count;
    } else if (record.kind() == RecordKind::kMark) {
      ASSERT_EQ(SequenceOf(record), expected++);
    }
  }
  const uint64_t untold = sent - expected;  // lost after the last mark that fitted
  EXPECT_EQ(lost + untold, lost_total);
}

TEST_F(EntryTest, WrapsAroundForEverWhileItIsDrained) {
  BecomeRank({1024, 1u << 16, {{1, 64}}});
  constexpr uint64_t kMarks = 300'000;
  std::atomic<bool> done{false};
  std::atomic<uint64_t> rounds{0};
  std::thread writer([&] {
    for (uint64_t begin = 0; begin < kMarks; begin += 100) {
      EmitMarks(begin, begin + 100);
      // The drainer keeps up in half of the rounds.
      const uint64_t before = rounds.load();
      while (begin % 200 == 0 && rounds.load() < before + 2) std::this_thread::yield();
    }
    done.store(true);
  });
  std::vector<DrainedRecord> records;
  const auto drain = [&] {
    for (DrainedRecord& record : reader().Drain()) records.push_back(std::move(record));
  };
  for (; !done.load(); ++rounds) drain();
  writer.join();
  drain();
  CheckSequence(records, kMarks, reader().Lost(LossReason::kRingFull));
  EXPECT_GT(records.size(), kMarks / 8);
  EXPECT_GT(reader().Lost(LossReason::kRingFull), kMarks / 8);
}

TEST_F(EntryTest, LongRecordsWrapAroundToo) {
  BecomeRank({1024, 1u << 16, {{1, 64}}});
  for (uint32_t round = 0; round < 100; ++round) {
    const uint32_t cells = 1 + round % wire::kMaxRecordCells;
    std::vector<std::byte> bytes(cells * wire::kCellBytes, std::byte(round));
    const wire::RecordHeader header =
        HeaderOf(RecordKind::kPayload, 0, 0, static_cast<uint8_t>(cells));
    std::memcpy(bytes.data(), &header, sizeof(header));
    {
      Entry entry(kCaptureAlways);
      ASSERT_TRUE(entry.EmitCells(bytes.data(), cells));
    }
    EXPECT_EQ(reader().Drain().back().bytes, bytes);
  }
}

TEST_F(EntryTest, ALongRecordThatDoesNotFitIsOneLostEvent) {
  BecomeRank({1024, 1u << 16, {{1, 32}}});
  std::vector<std::byte> bytes(16 * wire::kCellBytes);
  const wire::RecordHeader header = HeaderOf(RecordKind::kPayload, 0, 0, 16);
  std::memcpy(bytes.data(), &header, sizeof(header));
  Entry entry(kCaptureAlways);
  EXPECT_TRUE(entry.EmitCells(bytes.data(), 16));
  EXPECT_FALSE(entry.EmitCells(bytes.data(), 16));  // 17 of 32 cells are taken
  EXPECT_EQ(reader().Lost(LossReason::kRingFull), 1u);
  EXPECT_TRUE(entry.Emit(Mark(0)));  // a small one fits, behind the loss record
  EXPECT_EQ(reader().DrainKind(RecordKind::kLoss).size(), 1u);
}

TEST_F(EntryTest, AThreadWithoutARingCountsWhatItLosesAndTellsLater) {
  BecomeRank({1024, 1u << 16, {{1, 64}}});
  EmitMarks(0, 1);  // this thread takes the only ring
  std::thread([&] {
    EXPECT_EQ(EmitMarks(0, 10), 0u);
    EXPECT_EQ(reader().Lost(LossReason::kNoRing), 10u);
    reader().Drain();
    reader().FreeRings([](uint32_t) { return false; });  // as if this test's thread had ended
    while (EmitMarks(10, 11) == 0) continue;
    const uint64_t lost = reader().Lost(LossReason::kNoRing);
    const std::vector<DrainedRecord> records = reader().Drain();
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records[0].kind(), RecordKind::kThread);
    const auto loss = records[1].As<wire::LossRecord>();
    EXPECT_EQ(loss.header.flags, static_cast<uint16_t>(LossReason::kNoRing));
    EXPECT_EQ(loss.count, lost);
    EXPECT_EQ(SequenceOf(records[2]), 10u);
  }).join();
}

TEST_F(EntryTest, RingsOfEndedThreadsAreUsedAgain) {
  BecomeRank({1024, 1u << 16, {{2, 64}}});
  for (uint32_t round = 0; round < 20; ++round) {
    uint32_t tid = 0;
    std::thread([&] {
      tid = static_cast<uint32_t>(ThreadId());
      EXPECT_EQ(EmitMarks(0, 3), 3u);
    }).join();
    const std::vector<DrainedRecord> records = reader().Drain();
    ASSERT_EQ(records.size(), 4u);
    EXPECT_EQ(records[0].As<wire::ThreadRecord>().generation, round + 1);
    EXPECT_EQ(records[0].As<wire::ThreadRecord>().tid, tid);
    reader().FreeRings([](uint32_t) { return false; });
    EXPECT_EQ(reader().ring(records[0].ring).tid.load(), 0u);
  }
  EXPECT_EQ(reader().Lost(LossReason::kNoRing), 0u);
}

TEST_F(EntryTest, AnEndedThreadsRingIsTheNextThreadsWithWhatItHolds) {
  BecomeRank({1024, 1u << 16, {{1, 64}}});
  for (uint64_t thread = 0; thread < 3; ++thread) {
    std::thread([&] { EXPECT_EQ(EmitMarks(10 * thread, 10 * thread + 2), 2u); }).join();
    EXPECT_EQ(reader().ring(0).owner.load(), wire::RingOwner::kReleased);
    EXPECT_EQ(reader().ring(0).tid.load(), 0u);
  }
  EXPECT_EQ(reader().Lost(LossReason::kNoRing), 0u);
  std::vector<uint64_t> sequences;
  std::vector<uint32_t> generations;
  for (const DrainedRecord& record : reader().Drain()) {
    if (record.kind() == RecordKind::kThread) {
      generations.push_back(record.As<wire::ThreadRecord>().generation);
    } else {
      sequences.push_back(SequenceOf(record));
    }
  }
  EXPECT_EQ(generations, (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_EQ(sequences, (std::vector<uint64_t>{0, 1, 10, 11, 20, 21}));
}

TEST_F(EntryTest, ARingLeftWithLittleRoomIsTakenLast) {
  BecomeRank({1024, 1u << 16, {{2, 64}}});
  std::thread([] { EmitMarks(0, 40); }).join();
  std::thread([] { EmitMarks(0, 1); }).join();
  EXPECT_EQ(reader().ring(1).generation.load(), 1u);
  std::atomic<bool> stop{false};
  std::thread holder([&] {
    EmitMarks(0, 1);  // takes ring 1 again
    while (!stop.load()) std::this_thread::yield();
  });
  while (reader().ring(1).owner.load() != wire::RingOwner::kClaimed) std::this_thread::yield();
  std::thread([] { EXPECT_EQ(EmitMarks(0, 1), 1u); }).join();
  EXPECT_EQ(reader().ring(0).generation.load(), 2u);
  stop.store(true);
  holder.join();
}

// What was open stays for the collector to see; it frees such a ring itself.
TEST_F(EntryTest, AThreadThatEndsInsideASpanKeepsItsRing) {
  BecomeRank({1024, 1u << 16, {{1, 64}}});
  std::thread([] {
    Entry entry(kCaptureAlways);
    entry.BeginSpan(wire::OpenSpan{});
  }).join();
  EXPECT_EQ(reader().ring(0).owner.load(), wire::RingOwner::kClaimed);
  EXPECT_EQ(reader().ring(0).open_depth.load(), 1u);
}

TEST_F(EntryTest, ManyThreadsEachKeepTheirOwnOrder) {
  BecomeRank({1024, 1u << 16, {{8, 1024}}});
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([] { EXPECT_EQ(EmitMarks(0, 1000), 1000u); });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<uint64_t> next(8, 0);
  for (const DrainedRecord& record : reader().DrainKind(RecordKind::kMark)) {
    EXPECT_EQ(SequenceOf(record), next[record.ring]++);
  }
  EXPECT_EQ(next, std::vector<uint64_t>(8, 1000));
}

TEST_F(EntryTest, AnEntryInsideAnEntryIsRefusedAndCounted) {
  BecomeRank();
  {
    Entry outer(kCaptureAlways);
    ASSERT_TRUE(outer);
    EXPECT_FALSE(Entry(kCaptureAlways));
    EXPECT_FALSE(Entry(kCaptureAlways));
    EXPECT_TRUE(outer.Emit(Mark(1)));
  }
  EXPECT_TRUE(Entry(kCaptureAlways));
  EXPECT_EQ(reader().Lost(LossReason::kReentered), 2u);
}

TEST_F(EntryTest, ANameIsKnownByItsBytesNotItsAddress) {
  BecomeRank();
  Entry entry(kCaptureAlways);
  char name[] = "aten::add";
  const uint32_t add = entry.Intern(name, 9);
  EXPECT_EQ(entry.Intern(name, 9), add);
  std::memcpy(name, "aten::mul", 9);  // freed, and used again for another name
  const uint32_t mul = entry.Intern(name, 9);
  EXPECT_EQ(reader().String(add), "aten::add");
  EXPECT_EQ(reader().String(mul), "aten::mul");
  EXPECT_EQ(reader().String(entry.Intern(name, 4)), "aten");
  EXPECT_EQ(entry.Intern(name, 0), wire::kNoString);
  EXPECT_EQ(entry.Intern(nullptr, 0), wire::kNoString);
  EXPECT_EQ(entry.InternText("aten::add"), add);
}

TEST_F(EntryTest, TextsOfEveryLengthAreToldApart) {
  BecomeRank({4096, 1u << 18, {{1, 64}}});
  Entry entry(kCaptureAlways);
  std::vector<std::string> texts;
  for (size_t length = 1; length <= 80; ++length) {
    texts.push_back(std::string(length, 'a'));
    for (const size_t changed : {size_t{0}, length / 3, length / 2, length - 1}) {
      texts.push_back(std::string(length, 'a'));
      texts.back()[changed] = 'b';
    }
  }
  for (int round = 0; round < 3; ++round) {
    for (std::string text : texts) {
      ASSERT_EQ(reader().String(entry.InternText(text)), text);
      ASSERT_EQ(reader().String(entry.Intern(text)), text);
    }
  }
}

TEST_F(EntryTest, NamesThatTheTableRefusesAreToldInThePlace) {
  BecomeRank({2, 1024, {{1, 64}}});  // one string; the thread's name takes it
  Entry entry(kCaptureAlways);
  EXPECT_EQ(entry.Intern("x"), wire::kNoString);
  EXPECT_EQ(entry.InternText("y"), wire::kNoString);
  entry.Emit(Mark(0));
  const std::vector<DrainedRecord> records = reader().Drain();
  ASSERT_EQ(records.size(), 3u);
  const auto loss = records[1].As<wire::LossRecord>();
  EXPECT_EQ(loss.header.flags, static_cast<uint16_t>(LossReason::kStringTableFull));
  EXPECT_EQ(loss.count, 2u);
  EXPECT_EQ(reader().Lost(LossReason::kStringTableFull), 2u);
  EXPECT_EQ(reader().header().strings_refused.load(), 2u);
}

}  // namespace
}  // namespace tutti::tracer
