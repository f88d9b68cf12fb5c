// The shared memory of one traced process, as the collector makes it, hands it out and
// reads it (common/wire/segment.h). The memory is writable by the process: whatever is
// read from it is hostile. Offsets and sizes come from our own copy of the plan only.
//
// One thread of the drainer reads; making and attaching may happen on any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collector/os/file_descriptor.h"
#include "common/status.h"
#include "common/wire/layout.h"
#include "common/wire/segment.h"

namespace tutti::collector::session {

class Segment {
 public:
  // A fresh, sealed, fully populated memfd of at most |bytes|: it can neither grow nor
  // shrink, and no later access can find the machine out of memory (a SIGBUS in the
  // traced process). kUsage: |bytes| is outside what a segment can be. kIo: no memory.
  static Result<Segment> Make(uint64_t bytes, wire::ClockKind clock_kind, uint32_t capture_mask);

  // Maps a segment that another process of ours made; |bytes| as given to Make.
  static Result<Segment> Attach(os::FileDescriptor memfd, uint64_t bytes);

  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&&) = delete;
  ~Segment();

  int memfd() const { return memfd_.get(); }
  const wire::SegmentPlan& plan() const { return plan_; }

  wire::SegmentHeader& header() const;
  wire::RingHeader& ring(uint32_t index) const;  // requires index < plan().ring_count
  uint32_t capacity_cells(uint32_t index) const { return rings_[index].capacity_cells; }
  // The ring's cells, capacity_cells * kCellBytes bytes.
  std::span<const std::byte> cells(uint32_t index) const;
  wire::StringEntry& string_entry(uint32_t index) const;  // requires index < string_capacity
  std::span<const std::byte> string_arena() const;

 private:
  struct RingPlace {
    uint64_t cells_offset;
    uint32_t capacity_cells;
  };
  Segment(os::FileDescriptor memfd, const wire::SegmentPlan& plan, std::byte* base);
  static Result<std::byte*> Map(int memfd, uint64_t bytes);

  os::FileDescriptor memfd_;
  wire::SegmentPlan plan_;
  std::byte* base_;
  std::vector<RingPlace> rings_;  // our copy: what the process could overwrite in the headers
};

}  // namespace tutti::collector::session
