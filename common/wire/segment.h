// Layout of a segment: header, string table, rings. See wire.h for the drawing
// and the trust rules.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/wire/wire.h"

namespace tutti::wire {

static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(std::atomic<uint32_t>::is_always_lock_free);

// A count of dropped events with the time range in which they fell. One writer
// per instance except where said; the collector reads it with relaxed loads.
struct LossCounter {
  std::atomic<uint64_t> count;
  std::atomic<uint64_t> first_ticks;
  std::atomic<uint64_t> last_ticks;
};

// Page 0. Fields up to `capture_mask` are written by the collector before the
// segment is shared and never change; the tracer copies what it uses.
struct SegmentHeader {
  uint64_t magic;
  uint32_t version;
  ClockKind clock_kind;
  uint64_t segment_bytes;
  uint32_t ring_count;
  uint32_t string_capacity;  // entries; index 0 is reserved for "no string"
  uint64_t string_entries_offset;
  uint64_t string_buckets_offset;  // u32[string_bucket_count], 0 = empty, else entry index
  uint32_t string_bucket_count;    // power of two, >= 2 * string_capacity
  uint32_t reserved0;
  uint64_t string_arena_offset;
  uint64_t string_arena_bytes;
  uint64_t ring_headers_offset;

  // Written by the collector, read by the tracer on each event (relaxed).
  alignas(64) std::atomic<uint32_t> capture_mask;

  // Written by the tracer's threads with atomic read-modify-write.
  alignas(64) std::atomic<uint32_t> strings_used;  // entries handed out, may pass capacity
  std::atomic<uint32_t> strings_refused;           // strings not stored because the table was full
  std::atomic<uint64_t> string_arena_used;         // bytes handed out, may pass the arena
  alignas(64) LossCounter lost_no_ring;            // events of threads that found no free ring
};
static_assert(sizeof(SegmentHeader) <= kPageBytes);

// One interned string. The tracer reserves an index (strings_used + 1, so entries
// 1 … min(strings_used, string_capacity - 1) may be published) and arena
// bytes, writes text, offset and length, then publishes by storing `hash` with
// release order (0 = not published; a hash of 0 is stored as 1). Entries may be
// published out of order, and one text may be published twice by racing threads.
struct StringEntry {
  std::atomic<uint64_t> hash;  // FNV-1a of the bytes; publishes the entry
  uint32_t offset;             // into the arena
  uint32_t length;             // bytes, no terminator
};
static_assert(sizeof(StringEntry) == 16);
inline constexpr uint32_t kNoString = 0;
inline constexpr uint32_t kMaxStringBytes =
    4096;  // longer ones are cut, the cut is marked with "…"

// A span that has begun on this ring's thread and not ended: what a rank was
// inside when it died or hung. Plain stores by the owner; readers may see a torn
// newest entry and must treat it so (a killed thread leaves a stable one). A span is
// taken off before its record is written: it is open, recorded, or the one in flight.
struct OpenSpan {
  uint64_t begin_ticks;
  uint64_t identity;  // who will end it: RecordFunction address, NVTX domain, …
  uint32_t name;      // string index
  uint8_t kind;       // RecordKind of the record its end would write
  uint8_t scope;      // as CpuOpRecord::scope
  uint16_t flags;     // OpenSpanFlag
  uint64_t aux;       // collective: work handle; range: payload bits; …
  uint32_t domain;    // NVTX: domain string index; torch: communicator index
  uint32_t category;  // NVTX category
  uint64_t aux2;      // collective: bytes; range: PackRangeDetail()
};
static_assert(sizeof(OpenSpan) == 48);
enum OpenSpanFlag : uint16_t {
  kSpanNotCaptured = 1,  // its source was switched off at its begin: nesting only, not an event
};

// OpenSpan::aux2 of a range: what else its RangeRecord will hold.
inline constexpr uint64_t PackRangeDetail(uint32_t argb, uint16_t depth, uint8_t payload_type) {
  return argb | uint64_t{depth} << 32 | uint64_t{payload_type} << 48;
}
inline constexpr uint32_t RangeArgb(uint64_t aux2) { return static_cast<uint32_t>(aux2); }
inline constexpr uint16_t RangeDepth(uint64_t aux2) { return static_cast<uint16_t>(aux2 >> 32); }
inline constexpr uint8_t RangePayloadType(uint64_t aux2) {
  return static_cast<uint8_t>(aux2 >> 48);
}

inline constexpr uint32_t kOpenSpanDepth = 72;  // deeper spans are counted in open_depth only

// Who may make each transition:
//   kFree -> kClaimed       tracer: a thread, by compare-and-swap
//   kClaimed -> kAbandoned  tracer: the owner, once it writes to a larger ring
//   kClaimed -> kReleased   tracer: the owner at its thread's end, no span open, tid = 0 before
//   kReleased -> kClaimed   tracer: a thread, by compare-and-swap; goes on at `head`, behind what
//                           the earlier thread wrote (each thread begins with a ThreadRecord)
//   kClaimed -> kFree       collector: empty, tid != 0, that thread is gone, and the ring is
//                           still its (then its open spans are final); or the process is gone
//   kAbandoned -> kFree     collector: empty
// Everybody stores tid = 0 before kFree or kReleased; a claimed ring with tid 0 is
// about to be filled in by its claimer and is never freed while the process lives.
enum class RingOwner : uint32_t {
  kFree = 0,
  kClaimed = 1,
  kAbandoned = 2,
  kReleased = 3,
};

// Single producer (the owning thread), single consumer (the drainer). Positions
// count cells since the ring was made, never wrap and never go back; cell i lies
// at cells_offset + (i % capacity_cells) * kCellBytes. A record occupies
// consecutive positions and becomes visible with one release store of `head`.
struct RingHeader {
  // Written by the collector before sharing; never change.
  uint64_t cells_offset;
  uint32_t capacity_cells;  // power of two
  uint32_t size_class;      // 0 smallest; rings are ordered by class

  std::atomic<RingOwner> owner;
  std::atomic<uint32_t> generation;  // +1 by each claim
  std::atomic<uint32_t> tid;         // kernel thread id of the owner
  uint32_t reserved0;
  std::atomic<uint64_t>
      thread_start_ticks;  // starttime of /proc/self/task/TID/stat (field 22), 0 unknown

  alignas(64) std::atomic<uint64_t> head;  // producer
  LossCounter lost[kLossReasonCount];      // producer; totals by LossReason since the ring was made
  alignas(64) std::atomic<uint64_t> tail;  // consumer

  alignas(64) std::atomic<uint32_t> open_depth;
  OpenSpan open_spans[kOpenSpanDepth];
};
static_assert(sizeof(RingHeader) <= kPageBytes);
inline constexpr size_t kRingHeaderBytes = kPageBytes;  // stride of the RingHeader array

}  // namespace tutti::wire
