// A spool whose older files are dropped: from the drainer that writes it to the rows that are
// made of what is left.
#include "collector/spool/series.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "collector/drain/process_drainer.h"
#include "collector/os/files.h"
#include "collector/rank/rank_conversion.h"
#include "collector/spool/reader.h"
#include "collector/spool/recover.h"
#include "collector/testing/spool_builder.h"
#include "schema/reader.h"

namespace tutti::collector::drain {
namespace {

using ::testing::ElementsAre;
using testing::Header;
using wire::RecordKind;

constexpr char kSpool[] = "p0000.spool";

class SeriesTest : public ::testing::Test {
 protected:
  SeriesTest()
      : spool_path_(directory_.path() + "/.spool/host.1"),
        tracer_(*session::Segment::Make(4 << 20, wire::ClockKind::kMonotonicRaw, 7)) {
    EXPECT_TRUE(os::MakeDirectories(spool_path_).ok());
    fd_ = *os::OpenDirectory(spool_path_);
    budget_.emplace(0, fd_.get());
    process_ = testing::SpoolBuilder::Process();
    process_.peer_pid = ::getpid();
    process_.hello.pid = ::getpid();
    process_.hello.rank = 3;
    process_.clock_kind = wire::ClockKind::kMonotonicRaw;
    process_.string_capacity = tracer_.plan().shape.string_capacity;
    first_ = clock::ReadClocks(process_.clock_kind);
    process_.anchor = {first_.realtime_ns, first_.monotonic_raw_ns};
    auto writer = *spool::SpoolWriter::Create(fd_.get(), spool::PieceFileName(kSpool, 0));
    EXPECT_TRUE(writer.AppendStruct(spool::ChunkKind::kProcess, process_).ok());
    EXPECT_TRUE(writer.AppendStruct(spool::ChunkKind::kClock, first_).ok());
    Attach(std::move(writer), nullptr);
  }

  void Attach(spool::SpoolWriter writer, spool::SpoolReader* earlier) {
    auto segment = session::Segment::Attach(
        os::FileDescriptor(::fcntl(tracer_.memfd(), F_DUPFD_CLOEXEC, 0)), 4 << 20);
    drainer_.emplace(std::move(*segment), std::move(writer), process_, *budget_);
    drainer_->KeepWindow(first_, earlier);
  }

