// Empties the rings of one traced process into its spool. One thread.
//
// A poll copies what each ring has published, then its new strings, then a clock
// reading; only what is written is taken off the ring. When the spool can't be written
// the rings fill up and the tracer counts what it drops: training never waits.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collector/clock/clock_reading.h"
#include "collector/convert/carried_records.h"
#include "collector/drain/disk_budget.h"
#include "collector/drain/string_harvester.h"
#include "collector/session/segment.h"
#include "collector/spool/format.h"
#include "collector/spool/reader.h"
#include "collector/spool/writer.h"
#include "common/status.h"

namespace tutti::collector::drain {

// What one poll found; decides when the next one comes.
struct PollResult {
  uint64_t cells = 0;
  double max_fill_frac = 0;  // of the fullest ring, before it was emptied
  BudgetState budget = BudgetState::kPlenty;
  Status spool;  // why cells had to stay in the rings
};

// When events had to stay in the rings because nothing could be spooled; CLOCK_MONOTONIC_RAW.
struct BlockedTime {
  int64_t first_raw_ns = 0;
  int64_t last_raw_ns = 0;
  bool any() const { return last_raw_ns != 0; }
};

class ProcessDrainer {
 public:
  // |process|: as in the spool's first chunk. |budget| must outlive this.
  ProcessDrainer(session::Segment segment, spool::SpoolWriter writer,
                 const spool::ProcessChunk& process, DiskBudget& budget);

  // The next position of each ring, as an earlier drainer's spool tells it; by default 0.
  void ResumeAt(uint32_t ring, uint64_t position);

  PollResult Poll();

  // Writes totals of losses if they changed, and snapshots of open spans.
  void WriteSnapshots();
  void WriteSample(const spool::SystemSample& sample);
  void WriteSample(const spool::NodeSample& sample);
  void WriteNote(const std::string& encoded_note);

  // Gives rings back whose thread is gone (and did not release them itself) or has moved to a
  // larger one, once they are empty, and tells how many. |process_gone|: all threads are.
  // Reads /proc once for each ring in use.
  uint32_t FreeRings(bool process_gone);
  // Less than half of the rings are free: programs that start many short threads need them
  // back before the next regular look. Cheap.
  bool RingsRunShort() const;

  // From now on older files of the spool may be dropped (series.h): remembers what the files after
  // them need. |first|: the first clock reading of the process. |earlier|: the spool so far, which
  // another drainer wrote; null if it is new. Call before Poll.
  void KeepWindow(const clock::ClockReading& first, spool::SpoolReader* earlier);
  // Ends the spool's file here and goes on in a new one; how many bytes the old one has. On failure
  // it goes on in the old one. Requires KeepWindow.
  Result<uint64_t> StartFile(int directory, const std::string& name);

  // The process has ended or the recording has: takes what is left, the open spans and
  // the totals, and closes the spool. Call once.
  void Finish(spool::EndReason reason, int32_t exit_status, int64_t drain_cpu_ns);

  // Events that Finish could not write, and why; none if all is there.
  uint64_t unwritten_events() const { return unwritten_events_; }
  const Status& spool_failure() const { return spool_failure_; }
  const BlockedTime& blocked() const { return blocked_; }

  // The step that the process is in (open_step.h).
  std::optional<int64_t> OpenStep() const;

  // Tells the tracer which sources to record from now on (wire::CaptureBit).
  void SetCaptureMask(uint32_t mask);

  const spool::ProcessChunk& process() const { return process_; }
  const spool::SpoolWriter& spool() const { return writer_; }
  uint64_t cells() const { return cells_; }

 private:
  template <typename Sample>
  void AppendSample(spool::ChunkKind kind, const Sample& sample);

  struct Ring {
    uint64_t tail = 0;  // ours: the header's can be overwritten by the process
    uint64_t reported_losses = 0;
  };
  uint32_t ring_count() const { return segment_->plan().ring_count; }
  // Sound number of cells published on a ring; a ring that lies is skipped to its head.
  uint64_t Published(uint32_t ring);
  Status SpoolCells(uint32_t ring, uint64_t count);
  Status SpoolStrings();
  Status SpoolClock();
  Status WriteHead(spool::SpoolWriter& writer);
  std::vector<spool::LossTotal> LossTotals() const;
  void WriteLosses();
  void CarryFrom(std::span<const iovec> pieces, uint32_t ring);
  void WriteOpenSpans(uint32_t ring, spool::OpenSpansReason reason);
  bool ThreadIsGone(uint32_t tid, uint64_t start_ticks);
  bool OwnerIsGone(const wire::RingHeader& header);
  void CountUnwritten();
  BudgetState BudgetFor(uint64_t bytes);
  Status Append(spool::ChunkKind kind, std::string_view bytes);

  std::unique_ptr<session::Segment> segment_;  // stays where it is when this is moved
  spool::SpoolWriter writer_;
  spool::ProcessChunk process_;
  DiskBudget& budget_;
  StringHarvester strings_;
  std::vector<Ring> rings_;
  uint64_t cells_ = 0;
  uint64_t loss_checksum_ = 0;
  uint64_t unwritten_events_ = 0;
  bool had_open_spans_ = false;
  BlockedTime blocked_;
  Status spool_failure_;
  std::optional<clock::ClockReading> first_reading_;  // with carried_
  std::optional<convert::CarriedRecords> carried_;    // if files may be dropped
};

}  // namespace tutti::collector::drain
