// How a segment is divided: which rings, of what size, and where the tables lie.
// The collector plans and initialises a segment; the tracer checks the one that it
// is given before it writes a byte. Pure functions over memory, any thread, std only.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/wire/segment.h"
#include "common/wire/wire.h"

namespace tutti::wire {

inline constexpr uint32_t kMaxRingClasses = 4;
inline constexpr uint32_t kMaxRings = 4096;
// Room for the longest record with the loss records that may go before it.
inline constexpr uint32_t kMinRingCells = 32;
inline constexpr uint64_t kMinSegmentBytes = 4u << 20;
inline constexpr uint64_t kMaxSegmentBytes = 1ull << 36;
inline constexpr uint32_t kMaxStringCapacity = 1u << 24;

struct RingClass {
  uint32_t count;
  uint32_t capacity_cells;  // power of two, >= kMinRingCells
};

// What a segment holds; the input of PlanShape. Classes in ascending capacity; a
// count of 0 ends the list.
struct SegmentShape {
  uint32_t string_capacity;  // entries, index 0 included
  uint64_t string_arena_bytes;
  RingClass classes[kMaxRingClasses];
};

// Where everything lies, in bytes from the segment's start.
struct SegmentPlan {
  SegmentShape shape;
  uint64_t segment_bytes;  // a multiple of the page size
  uint32_t ring_count;
  uint32_t string_bucket_count;
  uint64_t string_entries_offset;
  uint64_t string_buckets_offset;
  uint64_t string_arena_offset;
  uint64_t ring_headers_offset;
  uint64_t cells_offset;
};

inline constexpr uint64_t AlignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// The plan of |shape|, which must have at least one ring and one string entry.
inline constexpr SegmentPlan PlanShape(const SegmentShape& shape) {
  SegmentPlan plan{};
  plan.shape = shape;
  plan.string_bucket_count = std::bit_ceil(2 * shape.string_capacity);
  plan.string_entries_offset = kPageBytes;
  plan.string_buckets_offset =
      plan.string_entries_offset + AlignUp(shape.string_capacity * sizeof(StringEntry), 64);
  plan.string_arena_offset =
      plan.string_buckets_offset + AlignUp(plan.string_bucket_count * sizeof(uint32_t), 64);
  plan.ring_headers_offset =
      AlignUp(plan.string_arena_offset + shape.string_arena_bytes, kPageBytes);
  uint64_t cells = 0;
  for (const RingClass& ring_class : shape.classes) {
    if (ring_class.count == 0) break;
    plan.ring_count += ring_class.count;
    cells += uint64_t{ring_class.count} * ring_class.capacity_cells;
  }
  plan.cells_offset = plan.ring_headers_offset + plan.ring_count * kRingHeaderBytes;
  plan.segment_bytes = AlignUp(plan.cells_offset + cells * kCellBytes, kPageBytes);
  return plan;
}

// The shape that fills at most |bytes|: a sixteenth for strings (32,768 of them in 64 MiB),
// 128 small rings for the many threads that write little, 16 that are 16 times as large for
// those that write, 4 that are 128 times as large for the busiest; what is left over becomes
// more of the largest. Nothing below kMinSegmentBytes or above kMaxSegmentBytes.
inline constexpr std::optional<SegmentPlan> PlanSegment(uint64_t bytes) {
  if (bytes < kMinSegmentBytes || bytes > kMaxSegmentBytes) return std::nullopt;
  SegmentShape shape{};
  const uint64_t string_bytes = std::min<uint64_t>(bytes / 16, 1u << 28);
  shape.string_capacity = static_cast<uint32_t>(string_bytes / 128);
  shape.string_arena_bytes =
      string_bytes - shape.string_capacity * (sizeof(StringEntry) + 4 * sizeof(uint32_t));
  uint32_t small_cells = 1u << 20;
  do {
    small_cells /= 2;
    shape.classes[0] = {128, small_cells};
    shape.classes[1] = {16, 16 * small_cells};
    shape.classes[2] = {4, 128 * small_cells};
  } while (small_cells > kMinRingCells && PlanShape(shape).segment_bytes > bytes);
  const SegmentPlan plan = PlanShape(shape);
  if (plan.segment_bytes > bytes) return std::nullopt;
  const uint64_t ring_bytes = kRingHeaderBytes + shape.classes[2].capacity_cells * kCellBytes;
  const uint64_t more = (bytes - plan.segment_bytes) / ring_bytes;
  shape.classes[2].count += static_cast<uint32_t>(std::min<uint64_t>(more, 1024));
  return PlanShape(shape);
}

// Collector: writes |plan| into |memory|, which must be plan.segment_bytes of zeroes
// (a fresh memfd), before the segment is shared.
inline void InitializeSegment(void* memory, const SegmentPlan& plan, ClockKind clock_kind,
                              uint32_t capture_mask) {
  auto* base = static_cast<std::byte*>(memory);
  auto* header = reinterpret_cast<SegmentHeader*>(base);
  header->magic = kMagic;
  header->version = kVersion;
  header->clock_kind = clock_kind;
  header->segment_bytes = plan.segment_bytes;
  header->ring_count = plan.ring_count;
  header->string_capacity = plan.shape.string_capacity;
  header->string_entries_offset = plan.string_entries_offset;
  header->string_buckets_offset = plan.string_buckets_offset;
  header->string_bucket_count = plan.string_bucket_count;
  header->string_arena_offset = plan.string_arena_offset;
  header->string_arena_bytes = plan.shape.string_arena_bytes;
  header->ring_headers_offset = plan.ring_headers_offset;
  header->capture_mask.store(capture_mask, std::memory_order_relaxed);

  uint64_t cells_offset = plan.cells_offset;
  uint32_t index = 0;
  for (uint32_t size_class = 0; size_class < kMaxRingClasses; ++size_class) {
    const RingClass& ring_class = plan.shape.classes[size_class];
    for (uint32_t i = 0; i < ring_class.count; ++i, ++index) {
      auto* ring =
          reinterpret_cast<RingHeader*>(base + plan.ring_headers_offset + index * kRingHeaderBytes);
      ring->cells_offset = cells_offset;
      ring->capacity_cells = ring_class.capacity_cells;
      ring->size_class = size_class;
      cells_offset += uint64_t{ring_class.capacity_cells} * kCellBytes;
    }
  }
}

// The constant part of a SegmentHeader, copied once: what was checked is what is used.
struct SegmentLayout {
  uint64_t magic;
  uint32_t version;
  ClockKind clock_kind;
  uint64_t segment_bytes;
  uint32_t ring_count;
  uint32_t string_capacity;
  uint64_t string_entries_offset;
  uint64_t string_buckets_offset;
  uint32_t string_bucket_count;
  uint64_t string_arena_offset;
  uint64_t string_arena_bytes;
  uint64_t ring_headers_offset;
};

inline SegmentLayout ReadLayout(const SegmentHeader& header) {
  return {header.magic,
          header.version,
          header.clock_kind,
          header.segment_bytes,
          header.ring_count,
          header.string_capacity,
          header.string_entries_offset,
          header.string_buckets_offset,
          header.string_bucket_count,
          header.string_arena_offset,
          header.string_arena_bytes,
          header.ring_headers_offset};
}

// Whether [offset, offset + bytes) is aligned and lies after |*end|, in the segment; moves
// |*end| behind it. Never overflows.
inline constexpr bool TakeRegion(uint64_t offset, uint64_t bytes, uint64_t alignment,
                                 uint64_t segment_bytes, uint64_t* end) {
  if (offset % alignment != 0 || offset < *end || offset > segment_bytes) return false;
  if (bytes > segment_bytes - offset) return false;
  *end = offset + bytes;
  return true;
}

// What is wrong with |layout| in a mapping of |mapped_bytes|, as a phrase for the user;
// nullptr if nothing. Tables must stand in the order of the drawing in wire.h.
inline constexpr const char* LayoutProblem(const SegmentLayout& layout, uint64_t mapped_bytes) {
  if (layout.magic != kMagic) return "the segment is not one of Tutti's";
  if (layout.version != kVersion) return "the segment has another wire version";
  if (layout.segment_bytes != mapped_bytes) return "the segment has not the size it names";
  if (layout.clock_kind != ClockKind::kTsc && layout.clock_kind != ClockKind::kMonotonicRaw) {
    return "the segment names an unknown clock";
  }
  if (layout.ring_count == 0 || layout.ring_count > kMaxRings) return "its ring count is wrong";
  if (layout.string_capacity == 0 || layout.string_capacity > kMaxStringCapacity ||
      !std::has_single_bit(layout.string_bucket_count) ||
      layout.string_bucket_count < 2 * layout.string_capacity ||
      layout.string_arena_bytes > UINT32_MAX) {
    return "its string table has a wrong size";
  }
  uint64_t end = kPageBytes;
  if (!TakeRegion(layout.string_entries_offset, layout.string_capacity * sizeof(StringEntry), 64,
                  mapped_bytes, &end) ||
      !TakeRegion(layout.string_buckets_offset, layout.string_bucket_count * sizeof(uint32_t), 64,
                  mapped_bytes, &end) ||
      !TakeRegion(layout.string_arena_offset, layout.string_arena_bytes, 64, mapped_bytes, &end) ||
      !TakeRegion(layout.ring_headers_offset, layout.ring_count * kRingHeaderBytes, kPageBytes,
                  mapped_bytes, &end)) {
    return "its tables overlap or leave it";
  }
  return nullptr;
}

// The constant part of a RingHeader, copied once.
struct RingLayout {
  uint64_t cells_offset;
  uint32_t capacity_cells;
  uint32_t size_class;
};

// As LayoutProblem, for the next ring in order. |*end| starts as the end of the ring headers
// and |*size_class| as 0; both are moved on.
inline constexpr const char* RingProblem(const RingLayout& ring, uint64_t mapped_bytes,
                                         uint64_t* end, uint32_t* size_class) {
  if (!std::has_single_bit(ring.capacity_cells) || ring.capacity_cells < kMinRingCells) {
    return "a ring has a wrong capacity";
  }
  if (ring.size_class < *size_class || ring.size_class >= kMaxRingClasses) {
    return "its rings are not in order";
  }
  *size_class = ring.size_class;
  if (!TakeRegion(ring.cells_offset, uint64_t{ring.capacity_cells} * kCellBytes, kCellBytes,
                  mapped_bytes, end)) {
    return "a ring overlaps another or leaves it";
  }
  return nullptr;
}

}  // namespace tutti::wire
