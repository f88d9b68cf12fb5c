// The raw rows of one rank's file, as passes read them: on aligned time, open
// intervals closed at the end of the trace, in a useful order, each table read at most
// once and only when asked for. A trace that a pass does not need any more can be
// dropped and opened again.
//
// Rows that contradict themselves (end before begin, times beyond any clock, operators, calls
// and device work outside of the trace) are left out and counted in bad_rows(). Other values that
// can't be (limits.h) are taken as unknown and counted in bad_values(). Text stays as it is in the
// file: printers make it safe. Not thread-safe; spans live as long as the object.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/input/device_events.h"
#include "analyzer/metrics/kernel_use.h"
#include "common/status.h"
#include "schema/database.h"
#include "schema/rows.h"

namespace tutti::analyzer {

// An operator, backward function or user range. Sorted by thread, begin, longer first.
struct OpEvent {
  int64_t id = 0;
  int64_t tid = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t name_id = 0;
  int32_t scope = 0;
  bool is_open = false;  // had not ended when the trace did
};

// Sorted by time.
struct MemoryEvent {
  int64_t time_ns = 0;
  std::string device_type;
  int64_t device_id = -1;  // -1 the CPU
  std::optional<int64_t> delta_bytes;
  std::optional<int64_t> allocated_bytes;
  std::optional<int64_t> reserved_bytes;
  bool is_oom = false;
  int64_t address = 0;   // of the block
  int64_t stack_id = 0;  // of the call, 0 not told
};

// A row of collective_source with its texts. In order of id. `begin_ns` empty: it was
// enqueued and never began; `end_ns` empty: it had not ended.
struct CollectiveEvent {
  schema::CollectiveSourceRow row;  // aligned times
  std::string op;
  std::string dtype;  // "" unknown
};

// An operator with the shapes of its inputs.
struct ShapedOp {
  int64_t begin_ns = 0;  // aligned
  int64_t name_id = 0;
  int64_t shapes_id = 0;  // of the trace's strings
};

// What of a table was left out or taken as unknown.
struct BadCounts {
  int64_t rows = 0;
  int64_t values = 0;
};

class RankTrace {
 public:
  struct Options {
    int64_t clock_offset_ns = 0;  // added to every time
    int64_t begin_ns = 0;         // aligned begin of the trace
    int64_t end_ns = 0;           // aligned end of the trace, closes open intervals
    KernelRules kernel_rules;     // a user's
  };
  static Result<std::unique_ptr<RankTrace>> Open(const std::string& path, Options options);

  // Reads the large tables now, as a thread may do before another one works on them.
  Status ReadEvents();

  // Text of string `id`; "" if the file lacks it.
  const std::string& Text(int64_t id) const;

  Result<std::span<const OpEvent>> Ops();
  // Sorted by begin; linked to ApiCalls(), roles set. Kernels without times stand apart.
  Result<std::span<const DeviceEvent>> DeviceEvents();
  Result<std::span<const UntimedKernel>> UntimedKernels();
  Result<std::span<const ApiEvent>> ApiCalls();  // sorted by begin
  // Of a copy among DeviceEvents().
  const CopyKind& CopyKindOf(const DeviceEvent& copy) const {
    return copy_kinds_[static_cast<size_t>(copy.name_id)];
  }
  // "ncclDevKernel_…", "HtoD", "memset".
  const std::string& NameOf(const DeviceEvent& event) const;
  Result<std::span<const MemoryEvent>> MemoryEvents();
  Result<std::span<const schema::MemorySegmentRow>> MemorySegments();
  Result<std::span<const schema::MemoryBlockRow>> MemoryBlocks();
  Result<std::span<const CollectiveEvent>> Collectives();
  // How kernels were launched, by id, where that is known. Read anew by each call.
  Result<std::unordered_map<int64_t, KernelShape>> KernelShapes();
  // Operators whose shapes are told, in order of rows. The same.
  Result<std::vector<ShapedOp>> ShapedOps();

