// One process's spool -> rows. Driven in slices while the spool grows, then finished;
// starting again from the beginning gives the same rows. One thread.
//
//   Converter converter(process, rows, options);
//   while (recording) converter.Advance(reader, writer.committed_bytes());
//   converter.Finish(reader, reader.file_bytes());
//
// Within a slice, records that stand alone become rows ring by ring; those that are
// joined across threads (halves of operators, collectives with their enqueue,
// allocations with releases) first go through a buffer that puts them into order of
// time, as far back as a thread may plausibly be late to publish.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/convert/annotation_records.h"
#include "collector/convert/cell_decoder.h"
#include "collector/convert/collective_records.h"
#include "collector/convert/context.h"
#include "collector/convert/cupti/activity_records.h"
#include "collector/convert/gpu_ranges.h"
#include "collector/convert/losses.h"
#include "collector/convert/memory_records.h"
#include "collector/convert/nccl_records.h"
#include "collector/convert/node_samples.h"
#include "collector/convert/op_records.h"
#include "collector/convert/open_spans.h"
#include "collector/convert/range_records.h"
#include "collector/convert/spool_scan.h"
#include "collector/convert/system_samples.h"
#include "collector/spool/format.h"
#include "collector/spool/reader.h"
#include "common/status.h"

namespace tutti::collector::convert {

struct ConverterOptions {
  // Rows wholly outside are left out. Requires that everything is converted at once.
  std::optional<TickRange> window;
};

class Converter {
 public:
  // |rows| must outlive this.
  Converter(const spool::ProcessChunk& process, RowOutput& rows, ConverterOptions options = {});

  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;

  // Converts the whole chunks before |limit| that a clock reading follows. Not ok: the
  // spool can't be read.
  Status Advance(spool::SpoolReader& reader, uint64_t limit);

  // Converts the rest, and writes what is known only at the end. Call once.
  Status Finish(spool::SpoolReader& reader, uint64_t limit);

  // Where the next slice starts.
  uint64_t offset() const { return offset_; }

  Context& context() { return context_; }
  // How the recording ended; absent if the spool does not say (its writer was killed).
  const std::optional<spool::EndChunk>& end() const { return end_; }
  const std::vector<std::string>& truth() const { return annotations_.truth(); }
  const std::string& torch_version() const { return torch_version_; }
  uint64_t records() const { return decode_counts_.records; }
  int64_t cpu_user_ns() const { return system_.cpu_user_ns(); }
  int64_t cpu_system_ns() const { return system_.cpu_system_ns(); }
  // Time of the first and the last clock reading; absent before there is one.
  std::optional<Span> covered() const;

 private:
  struct Ring {
    uint64_t next_position = 0;
    bool has_thread = false;
    ThreadTable::Index thread = 0;
  };
  // A record that waits for its turn in time.
  struct Deferred {
    uint64_t ticks;
    ThreadTable::Index thread;
    std::array<std::byte, wire::kCellBytes> cell;
  };

  // Reads clocks and strings of the slice; returns where its last clock reading ends.
  Result<uint64_t> ScanAhead(spool::SpoolReader& reader, uint64_t limit);
  void DefineStrings(std::span<const std::byte> payload);
  void OnClock(const clock::ClockReading& reading, bool last);

  Status ConvertChunks(spool::SpoolReader& reader, uint64_t limit);
  void OnChunk(spool::ChunkKind kind, std::span<const std::byte> payload);
  void OnCells(spool::PayloadReader payload);
  void OnCarried(std::span<const std::byte> payload);
  void OnWindow(spool::PayloadReader payload);
  void OnLosses(spool::PayloadReader payload);
  void OnOpenStack(spool::PayloadReader payload);
  void OnNote(spool::PayloadReader payload);

  void OnRecord(uint32_t ring, Ring& state, const RecordView& record);
  void OnSpanRecord(const Ring& state, const RecordView& record);
  void OnThread(Ring& state, const wire::ThreadRecord& record);
  void OnTracerNote(const wire::NoteRecord& record);
  void Defer(uint64_t ticks, ThreadTable::Index thread, const RecordView& record);
  // Hands on what waits, up to |horizon_ticks|, in order of time.
  void FlushDeferred(uint64_t horizon_ticks);
  void OnDeferred(const Deferred& deferred);
  void OnOpenSpan(const OpenSpanAt& open);
  void ReportDecoding();

  Context context_;
  const clock::Anchor anchor_;
  const ConverterOptions options_;
  OpRecords ops_;
  NcclRecords nccl_;
  GpuRanges gpu_ranges_;
  RangeRecords ranges_;
  AnnotationRecords annotations_;
  CollectiveRecords collectives_;
  MemoryRecords memory_;
  cupti::ActivityRecords activities_;
  SystemSamples system_;
  NodeSamples node_;
  Losses losses_;
  OpenSpans open_spans_;

  uint64_t offset_ = 0;
  std::map<uint32_t, Ring> rings_;
  std::vector<Deferred> deferred_;
  DecodeCounts decode_counts_;
  uint64_t missing_cells_ = 0;
  uint64_t horizon_ticks_ = 0;
  std::optional<clock::ClockReading> last_knot_;
  std::optional<spool::WindowChunk> window_;  // of a spool whose older part was dropped
  std::optional<spool::EndChunk> end_;
  std::string torch_version_;
};

}  // namespace tutti::collector::convert
