// The spool: what the drainer writes while training runs and the converter turns into
// rows. One file per traced process, an append-only sequence of chunks:
//
//   ChunkHeader | payload | ChunkHeader | payload | …
//
// The first chunk is kProcess. Cells come in batches of whole records, per ring in
// order of position; a batch's strings follow it, and a clock reading follows both, so
// that every stamp is enclosed by readings. A file may end in the middle of a chunk
// (its writer was killed, the disk was full): readers stop before it.
// Host byte order; a private format between one build's drainer and converter, except
// that a killed recording is salvaged later: kSpoolVersion tells builds apart.
//
// Of a spool that is a series of files (series.h) each file but the first begins with a head:
// kProcess, kStrings with all so far, kClock (the first of the recording), kCarried, kLosses,
// kClock (now), kWindow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>

#include "collector/clock/clock_reading.h"
#include "common/wire/handshake.h"
#include "common/wire/record.h"
#include "common/wire/segment.h"

namespace tutti::collector::spool {

inline constexpr uint32_t kChunkMagic = 0x4b4e4843;  // "CHNK" as bytes
inline constexpr uint16_t kSpoolVersion = 2;

enum class ChunkKind : uint16_t {
  kProcess = 1,    // ProcessChunk
  kCells = 2,      // CellsChunk, then cells * kCellBytes bytes
  kClock = 3,      // ClockReading
  kStrings = 4,    // StringEntryHeader, text; repeated
  kLosses = 5,     // LossTotal, repeated: running totals, later chunks replace earlier
  kOpenSpans = 6,  // OpenSpansChunk, then spans * OpenSpan; per ring the last one counts
  kSystem = 7,     // SystemSample
  kNote = 8,       // NoteChunk, then its texts
  kEnd = 9,        // EndChunk: nothing follows
  kNode = 10,      // NodeSample
  kCarried = 11,   // CarriedHeader, then cells * kCellBytes bytes; repeated
  kWindow = 12,    // WindowChunk, then rings * RingPosition: what lies before is not here
};

struct ChunkHeader {
  uint32_t magic;
  ChunkKind kind;
  uint16_t version;
  uint64_t payload_bytes;
};
static_assert(sizeof(ChunkHeader) == 16);

// Who wrote into the segment and how to read it.
struct ProcessChunk {
  wire::Hello hello;
  clock::Anchor anchor;
  uint64_t start_ticks;  // of /proc/PID/stat, as the collector saw it
  int32_t peer_pid;      // in the collector's pid namespace, 0 unknown
  wire::ClockKind clock_kind;
  uint32_t string_capacity;
  uint32_t ring_count;
  uint64_t segment_bytes;
  uint32_t capture_mask;
  uint32_t clock_ticks_per_second;
  char host[256];
  char boot_id[64];
  char program[128];  // session/program_name.h; empty unknown
};

struct CellsChunk {
  uint32_t ring;
  uint32_t generation;
  uint32_t tid;  // as the ring's header says; the records themselves decide
  uint32_t reserved;
  uint64_t thread_start_ticks;
  uint64_t position;  // of the first cell
  uint64_t cells;
};
static_assert(sizeof(CellsChunk) == 40);

struct StringEntryHeader {
  uint32_t index;
  uint32_t bytes;
};

// Records of a ring that later ones refer to, from cells that are not here any more.
struct CarriedHeader {
  uint32_t ring;
  uint32_t cells;
};

// What was spooled before this file of a series.
struct WindowChunk {
  uint64_t events;
  uint64_t begin_ticks;  // the clock when this file was begun
  int64_t begin_raw_ns;  // the same, CLOCK_MONOTONIC_RAW
  uint32_t rings;
  uint32_t reserved;
};
static_assert(sizeof(WindowChunk) == 32);

// The next cell of a ring.
struct RingPosition {
  uint64_t position;
  uint32_t ring;
  uint32_t reserved;
};
static_assert(sizeof(RingPosition) == 16);

inline constexpr uint32_t kNoRing = UINT32_MAX;

struct LossTotal {
  uint32_t ring;  // kNoRing: of the whole process
  wire::LossReason reason;
  uint16_t reserved;
  uint64_t count;
  uint64_t first_ticks;  // 0 unknown
  uint64_t last_ticks;
};
static_assert(sizeof(LossTotal) == 32);

enum class OpenSpansReason : uint32_t {
  kSnapshot = 0,    // taken while the process ran, in case nobody can look later
  kThreadGone = 1,  // the thread ended inside these spans
  kProcessEnd = 2,
};

struct OpenSpansChunk {
  uint32_t ring;
  uint32_t generation;
  uint32_t tid;
  OpenSpansReason reason;
  uint64_t thread_start_ticks;
  uint32_t depth;  // spans open; more than `spans` if the stack is deeper than it stores
  uint32_t spans;
};
static_assert(sizeof(OpenSpansChunk) == 32);

// Counters of one process, read from /proc at one moment. -1 unknown.
struct SystemSample {
  int64_t monotonic_raw_ns;
  int64_t cpu_user_ns;
  int64_t cpu_system_ns;
  int64_t resident_bytes;
  int64_t minor_faults;
  int64_t major_faults;
  int64_t voluntary_switches;
  int64_t involuntary_switches;
  int64_t disk_read_bytes;
  int64_t disk_write_bytes;
  int64_t network_receive_bytes;
  int64_t network_transmit_bytes;
  int64_t loopback_bytes;
  int64_t threads;
  int64_t main_run_delay_ns;
};

// Counters of a GPU or a network port of the node, read at one moment.
enum class NodeSource : uint32_t { kGpu = 1, kInfinibandPort = 2 };

// Places in NodeSample::values.
enum class GpuValue : size_t {
  kUtilization,
  kMemoryUtilization,
  kMemoryUsed,
  kSmClock,
  kMemoryClock,
  kThrottleReasons,
  kTemperature,
  kPower,
  kEnergy,
  kPcieTransmit,
  kPcieReceive,
  kNvlinkTransmit,
  kNvlinkReceive,
  kEccCorrected,
  kEccUncorrected,
};
enum class PortValue : size_t {
  kTransmit,
  kReceive,
  kTransmitWait,
  kTransmitDiscards,
  kReceiveErrors,
  kSymbolErrors,
  kLinkDowned,
};

struct NodeSample {
  int64_t monotonic_raw_ns;
  NodeSource source;
  uint32_t reserved;
  char name[96];       // of the GPU its UUID, of a port "DEVICE/PORT"; ends with 0 if shorter
  int64_t values[16];  // -1 unknown
};
static_assert(sizeof(NodeSample) == 240);

inline NodeSample EmptyNodeSample(NodeSource source, std::string_view name) {
  NodeSample sample{};
  sample.source = source;
  std::memcpy(sample.name, name.data(), std::min(name.size(), sizeof(sample.name)));
  std::fill(std::begin(sample.values), std::end(sample.values), -1);
  return sample;
}

// Something the collector found; becomes a row of trace_stat. Texts follow in the
// order name, source, detail, advice, with the lengths given here.
struct NoteChunk {
  wire::NoteSeverity severity;
  uint16_t reserved[3];
  int64_t count;
  int64_t begin_raw_ns;  // CLOCK_MONOTONIC_RAW; 0 unknown
  int64_t end_raw_ns;
  uint16_t text_bytes[4];
};
static_assert(sizeof(NoteChunk) == 40);

enum class EndReason : uint32_t {
  kProcessEnded = 0,
  kStillRunning = 1,  // the recording ended before the process did
};

struct EndChunk {
  EndReason reason;
  int32_t exit_status;  // as a shell gives it; -1 unknown
  int64_t monotonic_raw_ns;
  int64_t drain_cpu_ns;  // CPU time of the drainer for all processes of the recording so far
  uint64_t cells;        // spooled for this process
};
static_assert(sizeof(EndChunk) == 32);

}  // namespace tutti::collector::spool
