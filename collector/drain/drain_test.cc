#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "collector/drain/disk_budget.h"
#include "collector/drain/pacer.h"
#include "collector/drain/process_drainer.h"
#include "collector/drain/string_harvester.h"
#include "collector/os/files.h"
#include "collector/os/proc.h"
#include "collector/spool/reader.h"
#include "collector/spool/recover.h"
#include "collector/testing/spool_builder.h"

namespace tutti::collector::drain {
namespace {

using ::testing::ElementsAre;

constexpr char kSpool[] = "p0000.spool";

// Plays a tracer on a segment in our own process.
class ProcessDrainerTest : public ::testing::Test {
 protected:
  ProcessDrainerTest()
      : directory_fd_(std::move(*os::OpenDirectory(directory_.path()))),
        budget_(0, directory_fd_.get()),
        tracer_(std::move(*session::Segment::Make(4 << 20, wire::ClockKind::kTsc, 7))) {
    process_ = testing::SpoolBuilder::Process();
    process_.peer_pid = ::getpid();
    process_.hello.pid = ::getpid();
    process_.string_capacity = tracer_.plan().shape.string_capacity;
    Attach(std::move(*spool::SpoolWriter::Create(directory_fd_.get(), kSpool)));
  }
  void Attach(spool::SpoolWriter writer) {
    auto segment = session::Segment::Attach(
        os::FileDescriptor(::fcntl(tracer_.memfd(), F_DUPFD_CLOEXEC, 0)), 4 << 20);
    drainer_.emplace(std::move(*segment), std::move(writer), process_, budget_);
  }

  // Publishes |count| marks whose payloads count on.
  void Publish(uint32_t ring, uint64_t count) {
    wire::RingHeader& header = tracer_.ring(ring);
    const uint64_t capacity = tracer_.capacity_cells(ring);
    for (uint64_t at = 0; at < count; ++at) {
      wire::MarkRecord mark{};
      mark.header = testing::Header(wire::RecordKind::kMark);
      mark.payload = next_payload_++;
      const uint64_t head = header.head.load();
      auto* cell =
          const_cast<std::byte*>(tracer_.cells(ring).data()) + head % capacity * wire::kCellBytes;
      std::memcpy(cell, &mark, sizeof(mark));
      header.head.store(head + 1);
    }
  }
  uint32_t PublishString(const char* text) {
    wire::SegmentHeader& header = tracer_.header();
    const uint32_t index = header.strings_used.fetch_add(1) + 1;
    const auto length = static_cast<uint32_t>(std::strlen(text));
    const auto offset = static_cast<uint32_t>(header.string_arena_used.fetch_add(length));
    std::memcpy(const_cast<std::byte*>(tracer_.string_arena().data()) + offset, text, length);
    wire::StringEntry& entry = tracer_.string_entry(index);
    entry.offset = offset;
    entry.length = length;
    entry.hash.store(1);
    return index;
  }
  void Claim(uint32_t ring, pid_t tid, uint64_t start_ticks) {
    wire::RingHeader& header = tracer_.ring(ring);
    header.tid.store(static_cast<uint32_t>(tid));
    header.thread_start_ticks.store(start_ticks);
    header.owner.store(wire::RingOwner::kClaimed);
  }

  struct Spooled {
    std::vector<uint64_t> payloads;
    std::vector<uint64_t> positions;
    std::vector<spool::ChunkKind> kinds;
    std::vector<spool::LossTotal> losses;
  };
  Spooled ReadSpool() {
    Spooled found;
    auto reader = spool::SpoolReader::Open(directory_fd_.get(), kSpool);
    uint64_t at = 0;
    while (const auto chunk = reader->ChunkAt(at, reader->file_bytes())) {
      at = chunk->end_offset();
      found.kinds.push_back(chunk->kind);
      spool::PayloadReader payload(*reader->Read(*chunk));
      if (chunk->kind == spool::ChunkKind::kCells) {
        spool::CellsChunk cells;
        EXPECT_TRUE(payload.Read(cells));
        wire::MarkRecord mark;
        for (uint64_t cell = 0; cell < cells.cells && payload.Read(mark); ++cell) {
          found.payloads.push_back(mark.payload);
          found.positions.push_back(cells.position + cell);
        }
      }
      if (chunk->kind == spool::ChunkKind::kLosses) {
        found.losses.clear();
        spool::LossTotal total;
        while (payload.Read(total)) found.losses.push_back(total);
      }
    }
    return found;
  }