  // Small tables as they are, on aligned time, sorted by begin where they have one. An
  // empty end_ns says that it was open.
  Result<std::span<const schema::StepRow>> Steps();
  Result<std::span<const schema::PhaseRow>> Phases();
  Result<std::span<const schema::RangeRow>> Ranges();
  Result<std::span<const schema::DataWaitRow>> DataWaits();
  Result<std::span<const schema::BatchRow>> Batches();
  Result<std::span<const schema::SyncRow>> Syncs();
  Result<std::span<const schema::CommunicatorRow>> Communicators();
  Result<std::span<const schema::ThreadRow>> Threads();
  Result<std::span<const schema::StreamRow>> Streams();
  Result<std::span<const schema::DeviceRow>> Devices();
  Result<std::span<const schema::TraceStatRow>> Stats();

  int64_t end_ns() const { return options_.end_ns; }
  // Of each table that was read.
  const std::map<std::string, BadCounts>& bad() const { return bad_; }
  bool failed() const { return failed_; }  // a table could not be read
  size_t resident_bytes() const { return resident_bytes_; }

 private:
  // A table that is read when it is first asked for.
  template <typename Row>
  struct Table {
    const char* name;
    bool is_read = false;
    std::vector<Row> rows = {};
  };

  RankTrace(schema::Database database, Options options);
  Status ReadStrings();
  Status ReadOps();
  Status ReadDeviceEvents();
  Status ReadKernels();
  Status ReadCopies();
  Status LinkDeviceEvents();
  void AddDeviceEvent(DeviceEvent event, std::optional<int64_t> begin_ns,
                      std::optional<int64_t> end_ns);
  Status ReadApiCalls();
  Status ReadMemoryEvents();
  Status ReadCollectives();
  template <typename Row>
  Status ReadSmall(Table<Row>& table);
  template <typename Row, typename Reader>
  Result<std::span<const Row>> Once(Table<Row>& table, Reader reader);

  // Aligns [begin, end); false, and counted, if the row can't be true.
  bool Align(int64_t& begin_ns, int64_t& end_ns);
  bool Align(int64_t& begin_ns, std::optional<int64_t>& end_ns);
  // The same for what can only lie inside the trace.
  bool AlignInside(int64_t& begin_ns, int64_t& end_ns);

  schema::Database database_;
  Options options_;
  std::unordered_map<int64_t, std::string> strings_;
  std::map<std::string, BadCounts> bad_;
  BadCounts* counted_ = nullptr;  // of the table that is being read
  size_t resident_bytes_ = 0;
  bool failed_ = false;

  Table<OpEvent> ops_{"ops"};
  Table<DeviceEvent> device_events_{"device_events"};
  std::vector<UntimedKernel> untimed_kernels_;  // read with the former
  std::vector<CopyKind> copy_kinds_;            // the same
  Table<ApiEvent> api_calls_{"api_calls"};
  Table<MemoryEvent> memory_events_{"memory_events"};
  Table<schema::MemorySegmentRow> memory_segments_{"memory_segments"};
  Table<schema::MemoryBlockRow> memory_blocks_{"memory_blocks"};
  Table<CollectiveEvent> collectives_{"collectives"};
  Table<schema::StepRow> steps_{"steps"};
  Table<schema::PhaseRow> phases_{"phases"};
  Table<schema::RangeRow> ranges_{"ranges"};
  Table<schema::DataWaitRow> data_waits_{"data_waits"};
  Table<schema::BatchRow> batches_{"batches"};
  Table<schema::SyncRow> syncs_{"syncs"};
  Table<schema::CommunicatorRow> communicators_{"communicators"};
  Table<schema::ThreadRow> threads_{"threads"};
  Table<schema::StreamRow> streams_{"streams"};
  Table<schema::DeviceRow> devices_{"devices"};
  Table<schema::TraceStatRow> stats_{"stats"};
};

}  // namespace tutti::analyzer
