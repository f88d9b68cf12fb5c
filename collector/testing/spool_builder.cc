#include "collector/testing/spool_builder.h"

#include <fcntl.h>
#include <stdlib.h>

#include <utility>

#include "collector/os/files.h"
#include "collector/spool/reader.h"

namespace tutti::collector::testing {
namespace {

constexpr char kSpoolName[] = "p0000.spool";

spool::SpoolWriter CreateSpool(const std::string& directory, const std::string& name) {
  const auto fd = os::OpenDirectory(directory);
  EXPECT_TRUE(fd.ok());
  auto writer = spool::SpoolWriter::Create(fd->get(), name);
  EXPECT_TRUE(writer.ok()) << writer.status().message();
  return std::move(*writer);
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  char path[] = "/tmp/tutti-test-XXXXXX";
  EXPECT_NE(::mkdtemp(path), nullptr);
  path_ = path;
}

TemporaryDirectory::~TemporaryDirectory() { os::RemoveTree(path_); }

SpoolBuilder::SpoolBuilder(const std::string& directory, const std::string& name,
                           const spool::ProcessChunk& process)
    : writer_(CreateSpool(directory, name)) {
  Chunk(spool::ChunkKind::kProcess, process);
  Clock(0);
}

spool::ProcessChunk SpoolBuilder::Process() {
  spool::ProcessChunk process{};
  process.hello.magic = wire::kHelloMagic;
  process.hello.version = wire::kVersion;
  process.hello.pid = kMainTid;
  process.hello.ppid = 99;
  process.hello.rank = 0;
  process.hello.local_rank = 0;
  process.hello.world_size = 1;
  std::strcpy(process.hello.rank_variable, "RANK");
  std::strcpy(process.hello.reason, "test");
  process.anchor = {kEpochNs, 0};
  process.clock_kind = wire::ClockKind::kTsc;
  process.string_capacity = kStringCapacity;
  process.ring_count = 8;
  process.clock_ticks_per_second = 100;
  std::strcpy(process.host, "node0");
  return process;
}

uint32_t SpoolBuilder::String(std::string_view text) {
  const auto known = strings_.find(text);
  if (known != strings_.end()) return known->second;
  const auto index = static_cast<uint32_t>(strings_.size()) + 1;
  strings_.emplace(text, index);
  const spool::StringEntryHeader header{index, static_cast<uint32_t>(text.size())};
  pending_strings_.append(reinterpret_cast<const char*>(&header), sizeof(header));
  pending_strings_.append(text);
  return index;
}

void SpoolBuilder::AddBytes(uint32_t ring, const void* cells, size_t bytes) {
  ASSERT_EQ(bytes % wire::kCellBytes, 0U);
  pending_cells_[ring].append(static_cast<const char*>(cells), bytes);
}

void SpoolBuilder::AddThread(uint32_t ring, uint32_t tid, std::string_view name, uint64_t start) {
  wire::ThreadRecord record{};
  record.header = Header(wire::RecordKind::kThread, name.empty() ? 0 : String(name));
  record.tid = tid;
  record.start_ticks = start;
  Add(ring, record);
}

void SpoolBuilder::Flush(uint64_t ticks) {
  for (auto& [ring, cells] : pending_cells_) {
    if (cells.empty()) continue;
    spool::CellsChunk chunk{};
    chunk.ring = ring;
    chunk.tid = kMainTid;
    chunk.thread_start_ticks = 1;
    chunk.position = positions_[ring];
    chunk.cells = cells.size() / wire::kCellBytes;
    positions_[ring] += chunk.cells;
    const iovec pieces[] = {{&chunk, sizeof(chunk)}, {cells.data(), cells.size()}};
    ASSERT_TRUE(writer_.Append(spool::ChunkKind::kCells, pieces).ok());
    cells.clear();
  }
  if (!pending_strings_.empty()) {
    ChunkBytes(spool::ChunkKind::kStrings, std::exchange(pending_strings_, {}));
  }
  Clock(ticks);
}

void SpoolBuilder::ChunkBytes(spool::ChunkKind kind, std::string_view bytes) {
  ASSERT_TRUE(writer_.AppendBytes(kind, bytes).ok());
}

void SpoolBuilder::OpenStack(uint32_t ring, uint32_t tid, spool::OpenSpansReason reason,
                             const std::vector<wire::OpenSpan>& spans) {
  spool::OpenSpansChunk chunk{};
  chunk.ring = ring;
  chunk.tid = tid;
  chunk.reason = reason;
  chunk.thread_start_ticks = 1;
  chunk.depth = static_cast<uint32_t>(spans.size());
  chunk.spans = chunk.depth;
  const iovec pieces[] = {
      {&chunk, sizeof(chunk)},
      {const_cast<wire::OpenSpan*>(spans.data()), spans.size() * sizeof(wire::OpenSpan)}};
  ASSERT_TRUE(writer_.Append(spool::ChunkKind::kOpenSpans, pieces).ok());
}

void SpoolBuilder::Clock(uint64_t ticks) {
  Chunk(spool::ChunkKind::kClock, clock::ClockReading{ticks, kEpochNs + static_cast<int64_t>(ticks),
                                                      static_cast<int64_t>(ticks), 20});
}

ConvertTest::ConvertTest()
    : process_(SpoolBuilder::Process()),
      builder_(std::make_unique<SpoolBuilder>(directory_.path(), kSpoolName, process_)) {
  builder_->AddThread(0, kMainTid, "python");
}

void ConvertTest::Convert(convert::ConverterOptions options, const std::vector<uint64_t>& slices) {
  builder_->Flush(1'000'000'000);
  const std::string path = directory_.path() + "/rank.sqlite";
  auto writer = schema::TraceWriter::Create(path);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  writer_ = std::move(*writer);
  rows_ = std::make_unique<convert::RowOutput>(*writer_);
  converter_ = std::make_unique<convert::Converter>(process_, *rows_, options);
  const auto directory = os::OpenDirectory(directory_.path());
  ASSERT_TRUE(directory.ok());
  auto reader = spool::SpoolReader::Open(directory->get(), kSpoolName);
  ASSERT_TRUE(reader.ok());
  for (const uint64_t slice : slices) ASSERT_TRUE(converter_->Advance(*reader, slice).ok());
  ASSERT_TRUE(converter_->Finish(*reader, builder_->committed()).ok());
  ASSERT_TRUE(writer_->Finalize().ok());
  EXPECT_EQ(writer_->rejected_rows(), 0);
  auto database = schema::Database::OpenReadOnly(path);
  ASSERT_TRUE(database.ok()) << database.status().message();
  database_ = std::make_unique<schema::Database>(std::move(*database));
}

std::string ConvertTest::Text(int64_t string_id) {
  const auto text =
      database_->QueryOne<std::string>("SELECT text FROM string WHERE id = ?1", string_id);
  return text.ok() ? *text : "(none)";
}

std::vector<std::string> ConvertTest::Findings() {
  std::vector<std::string> found;
  for (const auto& row : All<schema::TraceStatRow>("ORDER BY name, id")) {
    found.push_back(row.severity + " " + row.name + " " + std::to_string(row.count));
  }
  return found;
}

}  // namespace tutti::collector::testing
