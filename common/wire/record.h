// Records: what the cells of a ring hold. A record is 1 to kMaxRecordCells cells
// and starts with RecordHeader. All `ticks` are of the segment's ClockKind; all
// `name`-like uint32_t fields are string indices (0 = none).
#pragma once

#include <cstdint>

#include "common/wire/wire.h"

namespace tutti::wire {

enum class RecordKind : uint8_t {
  kPadding = 0,  // never written; a zero cell is an error
  kThread = 1,
  kCpuOp = 2,
  kCollective = 3,
  kCollectiveEnqueue = 4,
  kCommunicator = 5,
  kMemory = 6,
  kRange = 7,
  kRangeStart = 8,
  kRangeEnd = 9,
  kMark = 10,
  kLoss = 11,
  kNote = 12,
  kAsyncBegin = 13,
  kAsyncEnd = 14,
  kPayload = 15,
  kPayloadSchema = 16,
  kThreadName = 17,
  kActivity = 18,
  kNcclCommunicator = 19,
  kNcclCall = 20,
};
inline constexpr RecordKind kLastRecordKind = RecordKind::kNcclCall;

struct RecordHeader {
  RecordKind kind;
  uint8_t cells;   // length of the record, >= 1
  uint16_t flags;  // kind-specific
  uint32_t name;
};
static_assert(sizeof(RecordHeader) == 8);

// First record of a thread on a ring (claim or move to a larger ring).
struct ThreadRecord {
  RecordHeader header;  // name = thread name (comm)
  uint64_t ticks;
  uint32_t tid;
  uint32_t generation;
  uint64_t start_ticks;  // /proc starttime, identifies the thread with its tid
  uint64_t reserved[4];
};

// A name that the program gave a thread (nvtxNameOsThread); beats the kernel's.
struct ThreadNameRecord {
  RecordHeader header;  // name = thread name
  uint64_t ticks;
  uint32_t tid;  // the thread that is named, not always the one that writes
  uint32_t reserved0;
  uint64_t reserved[5];
};

// A RecordFunction of scope FUNCTION, BACKWARD_FUNCTION or USER_SCOPE …; scope
// values are at::RecordScope's (FUNCTION 0, BACKWARD_FUNCTION 1,
// TORCHSCRIPT_FUNCTION 2, KERNEL_FUNCTION_DTYPE 3, CUSTOM_CLASS 4,
// BUILD_FEATURE 5, LITE_INTERPRETER 6, USER_SCOPE 7, STATIC_RUNTIME_OP 8, …).
// Scope 255: written by another source than torch.
struct CpuOpRecord {
  RecordHeader header;
  uint64_t begin_ticks;
  uint64_t end_ticks;
  int64_t sequence_nr;   // autograd sequence number, -1 none
  uint64_t torch_tid;    // RecordFunction::threadId(), torch's own numbering
  uint64_t forward_tid;  // backward functions: torch_tid of the forward, else 0
  uint32_t shapes;       // input shapes as text, 0 unless captured
  uint16_t depth;        // open spans below it on this thread
  uint8_t scope;
  uint8_t reserved0;
  uint64_t reserved1;
};

// A collective that ran on this thread (Gloo: its worker thread). begin = arrival.
struct CollectiveRecord {
  RecordHeader header;  // name = op without backend prefix, e.g. "all_reduce"
  uint64_t begin_ticks;
  uint64_t end_ticks;
  uint64_t work;          // handle shared with the CollectiveEnqueueRecord, 0 unknown
  int64_t bytes;          // payload of this rank, -1 unknown
  int64_t sequence;       // per communicator, from 0 in enqueue order, -1 unknown
  uint32_t communicator;  // CommunicatorRecord::communicator, 0 unknown
  uint32_t dtype;         // "float32", … (torch's names)
  int32_t peer;           // rank in the group for point-to-point, else -1
  int32_t root;           // rank in the group for rooted ops, else -1
};

// Written on the calling thread when the work is handed to the backend.
struct CollectiveEnqueueRecord {
  RecordHeader header;  // name = op if known, else 0
  uint64_t ticks;
  uint64_t work;
  int64_t sequence;
  uint32_t communicator;
  uint32_t reserved0;
  uint64_t reserved1[3];
};

enum class Backend : uint8_t { kUnknown = 0, kGloo = 1, kNccl = 2, kMpi = 3, kUcc = 4 };

// A communicator (process group backend) as this process knows it.
struct CommunicatorRecord {
  RecordHeader header;  // name = the group's own id (torch: pg_uid), 0 if none
  uint64_t ticks;
  uint32_t communicator;  // index chosen by the tracer, from 1, unique in the process
  int32_t rank;           // own rank in the group
  int32_t size;
  uint32_t description;   // torch: pg_desc, e.g. "default_pg"
  uint32_t global_ranks;  // "0,1,2,…" where known, else 0
  Backend backend;
  uint8_t reserved0[3];
  uint64_t identity;  // address or hash; the same one may be re-announced with more known
  uint64_t reserved1[2];
};

// An allocation or release of an allocator. Releases may not know their size.
struct MemoryRecord {
  RecordHeader header;  // flags: MemoryFlag
  uint64_t ticks;
  uint64_t address;
  int64_t delta_bytes;      // > 0 allocation, < 0 release, 0 release of unknown size
  int64_t allocated_bytes;  // allocator's own total after it, -1 unknown
  int64_t reserved_bytes;   // -1 unknown
  int16_t device_type;      // c10::DeviceType: CPU 0, CUDA 1, …
  int16_t device_index;     // -1 none
  uint32_t reserved0;
  uint64_t reserved1;
};
enum MemoryFlag : uint16_t { kMemoryOutOfMemory = 1 };

// How an NVTX payload or an annotation's number is to be read.
enum class PayloadType : uint8_t { kNone = 0, kInt64 = 1, kUint64 = 2, kDouble = 3 };

// A push/pop range that ended.
struct RangeRecord {
  RecordHeader header;  // name = message
  uint64_t begin_ticks;
  uint64_t end_ticks;
  uint64_t payload;   // bits of payload_type
  uint32_t domain;    // domain name, 0 = NVTX's default domain
  uint32_t category;  // category number in the domain
  uint32_t category_name;
  uint32_t argb;  // 0 none
  uint16_t depth;
  PayloadType payload_type;
  uint8_t reserved0;
  uint32_t reserved1;
  uint64_t reserved2;
};

// Start/end ranges: may overlap and end on another thread; joined by range_id.
struct RangeStartRecord {
  RecordHeader header;
  uint64_t ticks;
  uint64_t range_id;
  uint64_t payload;
  uint32_t domain;
  uint32_t category;
  uint32_t category_name;
  uint32_t argb;
  PayloadType payload_type;
  uint8_t reserved0[7];
  uint64_t reserved1;
};
struct RangeEndRecord {
  RecordHeader header;
  uint64_t ticks;
  uint64_t range_id;
  uint64_t reserved[5];
};

struct MarkRecord {
  RecordHeader header;
  uint64_t ticks;
  uint64_t payload;
  uint32_t domain;
  uint32_t category;
  uint32_t category_name;
  uint32_t argb;
  PayloadType payload_type;
  uint8_t reserved0[7];
  uint64_t reserved1[2];
};

// Written before the first event that fits again after events were dropped, so
// the hole stands where it happened. flags = LossReason. Its count is part of the
// ring's total of that reason (segment.h), not on top of it.
struct LossRecord {
  RecordHeader header;
  uint64_t first_ticks;
  uint64_t last_ticks;
  uint64_t count;
  uint64_t reserved[4];
};

enum class NoteSeverity : uint16_t { kInfo = 0, kNotice = 1, kDataLoss = 2, kError = 3 };

// Something the user should know about this trace, in words; becomes a row of
// trace_stat. flags = NoteSeverity. name = stable short code ("torch_layout").
struct NoteRecord {
  RecordHeader header;
  uint64_t ticks;
  uint32_t source;  // "torch", "nvtx", …
  uint32_t detail;
  uint32_t advice;
  uint32_t reserved0;
  uint64_t count;
  uint64_t reserved1[3];
};

// Halves of an operator whose end ran on another thread than its begin, or out of
// order. Joined by identity: the end belongs to the latest begin with this identity
// and earlier ticks. A begin may be written after its end, when the tracer finds out
// late, or stay an OpenSpan with this identity (segment.h) of a thread that never did.
struct AsyncBeginRecord {
  RecordHeader header;
  uint64_t ticks;
  uint64_t identity;
  int64_t sequence_nr;
  uint64_t torch_tid;
  uint64_t forward_tid;
  uint32_t shapes;
  uint16_t depth;
  uint8_t scope;
  uint8_t reserved0;
  uint64_t reserved1;
};
struct AsyncEndRecord {
  RecordHeader header;
  uint64_t ticks;
  uint64_t identity;
  int64_t sequence_nr;  // these three fill in what the begin lacks: -1 …
  uint64_t torch_tid;   // … or 0 where not known here either
  uint64_t forward_tid;
  uint64_t reserved[2];
};

// Extended NVTX payload. Belongs to the range or mark of this thread and domain
// whose begin_ticks (push/pop), or ticks (start, end, mark), are event_ticks, which
// is written later than its payloads. `bytes` of data start right after this struct
// and fill the record's cells. In the data, fields of the schema's types "string"
// are 8 bytes that hold a string index.
struct PayloadRecord {
  RecordHeader header;
  uint64_t schema_id;
  uint64_t event_ticks;
  uint32_t bytes;        // stored here
  uint32_t total_bytes;  // what the caller gave; > bytes when cut, 0 when the size is unknown
  uint32_t domain;
  uint32_t reserved0;
};
static_assert(sizeof(PayloadRecord) == 40);
inline constexpr uint32_t kMaxPayloadBytes = kMaxRecordCells * kCellBytes - sizeof(PayloadRecord);

enum PayloadSchemaFlag : uint16_t { kPayloadEnum = 1 };

// An NVTX payload schema: header.name = schema name; `text` holds one line a field:
// "name\ttype\toffset\tarray_length\n", of an enum one line a value: "name\tvalue\n"
// (header.flags kPayloadEnum). Types: "int8" … "uint64", "float16", "bfloat16",
// "float32", "float64", "char", "byte", "address", "string", "schema:ID" (a nested
// schema or enum) or "nvtx:N" (an NVTX type number without a name here).
// array_length 0: not an array. May be written more than once.
struct PayloadSchemaRecord {
  RecordHeader header;
  uint64_t ticks;
  uint64_t schema_id;
  uint32_t domain;
  uint32_t text;
  uint64_t payload_bytes;  // 0 not fixed
  uint64_t reserved[3];
};

// An activity record as CUPTI wrote it: `bytes` of it start right after this struct. The pointers
// in it mean nothing here; the texts that they pointed to are header.name and `detail`. Its stamps
// are ticks, as CUPTI asks the tracer for the time.
struct ActivityRecord {
  RecordHeader header;     // name = the record's name; of an API call that of the function
  uint32_t cupti_version;  // cuptiGetVersion() of the library that wrote it
  uint16_t bytes;
  uint16_t reserved0;
  uint32_t detail;  // path of a JIT cache; 0 none
  uint32_t reserved1;
};
static_assert(sizeof(ActivityRecord) == 24);
inline constexpr uint32_t kMaxActivityBytes = kMaxRecordCells * kCellBytes - sizeof(ActivityRecord);

// A communicator of NCCL, as its profiler plugin is told when one is made.
struct NcclCommunicatorRecord {
  RecordHeader header;  // name = the program's name for it, 0 none
  uint64_t ticks;
  uint64_t hash;  // the same on all its ranks
  int32_t rank;   // own rank in it
  int32_t size;
  int32_t nodes;
  uint32_t reserved0;
  uint64_t reserved[3];
};

// A collective or a transfer as NCCL's profiler plugin is told when NCCL hands it to the GPU.
struct NcclCallRecord {
  RecordHeader header;  // name = NCCL's function without its prefix, "AllReduce", …
  uint64_t ticks;
  uint64_t communicator;  // NcclCommunicatorRecord::hash
  int64_t sequence;       // per function and communicator, -1 none (transfers)
  uint64_t count;         // elements, as the caller gave them
  uint32_t datatype;      // "ncclFloat32", …
  uint32_t algorithm;     // "RING", …; 0 none
  uint32_t protocol;      // "LL", …; 0 none
  int32_t root_or_peer;   // rank in the communicator
  uint8_t channels;
  uint8_t is_collective;  // 0: point-to-point
  uint8_t reserved0[2];
  uint32_t reserved1;
};

template <typename Record>
inline constexpr bool kIsOneCell = sizeof(Record) == kCellBytes;
static_assert(kIsOneCell<ThreadRecord> && kIsOneCell<CpuOpRecord> && kIsOneCell<CollectiveRecord>);
static_assert(kIsOneCell<CollectiveEnqueueRecord> && kIsOneCell<CommunicatorRecord>);
static_assert(kIsOneCell<MemoryRecord> && kIsOneCell<RangeRecord> && kIsOneCell<RangeStartRecord>);
static_assert(kIsOneCell<RangeEndRecord> && kIsOneCell<MarkRecord> && kIsOneCell<LossRecord>);
static_assert(kIsOneCell<NoteRecord> && kIsOneCell<AsyncBeginRecord> && kIsOneCell<AsyncEndRecord>);
static_assert(kIsOneCell<NcclCommunicatorRecord> && kIsOneCell<NcclCallRecord>);
static_assert(kIsOneCell<PayloadSchemaRecord> && kIsOneCell<ThreadNameRecord>);

}  // namespace tutti::wire
