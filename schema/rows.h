// One struct per raw table of schema/raw.sql, fields named and ordered as its columns;
// what a column means and its unit are said there (and in docs/schema.md), once.
// rows_test.cc compares the two column by column: name, order, type, nullability.
// Times are integer nanoseconds; std::optional is NULL where empty. Value types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "schema/row.h"
#include "schema/value.h"

namespace tutti::schema {

struct MetaRow {
  std::string key = {};
  std::string value = {};
  TUTTI_KEYED_ROW(MetaRow, "meta", key, value)
};

struct StringRow {
  int64_t id = 0;
  std::string text = {};
  TUTTI_ROW(StringRow, "string", id, text)
};

struct ImportSourceRow {
  int64_t id = 0;
  std::string path = {};
  std::string format = {};
  std::optional<std::string> format_version = {};
  std::optional<std::string> producer = {};
  int64_t bytes = 0;
  int64_t events_read = 0;
  int64_t events_skipped = 0;
  TUTTI_KEYED_ROW(ImportSourceRow, "import_source", id, path, format, format_version, producer,
                  bytes, events_read, events_skipped)
};

struct ProcessRow {
  int64_t pid = 0;
  std::optional<int64_t> parent_pid = {};
  std::string host = {};
  std::optional<std::string> boot_id = {};
  std::optional<int64_t> rank = {};
  std::optional<int64_t> local_rank = {};
  std::optional<int64_t> world_size = {};
  std::optional<std::string> rank_source = {};
  int64_t attempt = 0;
  std::optional<std::string> run_id = {};
  std::optional<std::string> executable = {};
  std::optional<std::string> promoted_by = {};
  std::optional<std::string> torch_version = {};
  std::optional<int64_t> begin_ns = {};
  std::optional<int64_t> end_ns = {};
  std::optional<int64_t> exit_status = {};
  std::optional<int64_t> cpu_user_ns = {};
  std::optional<int64_t> cpu_system_ns = {};
  TUTTI_KEYED_ROW(ProcessRow, "process", pid, parent_pid, host, boot_id, rank, local_rank,
                  world_size, rank_source, attempt, run_id, executable, promoted_by, torch_version,
                  begin_ns, end_ns, exit_status, cpu_user_ns, cpu_system_ns)
};

struct ThreadRow {
  int64_t tid = 0;
  int64_t kernel_tid = 0;
  std::optional<std::string> name = {};
  std::optional<std::string> role = {};
  std::optional<int64_t> torch_tid = {};
  std::optional<int64_t> begin_ns = {};
  std::optional<int64_t> end_ns = {};
  TUTTI_KEYED_ROW(ThreadRow, "thread", tid, kernel_tid, name, role, torch_tid, begin_ns, end_ns)
};

struct DeviceRow {
  int64_t id = 0;
  std::string name = {};
  std::optional<std::string> uuid = {};
  std::optional<int64_t> sm_count = {};
  std::optional<int64_t> memory_bytes = {};
  std::optional<std::string> compute_capability = {};
  std::optional<int64_t> warp_size = {};
  std::optional<int64_t> max_threads_per_sm = {};
  std::optional<int64_t> registers_per_sm = {};
  std::optional<int64_t> shared_bytes_per_sm = {};
  TUTTI_KEYED_ROW(DeviceRow, "device", id, name, uuid, sm_count, memory_bytes, compute_capability,
                  warp_size, max_threads_per_sm, registers_per_sm, shared_bytes_per_sm)
};

struct StreamRow {
  int64_t device_id = 0;
  int64_t stream_id = 0;
  std::optional<std::string> name = {};
  std::optional<int64_t> priority = {};
  TUTTI_KEYED_ROW(StreamRow, "stream", device_id, stream_id, name, priority)
};

struct CommunicatorRow {
  int64_t id = 0;
  std::string backend = {};
  std::optional<std::string> uid = {};
  std::optional<std::string> description = {};
  int64_t ordinal = 0;
  std::optional<int64_t> group_rank = {};
  std::optional<int64_t> group_size = {};
  std::optional<std::string> global_ranks = {};
  std::optional<int64_t> last_enqueued_sequence = {};
  std::optional<int64_t> last_started_sequence = {};
  std::optional<int64_t> last_completed_sequence = {};
  TUTTI_KEYED_ROW(CommunicatorRow, "communicator", id, backend, uid, description, ordinal,
                  group_rank, group_size, global_ranks, last_enqueued_sequence,
                  last_started_sequence, last_completed_sequence)
};

struct StepRow {
  int64_t id = 0;
  int64_t number = 0;
  int64_t tid = 0;
  int64_t begin_ns = 0;
  std::optional<int64_t> end_ns = {};
  std::string origin = {};
  TUTTI_ROW(StepRow, "step", id, number, tid, begin_ns, end_ns, origin)
};

struct RangeRow {
  int64_t id = 0;
  int64_t tid = 0;
  std::optional<int64_t> end_tid = {};
  std::string kind = {};
  int64_t domain_id = 0;
  int64_t category = 0;
  int64_t category_id = 0;
  int64_t name_id = 0;
  int64_t begin_ns = 0;
  std::optional<int64_t> end_ns = {};
  int64_t depth = 0;
  std::optional<int64_t> argb = {};
  std::optional<Value> payload = {};
  TUTTI_ROW(RangeRow, "range", id, tid, end_tid, kind, domain_id, category, category_id, name_id,
            begin_ns, end_ns, depth, argb, payload)
};

struct GpuRangeRow {
  int64_t id = 0;
  int64_t device_id = 0;
  int64_t stream_id = 0;
  int64_t name_id = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  TUTTI_ROW(GpuRangeRow, "gpu_range", id, device_id, stream_id, name_id, begin_ns, end_ns)
};

struct PhaseRow {
  int64_t id = 0;
  int64_t tid = 0;
  std::string phase = {};
  int64_t begin_ns = 0;
  std::optional<int64_t> end_ns = {};
  std::string origin = {};
  TUTTI_ROW(PhaseRow, "phase", id, tid, phase, begin_ns, end_ns, origin)
};

struct CpuOpRow {
  int64_t id = 0;
  int64_t tid = 0;
  int64_t name_id = 0;
  int64_t scope = 0;
  int64_t begin_ns = 0;
  std::optional<int64_t> end_ns = {};
  int64_t depth = 0;
  std::optional<int64_t> sequence_nr = {};
  std::optional<int64_t> torch_tid = {};
  std::optional<int64_t> forward_tid = {};
  int64_t shapes_id = 0;
  std::optional<int64_t> end_tid = {};
  std::optional<int64_t> external_id = {};
  TUTTI_ROW(CpuOpRow, "cpu_op", id, tid, name_id, scope, begin_ns, end_ns, depth, sequence_nr,
            torch_tid, forward_tid, shapes_id, end_tid, external_id)
};

struct PythonCallRow {
  int64_t id = 0;
  int64_t tid = 0;
  int64_t name_id = 0;
  int64_t begin_ns = 0;
  std::optional<int64_t> end_ns = {};
  int64_t depth = 0;
  std::optional<int64_t> python_id = {};
  std::optional<int64_t> parent_python_id = {};
  TUTTI_ROW(PythonCallRow, "python_call", id, tid, name_id, begin_ns, end_ns, depth, python_id,
            parent_python_id)
};

struct ApiCallRow {
  int64_t id = 0;
  int64_t tid = 0;
  int64_t name_id = 0;
  int64_t begin_ns = 0;
  std::optional<int64_t> end_ns = {};
  int64_t correlation_id = 0;
  std::optional<int64_t> return_value = {};
  std::optional<int64_t> external_id = {};
  std::optional<std::string> api = {};
  TUTTI_ROW(ApiCallRow, "api_call", id, tid, name_id, begin_ns, end_ns, correlation_id,
            return_value, external_id, api)
};

struct KernelRow {
  int64_t id = 0;
  int64_t device_id = 0;
  std::optional<int64_t> context_id = {};
  int64_t stream_id = 0;
  int64_t name_id = 0;
  std::optional<int64_t> begin_ns = {};
  std::optional<int64_t> end_ns = {};
  std::optional<int64_t> correlation_id = {};
  std::optional<int64_t> graph_node_id = {};
  std::optional<int64_t> grid_x = {};
  std::optional<int64_t> grid_y = {};
  std::optional<int64_t> grid_z = {};
  std::optional<int64_t> block_x = {};
  std::optional<int64_t> block_y = {};
  std::optional<int64_t> block_z = {};
  std::optional<int64_t> registers_per_thread = {};
  std::optional<int64_t> static_shared_bytes = {};
  std::optional<int64_t> dynamic_shared_bytes = {};
  std::optional<int64_t> local_bytes_per_thread = {};
  std::optional<int64_t> cluster_size = {};
  std::optional<int64_t> queued_ns = {};
  std::optional<int64_t> submitted_ns = {};
  std::optional<int64_t> channel_id = {};
  std::optional<int64_t> external_id = {};
  TUTTI_ROW(KernelRow, "kernel", id, device_id, context_id, stream_id, name_id, begin_ns, end_ns,
            correlation_id, graph_node_id, grid_x, grid_y, grid_z, block_x, block_y, block_z,
            registers_per_thread, static_shared_bytes, dynamic_shared_bytes, local_bytes_per_thread,
            cluster_size, queued_ns, submitted_ns, channel_id, external_id)
};

struct MemcpyRow {
  int64_t id = 0;
  int64_t device_id = 0;
  int64_t stream_id = 0;
  std::optional<int64_t> begin_ns = {};
  std::optional<int64_t> end_ns = {};
  int64_t bytes = 0;
  std::string copy_kind = {};
  std::optional<std::string> source_kind = {};
  std::optional<std::string> destination_kind = {};
  std::optional<int64_t> is_async = {};
  std::optional<int64_t> peer_device_id = {};
  std::optional<int64_t> correlation_id = {};
  std::optional<int64_t> graph_node_id = {};
  TUTTI_ROW(MemcpyRow, "memcpy", id, device_id, stream_id, begin_ns, end_ns, bytes, copy_kind,
            source_kind, destination_kind, is_async, peer_device_id, correlation_id, graph_node_id)
};

struct MemsetRow {
  int64_t id = 0;
  int64_t device_id = 0;
  int64_t stream_id = 0;
  std::optional<int64_t> begin_ns = {};
  std::optional<int64_t> end_ns = {};
  int64_t bytes = 0;
  std::optional<int64_t> value = {};
  std::optional<int64_t> correlation_id = {};
  std::optional<int64_t> graph_node_id = {};
  TUTTI_ROW(MemsetRow, "memset", id, device_id, stream_id, begin_ns, end_ns, bytes, value,
            correlation_id, graph_node_id)
};

struct SyncRow {
  int64_t id = 0;
  std::string kind = {};
  std::optional<int64_t> device_id = {};
  std::optional<int64_t> stream_id = {};
  std::optional<int64_t> event_id = {};
  std::optional<int64_t> event_sync_id = {};
  std::optional<int64_t> begin_ns = {};
  std::optional<int64_t> end_ns = {};
  std::optional<int64_t> correlation_id = {};
  TUTTI_ROW(SyncRow, "sync", id, kind, device_id, stream_id, event_id, event_sync_id, begin_ns,
            end_ns, correlation_id)
};

struct OverheadRow {
  int64_t id = 0;
  int64_t kind_id = 0;
  std::optional<int64_t> tid = {};
  std::optional<int64_t> device_id = {};
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  TUTTI_ROW(OverheadRow, "overhead", id, kind_id, tid, device_id, begin_ns, end_ns)
};

struct FlowRow {
  int64_t id = 0;
  std::string kind = {};
  int64_t name_id = 0;
  std::optional<int64_t> begin_tid = {};
  std::optional<int64_t> begin_device_id = {};
  std::optional<int64_t> begin_stream_id = {};
  int64_t begin_ns = 0;
  std::optional<int64_t> end_tid = {};
  std::optional<int64_t> end_device_id = {};
  std::optional<int64_t> end_stream_id = {};
  int64_t end_ns = 0;
  TUTTI_ROW(FlowRow, "flow", id, kind, name_id, begin_tid, begin_device_id, begin_stream_id,
            begin_ns, end_tid, end_device_id, end_stream_id, end_ns)
};

struct CollectiveSourceRow {
  int64_t id = 0;
  std::string origin = {};
  std::optional<int64_t> communicator_id = {};
  std::optional<int64_t> sequence = {};
  int64_t op_id = 0;
  int64_t dtype_id = 0;
  std::optional<int64_t> bytes = {};
  std::optional<int64_t> enqueue_ns = {};
  std::optional<int64_t> begin_ns = {};
  std::optional<int64_t> end_ns = {};
  std::optional<int64_t> tid = {};
  std::optional<int64_t> enqueue_tid = {};
  std::optional<int64_t> peer = {};
  std::optional<int64_t> root = {};
  std::optional<int64_t> device_id = {};
  std::optional<int64_t> stream_id = {};
  std::optional<int64_t> correlation_id = {};
  std::optional<std::string> algorithm = {};
  std::optional<std::string> protocol = {};
  std::optional<int64_t> channels = {};
  std::optional<std::string> state = {};
  int64_t shapes_id = 0;
  int64_t stack_id = 0;
  TUTTI_ROW(CollectiveSourceRow, "collective_source", id, origin, communicator_id, sequence, op_id,
            dtype_id, bytes, enqueue_ns, begin_ns, end_ns, tid, enqueue_tid, peer, root, device_id,
            stream_id, correlation_id, algorithm, protocol, channels, state, shapes_id, stack_id)
};

struct DataWaitRow {
  int64_t id = 0;
  int64_t tid = 0;
  int64_t loader_id = 0;
  int64_t begin_ns = 0;
  std::optional<int64_t> end_ns = {};
  std::optional<int64_t> queue_depth = {};
  std::string origin = {};
  TUTTI_ROW(DataWaitRow, "data_wait", id, tid, loader_id, begin_ns, end_ns, queue_depth, origin)
};

struct BatchRow {
  int64_t id = 0;
  int64_t tid = 0;
  int64_t time_ns = 0;
  std::optional<int64_t> samples = {};
  std::optional<int64_t> tokens = {};
  TUTTI_ROW(BatchRow, "batch", id, tid, time_ns, samples, tokens)
};

struct MemoryEventRow {
  int64_t id = 0;
  std::optional<int64_t> tid = {};
  int64_t time_ns = 0;
  std::string device_type = {};
  std::optional<int64_t> device_id = {};
  int64_t address = 0;
  std::optional<int64_t> delta_bytes = {};
  std::optional<int64_t> allocated_bytes = {};
  std::optional<int64_t> reserved_bytes = {};
  int64_t is_oom = 0;
  std::optional<int64_t> stream_id = {};
  std::optional<std::string> action = {};
  int64_t stack_id = 0;
  TUTTI_ROW(MemoryEventRow, "memory_event", id, tid, time_ns, device_type, device_id, address,
            delta_bytes, allocated_bytes, reserved_bytes, is_oom, stream_id, action, stack_id)
};

struct MemorySegmentRow {
  int64_t id = 0;
  int64_t device_id = 0;
  std::optional<int64_t> stream_id = {};
  int64_t address = 0;
  int64_t bytes = 0;
  std::optional<int64_t> allocated_bytes = {};
  std::optional<int64_t> active_bytes = {};
  std::optional<int64_t> requested_bytes = {};
  std::optional<std::string> kind = {};
  std::optional<std::string> pool = {};
  std::optional<int64_t> is_expandable = {};
  int64_t stack_id = 0;
  TUTTI_ROW(MemorySegmentRow, "memory_segment", id, device_id, stream_id, address, bytes,
            allocated_bytes, active_bytes, requested_bytes, kind, pool, is_expandable, stack_id)
};

struct MemoryBlockRow {
  int64_t id = 0;
  int64_t segment_id = 0;
  int64_t address = 0;
  int64_t bytes = 0;
  std::optional<int64_t> requested_bytes = {};
  std::string state = {};
  std::optional<std::string> category = {};
  int64_t stack_id = 0;
  TUTTI_ROW(MemoryBlockRow, "memory_block", id, segment_id, address, bytes, requested_bytes, state,
            category, stack_id)
};

struct CounterRow {
  int64_t id = 0;
  std::string name = {};
  std::string unit = {};
  std::string kind = {};
  std::string description = {};
  std::optional<int64_t> device_id = {};
  TUTTI_KEYED_ROW(CounterRow, "counter", id, name, unit, kind, description, device_id)
};

struct CounterSampleRow {
  int64_t counter_id = 0;
  int64_t time_ns = 0;
  Value value = {};
  TUTTI_ROW(CounterSampleRow, "counter_sample", counter_id, time_ns, value)
};

struct ClockSyncRow {
  int64_t ticks = 0;
  int64_t realtime_ns = 0;
  int64_t monotonic_raw_ns = 0;
  int64_t trace_ns = 0;
  int64_t uncertainty_ns = 0;
  TUTTI_ROW(ClockSyncRow, "clock_sync", ticks, realtime_ns, monotonic_raw_ns, trace_ns,
            uncertainty_ns)
};

struct TraceStatRow {
  int64_t id = 0;
  std::string severity = {};
  std::string name = {};
  std::string source = {};
  int64_t count = 0;
  std::optional<int64_t> begin_ns = {};
  std::optional<int64_t> end_ns = {};
  std::string detail = {};
  std::string advice = {};
  TUTTI_KEYED_ROW(TraceStatRow, "trace_stat", id, severity, name, source, count, begin_ns, end_ns,
                  detail, advice)
};

// Every raw table, in the order of raw.sql.
using AllRawRows =
    std::tuple<MetaRow, StringRow, ImportSourceRow, ProcessRow, ThreadRow, DeviceRow, StreamRow,
               CommunicatorRow, StepRow, RangeRow, GpuRangeRow, PhaseRow, CpuOpRow, PythonCallRow,
               ApiCallRow, KernelRow, MemcpyRow, MemsetRow, SyncRow, OverheadRow, FlowRow,
               CollectiveSourceRow, DataWaitRow, BatchRow, MemoryEventRow, MemorySegmentRow,
               MemoryBlockRow, CounterRow, CounterSampleRow, ClockSyncRow, TraceStatRow>;

}  // namespace tutti::schema
