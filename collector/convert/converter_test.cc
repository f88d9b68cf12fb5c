#include "collector/convert/converter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "collector/os/files.h"
#include "collector/testing/spool_builder.h"

namespace tutti::collector::convert {
namespace {

using testing::ConvertTest;
using ::testing::ElementsAre;
using testing::Header;
using testing::kEpochNs;
using testing::kMainTid;

class ConverterTest : public ConvertTest {
 protected:
  wire::CpuOpRecord Op(const char* name, uint64_t begin, uint64_t end, int64_t sequence = -1) {
    wire::CpuOpRecord record{};
    record.header = Header(wire::RecordKind::kCpuOp, String(name));
    record.begin_ticks = begin;
    record.end_ticks = end;
    record.sequence_nr = sequence;
    return record;
  }
  void AddDropped(uint64_t first_ticks, uint64_t last_ticks) {
    spool().Chunk(spool::ChunkKind::kLosses,
                  spool::LossTotal{0, wire::LossReason::kRingFull, 0, 5, first_ticks, last_ticks});
  }
  void AddSpoolFull(int64_t begin_ns, int64_t end_ns) {
    spool().ChunkBytes(spool::ChunkKind::kNote,
                       spool::EncodeNote(wire::NoteSeverity::kDataLoss, 1, begin_ns, end_ns,
                                         kSpoolFull, "collector.spool", "full", "free space"));
  }
  wire::OpenSpan Open(wire::RecordKind kind, const char* name, uint64_t begin,
                      const char* domain = "") {
    wire::OpenSpan span{};
    span.begin_ticks = begin;
    span.name = String(name);
    span.kind = static_cast<uint8_t>(kind);
    if (*domain != '\0') span.domain = String(domain);
    return span;
  }
};

TEST_F(ConverterTest, ThreadsAreKnownByIdAndStart) {
  spool().AddThread(1, 200, "pt_autograd_0", 5);
  spool().Add(1, Op("a", 100, 200));
  spool().AddThread(1, 200, "later", 6);  // the kernel gave the id to another thread
  spool().Add(1, Op("b", 300, 400));
  spool().AddThread(2, 200, "later", 6);  // which then moved to a larger ring
  spool().Add(2, Op("c", 500, 600));
  Convert();
  const auto ops = All<schema::CpuOpRow>("ORDER BY begin_ns");
  EXPECT_EQ(ops.at(0).tid, 200);
  EXPECT_EQ(ops.at(1).tid, -1);
  EXPECT_EQ(ops.at(2).tid, -1);
  const auto threads = All<schema::ThreadRow>("ORDER BY tid DESC");
  ASSERT_EQ(threads.size(), 3U);
  EXPECT_EQ(threads[0].role, "autograd");
  EXPECT_EQ(threads[1].role, "main");
  EXPECT_EQ(threads[1].tid, kMainTid);
  EXPECT_EQ(threads[2].kernel_tid, 200);
  EXPECT_EQ(threads[2].begin_ns, kEpochNs + 300);
  EXPECT_EQ(threads[2].end_ns, kEpochNs + 600);
}

TEST_F(ConverterTest, TheProgramsThreadNameBeatsTheKernels) {
  wire::ThreadNameRecord name{};
  name.header = Header(wire::RecordKind::kThreadName, String("loader"));
  name.tid = 200;
  spool().AddThread(1, 200, "python");
  spool().Flush(1'000);
  spool().Add(0, name);
  spool().AddThread(2, 200, "python");
  Convert();
  EXPECT_EQ(All<schema::ThreadRow>("WHERE tid = 200").at(0).name, "loader");
}

TEST_F(ConverterTest, WhatWasSpooledTwiceIsThereOnce) {
  for (int64_t number = 0; number < 4; ++number) spool().Add(0, Op("a", 100, 200, number));
  spool().Flush(1'000);
  spool().SetPosition(0, 3);  // cells 3 and 4 again, then a new one
  for (int64_t number = 2; number < 5; ++number) spool().Add(0, Op("a", 100, 200, number));
  Convert();
  EXPECT_EQ(All<schema::CpuOpRow>().size(), 5U);
  EXPECT_THAT(Findings(), ElementsAre());
}

TEST_F(ConverterTest, MissingCellsAreCounted) {
  spool().Flush(1'000);
  spool().SetPosition(0, 11);
  spool().Add(0, Op("a", 100, 200));
  Convert();
  EXPECT_THAT(Findings(), ElementsAre("data_loss missing_cells 10"));
}

TEST_F(ConverterTest, GarbageIsSkippedAndCounted) {
  std::array<uint8_t, wire::kCellBytes> zero{};
  spool().AddBytes(0, zero.data(), zero.size());
  std::array<uint8_t, wire::kCellBytes> unknown{};
  unknown[0] = 200;
  unknown[1] = 1;
  spool().AddBytes(0, unknown.data(), unknown.size());
  spool().Add(0, Op("a", 100, 200));
  std::array<uint8_t, wire::kCellBytes> too_long{};
  too_long[0] = 2;
  too_long[1] = 9;  // cells that are not there
  spool().AddBytes(0, too_long.data(), too_long.size());
  Convert();
  EXPECT_EQ(All<schema::CpuOpRow>().size(), 1U);
  EXPECT_THAT(Findings(), ElementsAre("data_loss torn_cell 2", "data_loss unknown_record 1"));
}

TEST_F(ConverterTest, EventsThatAreCarriedAreNobodys) {
  const auto carry = [this](uint32_t ring, const auto& record) {
    const spool::CarriedHeader header{ring, 1};
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
    bytes.append(reinterpret_cast<const char*>(&record), sizeof(record));
    spool().ChunkBytes(spool::ChunkKind::kCarried, bytes);
  };
  wire::MemoryRecord memory{};
  memory.header = Header(wire::RecordKind::kMemory, 0);
  memory.ticks = 100;
  spool().Flush(50);
  carry(77, memory);  // a ring of which nothing else is known
  carry(77, Op("a", 100, 200));
  Convert();
  EXPECT_TRUE(All<schema::MemoryEventRow>().empty());
  EXPECT_TRUE(All<schema::CpuOpRow>().empty());
  EXPECT_THAT(Findings(), ElementsAre("data_loss torn_cell 2"));
}

TEST_F(ConverterTest, NamesThatWereNeverStoredGetAPlaceholder) {
  wire::CpuOpRecord lost = Op("a", 100, 200);
  lost.header.name = 500;
  spool().Add(0, lost);
  wire::CpuOpRecord outside = Op("a", 300, 400);
  outside.header.name = 5'000'000;
  spool().Add(0, outside);
  Convert();
  const auto ops = All<schema::CpuOpRow>("ORDER BY begin_ns");
  EXPECT_EQ(Text(ops.at(0).name_id), "(lost string 500)");
  EXPECT_EQ(Text(ops.at(1).name_id), "(invalid string reference)");
  EXPECT_THAT(Findings(), ElementsAre("error string_invalid 1", "notice string_missing 1"));
}

TEST_F(ConverterTest, AnyBytesBecomeRowsOrFindings) {
  std::mt19937_64 random(3);
  std::vector<uint64_t> bytes(4096 * wire::kCellBytes / sizeof(uint64_t));
  for (int round = 0; round < 4; ++round) {
    for (uint64_t& word : bytes) word = random();
    // Every second cell claims to be a record that could be one.
    for (size_t cell = 0; cell < bytes.size(); cell += 16) {
      const uint64_t kind = 1 + random() % 17;
      const uint64_t cells = 1 + random() % 3;
      bytes[cell] = kind | cells << 8 | (random() % 2000) << 32;
    }
    spool().AddBytes(0, bytes.data(), bytes.size() * sizeof(uint64_t));
  }
  Convert();
  EXPECT_GT(converter_->records(), 1000U);
  for (const auto& op : All<schema::CpuOpRow>()) {
    EXPECT_LE(op.begin_ns, op.end_ns.value_or(INT64_MAX));
  }
}

TEST_F(ConverterTest, SlicesGiveTheSameAsOnePiece) {
  std::vector<uint64_t> slices;
  for (int64_t batch = 0; batch < 20; ++batch) {
    const auto at = static_cast<uint64_t>(batch) * 30'000'000;
    for (int64_t op = 0; op < 50; ++op) {
      const uint64_t begin = at + static_cast<uint64_t>(op) * 100;
      spool().Add(0, Op("a", begin, begin + 70, batch * 50 + op));
    }
    spool().Flush(at + 20'000'000);
    slices.push_back(spool().committed());
  }
  Convert({}, slices);
  const auto ops = All<schema::CpuOpRow>("ORDER BY begin_ns");
  ASSERT_EQ(ops.size(), 1000U);
  for (size_t at = 0; at < ops.size(); ++at) {
    EXPECT_EQ(ops[at].sequence_nr, static_cast<int64_t>(at));
    EXPECT_EQ(*ops[at].end_ns - ops[at].begin_ns, 70);
  }
}

TEST_F(ConverterTest, StacksAtTheEndBecomeOpenRows) {
  wire::OpenSpan step = Open(wire::RecordKind::kRange, "step", 100, "tutti");
  step.category = 1;
  step.aux = 12;
  spool().OpenStack(0, kMainTid, spool::OpenSpansReason::kProcessEnd,
                    {step, Open(wire::RecordKind::kRange, "outer", 150, "NCCL"),
                     Open(wire::RecordKind::kCpuOp, "aten::mm", 200),
                     Open(wire::RecordKind::kRange, "inner", 250, "NCCL")});
  Convert();
  EXPECT_EQ(All<schema::StepRow>().at(0).number, 12);
  EXPECT_EQ(All<schema::StepRow>().at(0).end_ns, std::nullopt);
  const auto op = All<schema::CpuOpRow>().at(0);
  EXPECT_EQ(op.depth, 2);
  EXPECT_EQ(op.end_ns, std::nullopt);
  const auto ranges = All<schema::RangeRow>("ORDER BY begin_ns");
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].depth, 0);
  EXPECT_EQ(ranges[1].depth, 1);  // of its domain
  EXPECT_EQ(ranges[1].end_ns, std::nullopt);
}

TEST_F(ConverterTest, OfASnapshotOnlyWhatDidNotEndLaterIsOpen) {
  spool().OpenStack(
      0, kMainTid, spool::OpenSpansReason::kSnapshot,
      {Open(wire::RecordKind::kCpuOp, "outer", 100), Open(wire::RecordKind::kCpuOp, "inner", 100)});
  spool().Add(0, Op("inner", 100, 300));
  Convert();
  const auto ops = All<schema::CpuOpRow>("ORDER BY end_ns");
  ASSERT_EQ(ops.size(), 2U);
  EXPECT_EQ(Text(ops[0].name_id), "outer");
  EXPECT_EQ(ops[0].end_ns, std::nullopt);
  EXPECT_EQ(Text(ops[1].name_id), "inner");
}

TEST_F(ConverterTest, ASpanMayEndOnALargerRingThanItBeganOn) {
  spool().OpenStack(0, kMainTid, spool::OpenSpansReason::kSnapshot,
                    {Open(wire::RecordKind::kCpuOp, "outer", 100)});
  spool().AddThread(1, kMainTid);
  spool().Add(1, Op("outer", 100, 300));
  Convert();
  const auto ops = All<schema::CpuOpRow>();
  ASSERT_EQ(ops.size(), 1U);
  EXPECT_NE(ops[0].end_ns, std::nullopt);
}

TEST_F(ConverterTest, AFinalStackReplacesASnapshot) {
  spool().OpenStack(0, kMainTid, spool::OpenSpansReason::kSnapshot,
                    {Open(wire::RecordKind::kCpuOp, "outer", 100)});
  spool().OpenStack(0, kMainTid, spool::OpenSpansReason::kProcessEnd, {});
  Convert();
  EXPECT_TRUE(All<schema::CpuOpRow>().empty());
}

TEST_F(ConverterTest, TornSpansOfAStackAreLeftOut) {
  wire::OpenSpan torn = Open(wire::RecordKind::kCpuOp, "a", 100);
  torn.begin_ticks = 77'000'000'000;
  wire::OpenSpan kindless = Open(wire::RecordKind::kCpuOp, "a", 100);
  kindless.kind = 99;
  spool().OpenStack(0, kMainTid, spool::OpenSpansReason::kProcessEnd, {torn, kindless});
  Convert();
  EXPECT_TRUE(All<schema::CpuOpRow>().empty());
  EXPECT_THAT(Findings(), ElementsAre("notice open_span_torn 2"));
}

TEST_F(ConverterTest, HolesAndTotalsAddUpToWhatWasLost) {
  wire::LossRecord hole{};
  hole.header =
      Header(wire::RecordKind::kLoss, 0, static_cast<uint16_t>(wire::LossReason::kRingFull));
  hole.first_ticks = 100;
  hole.last_ticks = 200;
  hole.count = 40;
  spool().Add(0, hole);
  const auto total = [this](uint32_t ring, wire::LossReason reason, uint64_t count) {
    spool().Chunk(spool::ChunkKind::kLosses, spool::LossTotal{ring, reason, 0, count, 100, 900});
  };
  total(0, wire::LossReason::kRingFull, 50);
  total(0, wire::LossReason::kRingFull, 65);  // 25 after the last event that fitted
  total(spool::kNoRing, wire::LossReason::kNoRing, 7);
  total(0, wire::LossReason::kUnbalancedEnd, 2);
  Convert();
  EXPECT_THAT(Findings(), ElementsAre("data_loss no_free_ring 7", "data_loss ring_dropped 65",
                                      "notice unbalanced_end 2"));
  EXPECT_EQ(converter_->context().findings.lost(), 72);
  const auto rows = All<schema::TraceStatRow>("WHERE name = 'ring_dropped'");
  EXPECT_EQ(rows.at(0).begin_ns, kEpochNs + 100);
  EXPECT_EQ(rows.at(0).end_ns, kEpochNs + 900);
}

// Ticks     100    200            500    600
// dropped   [======)
// disk full    [=================)           the disk's fault
TEST_F(ConverterTest, BuffersThatRanFullWithTheDiskWereNotTooSmall) {
  AddDropped(100, 200);
  AddSpoolFull(150, 500);
  Convert();
  EXPECT_EQ(All<schema::TraceStatRow>("WHERE name = 'ring_dropped'").at(0).advice, "free space");
}

TEST_F(ConverterTest, BuffersThatRanFullAtAnotherTimeWere) {
  AddDropped(100, 200);
  AddSpoolFull(500, 600);
  Convert();
  const auto dropped = All<schema::TraceStatRow>("WHERE name = 'ring_dropped'");
  EXPECT_THAT(dropped.at(0).advice, ::testing::HasSubstr("--buffer"));
}

TEST_F(ConverterTest, NotesOfTracerAndCollectorBecomeFindings) {
  wire::NoteRecord note{};
  note.header = Header(wire::RecordKind::kNote, String("torch_layout"),
                       static_cast<uint16_t>(wire::NoteSeverity::kError));
  note.ticks = 100;
  note.source = String("torch");
  note.detail = String("unknown layout");
  note.advice = String("update");
  note.count = 1;
  spool().Add(0, note);
  wire::NoteRecord version = note;
  version.header.name = String("torch_version");
  version.detail = String("2.11.0");
  spool().Add(0, version);
  spool().ChunkBytes(spool::ChunkKind::kNote,
                     spool::EncodeNote(wire::NoteSeverity::kDataLoss, 3, 500, 600, "max_size",
                                       "collector", "limit reached", "raise it"));
  Convert();
  EXPECT_THAT(Findings(), ElementsAre("data_loss max_size 3", "error torch_layout 1"));
  const auto rows = All<schema::TraceStatRow>("ORDER BY name");
  EXPECT_EQ(rows.at(0).begin_ns, kEpochNs + 500);
  EXPECT_EQ(rows.at(0).advice, "raise it");
  EXPECT_EQ(rows.at(1).source, "tracer.torch");
  EXPECT_EQ(converter_->torch_version(), "2.11.0");
}

TEST_F(ConverterTest, SystemSamplesAreCountersWithoutTheUnknownOnes) {
  spool::SystemSample sample{};
  sample.monotonic_raw_ns = 5'000;
  sample.cpu_user_ns = 70;
  sample.resident_bytes = 4096;
  sample.disk_read_bytes = -1;
  sample.main_run_delay_ns = 30;
  spool().Chunk(spool::ChunkKind::kSystem, sample);
  Convert();
  const auto value = database().QueryOne<int64_t>(
      "SELECT s.value FROM counter_sample AS s JOIN counter AS c ON c.id = s.counter_id "
      "WHERE c.name = 'process.resident' AND s.time_ns = ?1",
      kEpochNs + 5'000);
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(*value, 4096);
  const auto unknown = database().QueryOne<int64_t>(
      "SELECT count(*) FROM counter_sample AS s JOIN counter AS c ON c.id = s.counter_id "
      "WHERE c.name = 'process.disk_read'");
  EXPECT_EQ(*unknown, 0);
  EXPECT_EQ(*database().QueryOne<int64_t>(
                "SELECT s.value FROM counter_sample AS s JOIN counter AS c ON c.id = s.counter_id"
                " WHERE c.name = 'process.main_run_delay'"),
            30);
  EXPECT_EQ(converter_->cpu_user_ns(), 70);
}

TEST_F(ConverterTest, OnlyTheWantedPartIsKept) {
  for (uint64_t at = 100; at < 1000; at += 100) spool().Add(0, Op("a", at, at + 50));
  ConverterOptions options;
  options.window = TickRange{300, 500};
  Convert(options);
  const auto ops = All<schema::CpuOpRow>("ORDER BY begin_ns");
  ASSERT_EQ(ops.size(), 2U);
  EXPECT_EQ(ops[0].begin_ns, kEpochNs + 300);
  EXPECT_EQ(ops[1].begin_ns, kEpochNs + 400);
}

TEST_F(ConverterTest, ATornFileGivesWhatIsWhole) {
  spool().Add(0, Op("a", 100, 200));
  spool().Flush(1'000);
  spool().Add(0, Op("b", 2'000, 3'000));
  Convert();
  // The same file without its last bytes.
  const auto directory = os::OpenDirectory(directory_.path());
  auto reader = spool::SpoolReader::Open(directory->get(), "p0000.spool");
  ASSERT_TRUE(reader.ok());
  auto writer = schema::TraceWriter::Create(directory_.path() + "/torn.sqlite");
  ASSERT_TRUE(writer.ok());
  RowOutput rows(**writer);
  Converter converter(process_, rows);
  ASSERT_TRUE(converter.Finish(*reader, spool().committed() - 60).ok());
  ASSERT_TRUE((*writer)->Finalize().ok());
  auto database = schema::Database::OpenReadOnly(directory_.path() + "/torn.sqlite");
  ASSERT_TRUE(database.ok());
  const auto ops = schema::ReadAll<schema::CpuOpRow>(*database);
  ASSERT_EQ(ops->size(), 2U);  // b's clock reading is torn off, its cells are not
  EXPECT_EQ((*ops)[1].begin_ns, kEpochNs + 1'000);
  EXPECT_EQ(converter.end(), std::nullopt);
}

}  // namespace
}  // namespace tutti::collector::convert
