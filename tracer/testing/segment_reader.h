// Reads a segment as the collector does, for tests: drains rings in batches, frees those of
// dead threads, resolves strings, and complains about anything that the contract forbids.
// One reader per segment; not thread-safe. The traced process may write meanwhile.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/wire/layout.h"
#include "common/wire/record.h"
#include "common/wire/segment.h"

namespace tutti::tracer::testing {

// One drained record, with the ring it came from.
struct DrainedRecord {
  uint32_t ring;
  uint32_t generation;
  uint32_t tid;
  std::vector<std::byte> bytes;

  wire::RecordHeader header() const { return As<wire::RecordHeader>(); }
  wire::RecordKind kind() const { return header().kind; }
  template <typename Record>
  Record As() const {
    Record record;
    std::memcpy(&record, bytes.data(), sizeof(record));
    return record;
  }
};

class SegmentReader {
 public:
  // Maps |file|, a memfd with a segment of |plan|; keeps the descriptor, which it owns.
  SegmentReader(int file, const wire::SegmentPlan& plan);
  ~SegmentReader();
  SegmentReader(const SegmentReader&) = delete;
  SegmentReader& operator=(const SegmentReader&) = delete;

  int file() const { return file_; }
  wire::SegmentHeader& header() const;
  wire::RingHeader& ring(uint32_t index) const;
  uint32_t ring_count() const { return plan_.ring_count; }

  // All records published and not drained yet, ring by ring. Throws std::runtime_error on a
  // malformed ring.
  std::vector<DrainedRecord> Drain();

  // The same, those of |kind| only, appended to nothing: the others are dropped.
  std::vector<DrainedRecord> DrainKind(wire::RecordKind kind);

  // Frees each empty ring that is abandoned, or whose thread |is_alive| denies. As the
  // collector must: only after draining.
  void FreeRings(bool (*is_alive)(uint32_t tid));

  // Text of a published string, "" for 0. Throws if |index| is not published.
  std::string String(uint32_t index) const;
  std::vector<std::string> Strings() const;

  // Spans open on |ring|, outermost first; meaningful while the thread stands still.
  std::vector<wire::OpenSpan> OpenSpans(uint32_t ring) const;

  // Sum over all rings and the segment.
  uint64_t Lost(wire::LossReason reason) const;

 private:
  void DrainRing(uint32_t index, std::vector<DrainedRecord>* records);

  int file_;
  wire::SegmentPlan plan_;
  std::byte* base_;
};

}  // namespace tutti::tracer::testing
