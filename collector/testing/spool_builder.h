// Makes spools as a drainer would, from records that a test spells out, and converts
// them. Time is simple: ticks are nanoseconds, and trace time is kEpochNs + ticks.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collector/convert/converter.h"
#include "collector/spool/format.h"
#include "collector/spool/writer.h"
#include "common/wire/record.h"
#include "schema/database.h"
#include "schema/reader.h"

namespace tutti::collector::testing {

// A directory that is removed with what is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline constexpr int64_t kEpochNs = 1'700'000'000'000'000'000;
inline constexpr uint32_t kMainTid = 100;
inline constexpr uint32_t kStringCapacity = 1024;

// A record's header.
inline wire::RecordHeader Header(wire::RecordKind kind, uint32_t name = 0, uint16_t flags = 0) {
  return {kind, 1, flags, name};
}

class SpoolBuilder {
 public:
  // Starts the spool |name| in |directory| with a clock reading at tick 0.
  SpoolBuilder(const std::string& directory, const std::string& name,
               const spool::ProcessChunk& process);

  static spool::ProcessChunk Process();

  // Index of |text|; its string chunk is written with the next Flush.
  uint32_t String(std::string_view text);

  // Adds a record to the pending batch of |ring|.
  template <typename Record>
  void Add(uint32_t ring, const Record& record) {
    static_assert(sizeof(Record) == wire::kCellBytes);
    AddBytes(ring, &record, sizeof(record));
  }
  // The same for any number of whole cells.
  void AddBytes(uint32_t ring, const void* cells, size_t bytes);
  // The first record of a thread on a ring.
  void AddThread(uint32_t ring, uint32_t tid, std::string_view name = "", uint64_t start = 1);

  // Writes the pending batches, their strings and a clock reading at |ticks|.
  void Flush(uint64_t ticks);

  template <typename Payload>
  void Chunk(spool::ChunkKind kind, const Payload& payload) {
    ASSERT_TRUE(writer_.AppendStruct(kind, payload).ok());
  }
  void ChunkBytes(spool::ChunkKind kind, std::string_view bytes);
  void OpenStack(uint32_t ring, uint32_t tid, spool::OpenSpansReason reason,
                 const std::vector<wire::OpenSpan>& spans);
  void Clock(uint64_t ticks);

  // Positions of the next batch of |ring| start here instead of where the last one ended.
  void SetPosition(uint32_t ring, uint64_t position) { positions_[ring] = position; }
  uint64_t committed() const { return writer_.committed_bytes(); }

 private:
  spool::SpoolWriter writer_;
  std::map<std::string, uint32_t, std::less<>> strings_;
  std::string pending_strings_;
  std::map<uint32_t, std::string> pending_cells_;
  std::map<uint32_t, uint64_t> positions_;
};

// A test whose process 100 wrote what the test adds to spool(), on ring 0 of its main
// thread; Convert() turns it into a database.
class ConvertTest : public ::testing::Test {
 protected:
  ConvertTest();

  SpoolBuilder& spool() { return *builder_; }
  uint32_t String(std::string_view text) { return builder_->String(text); }

  // Writes what is pending with a last clock reading at 1 s, converts everything in
  // slices that end at |slices| (offsets), then finishes.
  void Convert(convert::ConverterOptions options = {}, const std::vector<uint64_t>& slices = {});

  schema::Database& database() { return *database_; }
  template <typename Row>
  std::vector<Row> All(std::string_view suffix = "") {
    auto rows = schema::ReadAll<Row>(*database_, suffix);
    EXPECT_TRUE(rows.ok()) << rows.status().message();
    return rows.ok() ? *rows : std::vector<Row>();
  }
  std::string Text(int64_t string_id);
  // "severity name count" of each finding, in order of name.
  std::vector<std::string> Findings();

  TemporaryDirectory directory_;
  spool::ProcessChunk process_;
  std::unique_ptr<SpoolBuilder> builder_;
  std::unique_ptr<schema::TraceWriter> writer_;
  std::unique_ptr<convert::RowOutput> rows_;
  std::unique_ptr<convert::Converter> converter_;
  std::unique_ptr<schema::Database> database_;
};

}  // namespace tutti::collector::testing
