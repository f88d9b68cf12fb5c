#include "tracer/testing/segment_reader.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace tutti::tracer::testing {

using wire::LossReason;
using wire::RingOwner;

SegmentReader::SegmentReader(int file, const wire::SegmentPlan& plan) : file_(file), plan_(plan) {
  void* memory = mmap(nullptr, plan.segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("mmap of a segment failed");
  base_ = static_cast<std::byte*>(memory);
}

SegmentReader::~SegmentReader() {
  munmap(base_, plan_.segment_bytes);
  close(file_);
}

wire::SegmentHeader& SegmentReader::header() const {
  return *reinterpret_cast<wire::SegmentHeader*>(base_);
}

wire::RingHeader& SegmentReader::ring(uint32_t index) const {
  return *reinterpret_cast<wire::RingHeader*>(base_ + plan_.ring_headers_offset +
                                              index * wire::kRingHeaderBytes);
}

std::vector<DrainedRecord> SegmentReader::Drain() {
  std::vector<DrainedRecord> records;
  for (uint32_t i = 0; i < ring_count(); ++i) DrainRing(i, &records);
  return records;
}

std::vector<DrainedRecord> SegmentReader::DrainKind(wire::RecordKind kind) {
  std::vector<DrainedRecord> records = Drain();
  std::erase_if(records, [kind](const DrainedRecord& record) { return record.kind() != kind; });
  return records;
}

void SegmentReader::DrainRing(uint32_t index, std::vector<DrainedRecord>* records) {
  wire::RingHeader& from = ring(index);
  const uint64_t head = from.head.load(std::memory_order_acquire);
  uint64_t tail = from.tail.load(std::memory_order_relaxed);
  if (head < tail || head - tail > from.capacity_cells) {
    throw std::runtime_error("ring " + std::to_string(index) + ": head and tail are apart");
  }
  const auto cell = [&](uint64_t position) {
    return base_ + from.cells_offset + position % from.capacity_cells * wire::kCellBytes;
  };
  while (tail < head) {
    wire::RecordHeader record_header;
    std::memcpy(&record_header, cell(tail), sizeof(record_header));
    const uint32_t cells = record_header.cells;
    if (record_header.kind == wire::RecordKind::kPadding || cells == 0 ||
        cells > wire::kMaxRecordCells || cells > head - tail) {
      throw std::runtime_error("ring " + std::to_string(index) + ": malformed record");
    }
    DrainedRecord record{index, from.generation.load(), from.tid.load(), {}};
    record.bytes.resize(cells * wire::kCellBytes);
    for (uint32_t i = 0; i < cells; ++i) {
      std::memcpy(record.bytes.data() + i * wire::kCellBytes, cell(tail + i), wire::kCellBytes);
    }
    records->push_back(std::move(record));
    tail += cells;
  }
  from.tail.store(tail, std::memory_order_release);
}

void SegmentReader::FreeRings(bool (*is_alive)(uint32_t tid)) {
  for (uint32_t i = 0; i < ring_count(); ++i) {
    wire::RingHeader& candidate = ring(i);
    const RingOwner owner = candidate.owner.load(std::memory_order_acquire);
    const uint32_t tid = candidate.tid.load(std::memory_order_acquire);
    if (owner == RingOwner::kFree || owner == RingOwner::kReleased ||
        candidate.head.load() != candidate.tail.load())
      continue;
    if (owner == RingOwner::kClaimed && (tid == 0 || is_alive(tid))) continue;
    candidate.tid.store(0, std::memory_order_relaxed);
    candidate.owner.store(RingOwner::kFree, std::memory_order_release);
  }
}

std::string SegmentReader::String(uint32_t index) const {
  if (index == wire::kNoString) return "";
  if (index >= plan_.shape.string_capacity) throw std::runtime_error("string index out of range");
  const auto& entry =
      reinterpret_cast<const wire::StringEntry*>(base_ + plan_.string_entries_offset)[index];
  if (entry.hash.load(std::memory_order_acquire) == 0) {
    throw std::runtime_error("string " + std::to_string(index) + " is not published");
  }
  if (entry.offset > plan_.shape.string_arena_bytes ||
      entry.length > plan_.shape.string_arena_bytes - entry.offset) {
    throw std::runtime_error("string leaves the arena");
  }
  return {reinterpret_cast<const char*>(base_ + plan_.string_arena_offset + entry.offset),
          entry.length};
}

std::vector<std::string> SegmentReader::Strings() const {
  std::vector<std::string> strings;
  const uint32_t used = header().strings_used.load();
  const auto* entries =
      reinterpret_cast<const wire::StringEntry*>(base_ + plan_.string_entries_offset);
  for (uint32_t i = 1; i <= used && i < plan_.shape.string_capacity; ++i) {
    if (entries[i].hash.load(std::memory_order_acquire) != 0) strings.push_back(String(i));
  }
  return strings;
}

std::vector<wire::OpenSpan> SegmentReader::OpenSpans(uint32_t index) const {
  const wire::RingHeader& from = ring(index);
  const uint32_t depth =
      std::min(from.open_depth.load(std::memory_order_acquire), wire::kOpenSpanDepth);
  return {from.open_spans, from.open_spans + depth};
}

uint64_t SegmentReader::Lost(LossReason reason) const {
  uint64_t lost = 0;
  for (uint32_t i = 0; i < ring_count(); ++i) {
    lost += ring(i).lost[static_cast<uint32_t>(reason)].count.load();
  }
  if (reason == LossReason::kNoRing) lost += header().lost_no_ring.count.load();
  return lost;
}

}  // namespace tutti::tracer::testing