  testing::TemporaryDirectory directory_;
  os::FileDescriptor directory_fd_;
  DiskBudget budget_;
  session::Segment tracer_;
  spool::ProcessChunk process_;
  std::optional<ProcessDrainer> drainer_;
  uint64_t next_payload_ = 0;
};

TEST_F(ProcessDrainerTest, TakesEverythingOnceOverManyWraps) {
  const uint64_t capacity = tracer_.capacity_cells(0);
  std::mt19937 random(1);
  uint64_t published = 0;
  while (published < 20 * capacity) {
    const uint64_t count = random() % (capacity + 1);
    Publish(0, count);
    published += count;
    EXPECT_EQ(drainer_->Poll().cells, count);
    EXPECT_EQ(tracer_.ring(0).tail.load(), published);
  }
  const Spooled spooled = ReadSpool();
  ASSERT_EQ(spooled.payloads.size(), published);
  for (uint64_t at = 0; at < published; ++at) {
    ASSERT_EQ(spooled.payloads[at], at);
    ASSERT_EQ(spooled.positions[at], at);
  }
}

TEST_F(ProcessDrainerTest, EachBatchIsFollowedByItsStringsAndAClockReading) {
  Publish(0, 1);
  PublishString("aten::mm");
  drainer_->Poll();
  EXPECT_THAT(ReadSpool().kinds, ElementsAre(spool::ChunkKind::kCells, spool::ChunkKind::kStrings,
                                             spool::ChunkKind::kClock));
  drainer_->Poll();
  EXPECT_EQ(ReadSpool().kinds.size(), 3U);  // nothing new, nothing written
}

TEST_F(ProcessDrainerTest, AWritePositionThatMakesNoSenseIsSkippedAndSaid) {
  Publish(0, 3);
  drainer_->Poll();
  tracer_.ring(0).head.store(1ULL << 40);
  EXPECT_EQ(drainer_->Poll().cells, 0U);
  EXPECT_EQ(tracer_.ring(0).tail.load(), 1ULL << 40);
  EXPECT_EQ(ReadSpool().kinds.back(), spool::ChunkKind::kNote);
  Publish(0, 2);
  EXPECT_EQ(drainer_->Poll().cells, 2U);
}

// The process overwrites our read position: it does not matter.
TEST_F(ProcessDrainerTest, OurReadPositionIsOurOwn) {
  Publish(0, 3);
  drainer_->Poll();
  tracer_.ring(0).tail.store(999);
  Publish(0, 2);
  EXPECT_EQ(drainer_->Poll().cells, 2U);
  EXPECT_EQ(ReadSpool().payloads.size(), 5U);
}

TEST_F(ProcessDrainerTest, ASuccessorGoesOnWhereTheSpoolEnds) {
  Publish(0, 5);
  drainer_->Poll();
  Publish(0, 4);
  drainer_.reset();
  auto reader = spool::SpoolReader::Open(directory_fd_.get(), kSpool);
  uint64_t end = 0;
  while (const auto chunk = reader->ChunkAt(end, reader->file_bytes())) end = chunk->end_offset();
  Attach(std::move(*spool::SpoolWriter::Continue(directory_fd_.get(), kSpool, end)));
  drainer_->ResumeAt(0, 5);
  EXPECT_EQ(drainer_->Poll().cells, 4U);
  const Spooled spooled = ReadSpool();
  ASSERT_EQ(spooled.payloads.size(), 9U);
  for (uint64_t at = 0; at < 9; ++at) EXPECT_EQ(spooled.payloads[at], at);
}

TEST_F(ProcessDrainerTest, RingsComeBackWhenEmptyAndTheirThreadIsGone) {
  const auto self = os::ReadThreadStat(::getpid(), ::gettid());
  ASSERT_TRUE(self.has_value());
  Claim(0, ::gettid(), self->start_ticks);      // lives
  Claim(1, ::gettid(), self->start_ticks + 1);  // an earlier thread with this id
  Claim(2, ::gettid(), self->start_ticks + 1);  // the same, but not empty
  Publish(2, 1);
  Claim(3, 0, 0);  // about to be filled in by its claimer
  Claim(4, ::gettid(), self->start_ticks);
  tracer_.ring(4).owner.store(wire::RingOwner::kAbandoned);
  EXPECT_EQ(drainer_->FreeRings(false), 2U);
  const auto owner = [this](uint32_t ring) { return tracer_.ring(ring).owner.load(); };
  EXPECT_EQ(owner(0), wire::RingOwner::kClaimed);
  EXPECT_EQ(owner(1), wire::RingOwner::kFree);
  EXPECT_EQ(tracer_.ring(1).tid.load(), 0U);
  EXPECT_EQ(owner(2), wire::RingOwner::kClaimed);
  EXPECT_EQ(owner(3), wire::RingOwner::kClaimed);
  EXPECT_EQ(owner(4), wire::RingOwner::kFree);
  drainer_->Poll();
  EXPECT_EQ(drainer_->FreeRings(false), 1U);
  EXPECT_EQ(drainer_->FreeRings(true), 2U);  // the process is gone: all of them
}

// Its thread has left it to the next one, which may claim it at any moment.
TEST_F(ProcessDrainerTest, AReleasedRingIsLeftAlone) {
  Claim(0, 0, 0);
  tracer_.ring(0).owner.store(wire::RingOwner::kReleased);
  Publish(0, 2);
  EXPECT_EQ(drainer_->FreeRings(false), 0U);
  EXPECT_EQ(drainer_->Poll().cells, 2U);
  EXPECT_EQ(drainer_->FreeRings(false), 0U);
  EXPECT_EQ(tracer_.ring(0).owner.load(), wire::RingOwner::kReleased);
  EXPECT_FALSE(drainer_->RingsRunShort());
}

TEST_F(ProcessDrainerTest, OpenSpansOfAnEndedThreadAreKept) {
  Claim(1, ::gettid(), 1);
  tracer_.ring(1).open_spans[0].name = 5;
  tracer_.ring(1).open_depth.store(1);
  drainer_->FreeRings(false);
  EXPECT_THAT(ReadSpool().kinds, ElementsAre(spool::ChunkKind::kOpenSpans));
  EXPECT_EQ(tracer_.ring(1).open_depth.load(), 0U);
}

TEST_F(ProcessDrainerTest, TotalsOfLossesAreWrittenWhenTheyChange) {
  drainer_->WriteSnapshots();
  EXPECT_TRUE(ReadSpool().losses.empty());
  tracer_.ring(2).lost[static_cast<size_t>(wire::LossReason::kRingFull)].count.store(9);
  tracer_.header().lost_no_ring.count.store(4);
  drainer_->WriteSnapshots();
  drainer_->WriteSnapshots();
  const Spooled spooled = ReadSpool();
  ASSERT_EQ(spooled.losses.size(), 2U);
  EXPECT_EQ(spooled.losses[0].ring, 2U);
  EXPECT_EQ(spooled.losses[0].count, 9U);
  EXPECT_EQ(spooled.losses[1].ring, spool::kNoRing);
  EXPECT_EQ(std::count(spooled.kinds.begin(), spooled.kinds.end(), spool::ChunkKind::kLosses), 1);
}

TEST_F(ProcessDrainerTest, FinishTakesTheRestAndEndsTheSpool) {
  Claim(0, ::gettid(), 1);
  Publish(0, 3);
  drainer_->Finish(spool::EndReason::kProcessEnded, 3, 0);
  EXPECT_THAT(ReadSpool().kinds, ElementsAre(spool::ChunkKind::kCells, spool::ChunkKind::kClock,
                                             spool::ChunkKind::kOpenSpans, spool::ChunkKind::kClock,
                                             spool::ChunkKind::kEnd));
  EXPECT_EQ(drainer_->unwritten_events(), 0U);
}

TEST_F(ProcessDrainerTest, WithoutRoomEventsStayInTheRingAndAreCountedAtTheEnd) {
  DiskBudget tiny(2000, directory_fd_.get());
  ProcessDrainer drainer(
      std::move(*session::Segment::Attach(
          os::FileDescriptor(::fcntl(tracer_.memfd(), F_DUPFD_CLOEXEC, 0)), 4 << 20)),
      std::move(*spool::SpoolWriter::Create(directory_fd_.get(), "p0001.spool")), process_, tiny);
  Publish(0, 32);
  const PollResult polled = drainer.Poll();
  EXPECT_EQ(polled.budget, BudgetState::kFull);
  EXPECT_EQ(polled.cells, 0U);
  EXPECT_EQ(tracer_.ring(0).tail.load(), 0U);
  const int64_t first_raw_ns = drainer.blocked().first_raw_ns;
  EXPECT_GT(first_raw_ns, 0);
  drainer.Finish(spool::EndReason::kProcessEnded, 0, 0);
  EXPECT_EQ(drainer.unwritten_events(), 32U);
  EXPECT_EQ(drainer.blocked().first_raw_ns, first_raw_ns);
  EXPECT_GT(drainer.blocked().last_raw_ns, first_raw_ns);
}

TEST_F(ProcessDrainerTest, StringsArePublishedInAnyOrderAndTakenOnce) {
  StringHarvester harvester(tracer_);
  const auto indices = [&] {
    std::vector<uint32_t> found;
    const std::string taken = harvester.Take();
    spool::PayloadReader payload(std::as_bytes(std::span(taken)));
    spool::StringEntryHeader header;
    std::string_view text;
    while (payload.Read(header) && payload.ReadText(header.bytes, text)) {
      found.push_back(header.index);
    }
    return found;
  };
  tracer_.header().strings_used.fetch_add(1);  // 1: handed out, not published
  PublishString("two");
  EXPECT_THAT(indices(), ElementsAre(2));
  EXPECT_THAT(indices(), ElementsAre(2));  // not kept: again
  harvester.Keep();
  PublishString("three");
  wire::StringEntry& late = tracer_.string_entry(1);
  late.length = 1'000'000'000;  // and with a length that makes no sense
  late.hash.store(1);
  EXPECT_THAT(indices(), ElementsAre(1, 3));
  harvester.Keep();
  EXPECT_TRUE(harvester.Take().empty());
  tracer_.header().strings_used.store(UINT32_MAX);
  EXPECT_TRUE(harvester.Take().empty());
}

TEST(DiskBudget, StopsBeforeTheLimitOfTheUser) {
  const testing::TemporaryDirectory directory;
  const auto fd = os::OpenDirectory(directory.path());
  DiskBudget budget(175 << 20, fd->get());  // 100 MiB of spool
  EXPECT_EQ(budget.StateFor(1 << 20, 0), BudgetState::kPlenty);
  budget.Spent(95 << 20);
  EXPECT_EQ(budget.StateFor(1 << 20, 0), BudgetState::kStop);
  EXPECT_EQ(budget.StateFor(6 << 20, 0), BudgetState::kFull);
}

TEST(DiskBudget, LeavesRoomForTheRankFiles) {
  const testing::TemporaryDirectory directory;
  const auto fd = os::OpenDirectory(directory.path());
  DiskBudget budget(0, fd->get());
  const auto free = static_cast<uint64_t>(os::FreeBytes(fd->get()));
  EXPECT_EQ(budget.StateFor(1 << 20, 0), BudgetState::kPlenty);
  EXPECT_EQ(budget.StateFor(free, 0), BudgetState::kFull);
  budget.Spent(2 * free);  // rows of so much spool would not fit
  EXPECT_EQ(budget.StateFor(1 << 20, 0), BudgetState::kFull);
  budget.SetConverted(2 * free);  // they are written already
  EXPECT_EQ(budget.StateFor(1 << 20, 0), BudgetState::kPlenty);
}

TEST(Pacer, LooksMoreOftenTheFullerTheRingsAre) {
  Pacer pacer(1'000'000'000);
  int64_t interval_ns = 0;
  for (int i = 0; i < 100; ++i) interval_ns = pacer.AfterPoll(true, 0.01);
  EXPECT_EQ(interval_ns, 25'000'000);
  EXPECT_LT(pacer.AfterPoll(true, 0.5), 7'000'000);
  for (int i = 0; i < 20; ++i) interval_ns = pacer.AfterPoll(true, 1.0);
  EXPECT_EQ(interval_ns, 500'000);
  for (int i = 0; i < 100; ++i) interval_ns = pacer.AfterPoll(false, 0.0);
  EXPECT_EQ(interval_ns, 100'000'000);
}

TEST(Pacer, NeverWaitsLongerThanTheFlushInterval) {
  Pacer pacer(10'000'000);
  for (int i = 0; i < 100; ++i) EXPECT_LE(pacer.AfterPoll(i % 2 == 0, 0.0), 10'000'000);
}

}  // namespace
}  // namespace tutti::collector::drain
