// Contract 1: the binary interface between a traced process (tracer) and the
// collector. Everything here is fixed-layout, little-endian and versioned; both
// sides are built from these headers and nothing else crosses.
//
// One *segment* per traced process: a memfd that the collector creates, fills
// with a layout (segment.h), seals against resizing and hands to the process
// over a unix socket (handshake.h). It outlives the process, so what was
// published survives SIGKILL.
//
//   [SegmentHeader | StringEntry[] | bucket[] | string arena | RingHeader[] | cells…]
//
// Trust: the collector treats every byte of a segment as hostile. It keeps its
// own copy of the layout that it wrote, reads each shared word once, copies
// before it validates, and never follows an offset it has not range-checked.
//
// Rule: any change of a struct in this folder bumps kVersion.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::wire {

inline constexpr uint64_t kMagic = 0x3157495454554954;  // "TITUTIW1" as bytes
inline constexpr uint32_t kVersion = 1;

inline constexpr size_t kCellBytes = 64;
inline constexpr size_t kPageBytes = 4096;

// Longest record, in cells. Bounds what a reader must buffer for one record.
inline constexpr uint32_t kMaxRecordCells = 16;

// How the 64-bit `ticks` in records are counted; chosen by the collector.
enum class ClockKind : uint32_t {
  kTsc = 0,           // rdtsc; invariant TSC and the kernel itself uses it
  kMonotonicRaw = 1,  // nanoseconds of CLOCK_MONOTONIC_RAW: where the TSC can't be trusted
};

// Bits of SegmentHeader::capture_mask; the collector may flip them at any time.
enum CaptureBit : uint32_t {
  kCaptureTorch = 1u << 0,
  kCaptureNvtx = 1u << 1,
  kCaptureMemory = 1u << 2,
  kCaptureShapes = 1u << 3,  // operator input shapes (costs boxing of every operator's inputs)
  kCaptureCupti = 1u << 4,
  kCaptureNccl = 1u << 5,
};

// Why events are missing. Totals stand in the segment (RingHeader::lost,
// SegmentHeader::lost_no_ring); where a hole lies is told by LossRecords in the ring.
enum class LossReason : uint16_t {
  kNone = 0,
  kRingFull = 1,
  kNoRing = 2,           // the thread found no free ring
  kStringTableFull = 3,  // strings, not events: the event stands without its text
  kUnbalancedEnd = 4,    // an end without its begin: the begin came before capture, or was dropped
  kTooDeep = 5,          // spans nested deeper than the tracer follows
  kReentered = 6,        // an event inside the tracer's own code, or in a signal handler over it
};
inline constexpr uint32_t kLossReasonCount = 7;

}  // namespace tutti::wire