  uint32_t String(const char* text) {
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
  template <typename Record>
  void Publish(const Record& record) {
    wire::RingHeader& header = tracer_.ring(0);
    const uint64_t head = header.head.load();
    auto* cell = const_cast<std::byte*>(tracer_.cells(0).data()) +
                 head % tracer_.capacity_cells(0) * wire::kCellBytes;
    std::memcpy(cell, &record, sizeof(record));
    header.head.store(head + 1);
  }
  static uint64_t Now() { return static_cast<uint64_t>(clock::MonotonicRawNs()); }

  // A thread called "trainer", a communicator, and the strings of steps.
  void PublishBeginning() {
    tracer_.ring(0).tid.store(77);
    tracer_.ring(0).thread_start_ticks.store(5);
    wire::ThreadRecord thread{};
    thread.header = Header(RecordKind::kThread, String("trainer"));
    thread.tid = 77;
    thread.start_ticks = 5;
    Publish(thread);
    wire::CommunicatorRecord communicator{};
    communicator.header = Header(RecordKind::kCommunicator, String("0"));
    communicator.communicator = 9;
    communicator.rank = 1;
    communicator.size = 4;
    communicator.description = String("default_pg");
    Publish(communicator);
    domain_ = String("tutti");
    step_ = String("step");
  }
  void PublishStep(int64_t number, uint64_t begin, uint64_t end) {
    wire::RangeRecord range{};
    range.header = Header(RecordKind::kRange, step_);
    range.domain = domain_;
    range.category = 1;
    range.payload_type = wire::PayloadType::kInt64;
    range.payload = static_cast<uint64_t>(number);
    range.begin_ticks = begin;
    range.end_ticks = end;
    Publish(range);
  }
  void PublishCollective(uint64_t begin, uint64_t end) {
    wire::CollectiveRecord collective{};
    collective.header = Header(RecordKind::kCollective, step_);
    collective.begin_ticks = begin;
    collective.end_ticks = end;
    collective.communicator = 9;
    collective.peer = -1;
    collective.root = -1;
    Publish(collective);
  }
  void StartFile(uint64_t number) {
    ASSERT_TRUE(drainer_->StartFile(fd_.get(), spool::PieceFileName(kSpool, number)).ok());
  }
  void Drop(uint64_t number) {
    ASSERT_EQ(::unlinkat(fd_.get(), spool::PieceFileName(kSpool, number).c_str(), 0), 0);
  }

  // The rank file that the conversion of what is left gives.
  schema::Database Convert(int64_t first_step = INT64_MIN) {
    rank::ConversionSettings settings;
    settings.run_path = directory_.path();
    settings.spool_path = spool_path_;
    settings.first_step = first_step;
    auto conversion = rank::RankConversion::Open(settings, kSpool);
    EXPECT_TRUE(conversion.ok()) << conversion.status().message();
    const auto reader = spool::SpoolReader::Open(fd_.get(), kSpool);
    const auto more = (*conversion)->Advance(reader->file_bytes(), 1 << 20);
    EXPECT_TRUE(more.ok()) << more.status().message();
    const auto outcome = (*conversion)->Finish(reader->file_bytes(), {});
    EXPECT_TRUE(outcome.ok()) << outcome.status().message();
    return *schema::Database::OpenReadOnly(directory_.path() + "/rank-00003.sqlite");
  }
  static std::string Query(schema::Database& database, const std::string& sql) {
    const auto text = database.QueryOne<std::string>("SELECT CAST((" + sql + ") AS TEXT)");
    return text.ok() ? *text : text.status().message();
  }

  testing::TemporaryDirectory directory_;
  std::string spool_path_;
  os::FileDescriptor fd_;
  std::optional<DiskBudget> budget_;
  session::Segment tracer_;
  spool::ProcessChunk process_;
  clock::ClockReading first_{};
  std::optional<ProcessDrainer> drainer_;
  uint32_t domain_ = 0;
  uint32_t step_ = 0;
};

TEST(Series, FilesAreInOrderOfTheirNumbers) {
  const testing::TemporaryDirectory directory;
  const auto fd = os::OpenDirectory(directory.path());
  for (const char* name : {"p0000.spool.1000000", "p0000.spool.000009", "p0000.spool.000010.part",
                           "p0001.spool", "p0002.done", "p0000.spool.x"}) {
    ASSERT_TRUE(os::CreateExclusive(fd->get(), name).ok());
  }
  EXPECT_THAT(spool::FilesOf(fd->get(), kSpool),
              ElementsAre("p0000.spool.000009", "p0000.spool.1000000"));
  EXPECT_THAT(spool::FilesOf(fd->get(), "p0001.spool"), ElementsAre("p0001.spool"));
  EXPECT_TRUE(spool::FilesOf(fd->get(), "p0002.spool").empty());
  EXPECT_THAT(spool::ListSpools(fd->get()), ElementsAre(kSpool, "p0001.spool"));
  EXPECT_EQ(spool::PieceFileName(kSpool, 12), "p0000.spool.000012");
}

TEST_F(SeriesTest, WithAllFilesNothingIsMissing) {
  PublishBeginning();
  PublishStep(0, Now() - 2000, Now() - 1000);
  drainer_->Poll();
  StartFile(1);
  PublishStep(1, Now() - 900, Now());
  drainer_->Poll();
  schema::Database file = Convert();
  EXPECT_EQ(Query(file, "SELECT group_concat(number) FROM step"), "0,1");
  EXPECT_EQ(Query(file, "SELECT count(*) FROM trace_stat"), "0");
  EXPECT_EQ(Query(file, "SELECT count(DISTINCT tid) || ' ' || max(name) FROM thread"), "1 trainer");
  EXPECT_TRUE(spool::FilesOf(fd_.get(), kSpool).empty()) << "it is done";
  EXPECT_TRUE(os::Exists(spool_path_ + "/p0000.done"));
}

// What later records refer to is known though it was told long ago; whole steps are kept; what
// is not here is counted.
TEST_F(SeriesTest, WhatIsLeftOfALongRecordingStandsByItself) {
  PublishBeginning();
  for (int64_t step = 0; step < 5; ++step) PublishStep(step, Now() - 2000, Now() - 1000);
  const uint64_t straddling_begin = Now();
  drainer_->Poll();
  StartFile(1);
  PublishStep(5, straddling_begin, Now());
  const uint64_t begin = Now();
  drainer_->Poll();
  StartFile(2);
  PublishCollective(begin + 1, Now());
  PublishStep(6, begin, Now());
  drainer_->Poll();
  Drop(0);
  schema::Database file = Convert();
  EXPECT_EQ(Query(file, "SELECT group_concat(number) FROM step"), "6");
  EXPECT_EQ(Query(file, "SELECT name FROM thread WHERE kernel_tid = 77"), "trainer");
  EXPECT_EQ(Query(file, "SELECT description FROM communicator"), "default_pg");
  EXPECT_EQ(Query(file, "SELECT count(*) FROM collective_source"), "1");
  // Five steps and an announcement.
  EXPECT_EQ(Query(file, "SELECT severity || ' ' || name || ' ' || count FROM trace_stat"),
            "notice rolled_out 6");
  EXPECT_EQ(Query(file, "SELECT count(*) FROM process WHERE begin_ns > " +
                            std::to_string(first_.realtime_ns)),
            "1");
}

TEST_F(SeriesTest, StepsBeforeTheFirstThatAllRanksHaveAreLeftOut) {
  PublishBeginning();
  drainer_->Poll();
  StartFile(1);
  for (int64_t step = 0; step < 4; ++step) {
    const uint64_t begin = Now();
    PublishStep(step, begin, Now());
  }
  drainer_->Poll();
  Drop(0);
  schema::Database file = Convert(2);
  EXPECT_EQ(Query(file, "SELECT group_concat(number) FROM step"), "2,3");
}

// Losses before what is left are none of its business.
TEST_F(SeriesTest, LossesAreThoseOfTheWindow) {
  PublishBeginning();
  wire::LossCounter& lost = tracer_.ring(0).lost[static_cast<size_t>(wire::LossReason::kRingFull)];
  lost.count.store(9);
  drainer_->Poll();
  drainer_->WriteSnapshots();
  StartFile(1);
  lost.count.store(11);
  PublishStep(1, Now() - 100, Now());
  drainer_->Finish(spool::EndReason::kStillRunning, -1, 0);
  Drop(0);
  schema::Database file = Convert();
  EXPECT_EQ(Query(file, "SELECT count FROM trace_stat WHERE name = 'ring_dropped'"), "2");
  EXPECT_EQ(Query(file, "SELECT count(*) FROM meta WHERE key = 'recording.running_until_ns'"), "1");
}

TEST_F(SeriesTest, ASuccessorKnowsWhatTheFilesToComeNeed) {
  PublishBeginning();
  PublishStep(0, Now() - 2000, Now() - 1000);
  drainer_->Poll();
  StartFile(1);
  drainer_.reset();

  auto reader = *spool::SpoolReader::Open(fd_.get(), kSpool);
  const auto state = spool::Recover(reader);
  ASSERT_TRUE(state.ok());
  const auto end = reader.PlaceOf(state->end_offset);
  EXPECT_EQ(end.file, "p0000.spool.000001");
  Attach(*spool::SpoolWriter::Continue(fd_.get(), end.file, end.offset), &reader);
  drainer_->ResumeAt(0, state->next_position.at(0));
  StartFile(2);
  const uint64_t begin = Now();
  PublishStep(1, begin, Now());
  drainer_->Poll();
  Drop(0);
  Drop(1);
  schema::Database file = Convert();
  EXPECT_EQ(Query(file, "SELECT group_concat(number) FROM step"), "1");
  EXPECT_EQ(Query(file, "SELECT name FROM thread WHERE kernel_tid = 77"), "trainer");
  EXPECT_EQ(Query(file, "SELECT group_concat(name || ' ' || count) FROM trace_stat"),
            "rolled_out 2");
}

// A drainer that is killed while it begins a file leaves a part of it, which nobody reads.
TEST_F(SeriesTest, AHeadThatWasNotFinishedIsNoFile) {
  PublishBeginning();
  drainer_->Poll();
  ASSERT_TRUE(os::CreateExclusive(fd_.get(), "p0000.spool.000001.part").ok());
  EXPECT_THAT(spool::FilesOf(fd_.get(), kSpool), ElementsAre("p0000.spool.000000"));
  StartFile(1);
  EXPECT_FALSE(os::Exists(spool_path_ + "/p0000.spool.000001.part"));
}

}  // namespace
}  // namespace tutti::collector::drain
