// One struct per derived table of schema/derived.sql, fields named and ordered as its
// columns; what a column means and its unit are said there (and in docs/schema.md), once.
// derived_rows_test.cc compares the two column by column. Value types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "schema/row.h"
#include "schema/value.h"

namespace tutti::schema {

struct RunMetaRow {
  std::string key = {};
  std::string value = {};
  TUTTI_ROW(RunMetaRow, "run_meta", key, value)
};

struct InputFileRow {
  int64_t id = 0;
  std::string path = {};
  std::optional<int64_t> rank = {};
  std::optional<int64_t> attempt = {};
  int64_t bytes = 0;
  int64_t mtime_ns = 0;
  std::string state = {};
  int64_t is_used = 0;
  std::string note = {};
  TUTTI_ROW(InputFileRow, "input_file", id, path, rank, attempt, bytes, mtime_ns, state, is_used,
            note)
};

struct RankRow {
  int64_t rank = 0;
  int64_t attempt = 0;
  int64_t input_file_id = 0;
  std::string host = {};
  std::optional<std::string> boot_id = {};
  std::optional<int64_t> pid = {};
  std::optional<int64_t> local_rank = {};
  std::optional<int64_t> world_size = {};
  std::optional<std::string> executable = {};
  std::string device_kind = {};
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t is_finished = 0;
  std::optional<int64_t> exit_status = {};
  int64_t clock_domain = 0;
  int64_t clock_offset_ns = 0;
  std::optional<int64_t> clock_error_ns = {};
  int64_t events = 0;
  int64_t events_lost = 0;
  TUTTI_ROW(RankRow, "rank", rank, attempt, input_file_id, host, boot_id, pid, local_rank,
            world_size, executable, device_kind, begin_ns, end_ns, is_finished, exit_status,
            clock_domain, clock_offset_ns, clock_error_ns, events, events_lost)
};

struct DataIssueRow {
  int64_t id = 0;
  std::string severity = {};
  std::string name = {};
  std::string origin = {};
  std::string source = {};
  std::optional<int64_t> rank = {};
  int64_t count = 0;
  std::optional<int64_t> begin_ns = {};
  std::optional<int64_t> end_ns = {};
  std::optional<int64_t> first_step = {};
  std::optional<int64_t> last_step = {};
  std::string detail = {};
  std::string advice = {};
  TUTTI_ROW(DataIssueRow, "data_issue", id, severity, name, origin, source, rank, count, begin_ns,
            end_ns, first_step, last_step, detail, advice)
};

struct PassRunRow {
  int64_t ordinal = 0;
  std::string name = {};
  int64_t rows_written = 0;
  int64_t checks = 0;
  int64_t wall_ns = 0;
  TUTTI_ROW(PassRunRow, "pass_run", ordinal, name, rows_written, checks, wall_ns)
};

struct LaneRow {
  int64_t rank = 0;
  std::string kind = {};
  int64_t device_id = 0;
  int64_t id = 0;
  std::string role = {};
  std::string reason = {};
  std::optional<std::string> name = {};
  int64_t events = 0;
  TUTTI_ROW(LaneRow, "lane", rank, kind, device_id, id, role, reason, name, events)
};

struct RunStepRow {
  int64_t step = 0;
  int64_t number = 0;
  int64_t occurrence = 0;
  std::string origin = {};
  int64_t ranks = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  std::optional<int64_t> step_period_ns = {};
  std::string tag = {};
  int64_t is_partial = 0;
  int64_t is_warmup = 0;
  int64_t is_steady = 0;
  TUTTI_ROW(RunStepRow, "run_step", step, number, occurrence, origin, ranks, begin_ns, end_ns,
            step_period_ns, tag, is_partial, is_warmup, is_steady)
};

struct StepWindowRow {
  int64_t rank = 0;
  int64_t step = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t host_begin_ns = 0;
  int64_t host_end_ns = 0;
  int64_t step_ns = 0;
  std::optional<int64_t> between_steps_ns = {};
  int64_t is_partial = 0;
  TUTTI_ROW(StepWindowRow, "step_window", rank, step, begin_ns, end_ns, host_begin_ns, host_end_ns,
            step_ns, between_steps_ns, is_partial)
};

struct StepBreakdownRow {
  int64_t rank = 0;
  int64_t step = 0;
  int64_t step_ns = 0;
  int64_t compute_ns = 0;
  int64_t exposed_comm_transfer_ns = 0;
  int64_t exposed_comm_wait_ns = 0;
  int64_t exposed_comm_unsplit_ns = 0;
  int64_t exposed_copy_ns = 0;
  int64_t input_wait_ns = 0;
  int64_t sync_ns = 0;
  int64_t host_bound_ns = 0;
  int64_t idle_ns = 0;
  TUTTI_ROW(StepBreakdownRow, "step_breakdown", rank, step, step_ns, compute_ns,
            exposed_comm_transfer_ns, exposed_comm_wait_ns, exposed_comm_unsplit_ns,
            exposed_copy_ns, input_wait_ns, sync_ns, host_bound_ns, idle_ns)
};

struct StepWaitForRow {
  int64_t step = 0;
  int64_t rank = 0;
  int64_t late_rank = 0;
  int64_t wait_ns = 0;
  TUTTI_ROW(StepWaitForRow, "step_wait_for", step, rank, late_rank, wait_ns)
};

struct StepOverlapRow {
  int64_t rank = 0;
  int64_t step = 0;
  int64_t comm_ns = 0;
  int64_t exposed_ns = 0;
  TUTTI_ROW(StepOverlapRow, "step_overlap", rank, step, comm_ns, exposed_ns)
};

struct MedianStepSpanRow {
  int64_t rank = 0;
  int64_t step = 0;
  std::string kind = {};
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t busy_ns = 0;
  TUTTI_ROW(MedianStepSpanRow, "median_step_span", rank, step, kind, begin_ns, end_ns, busy_ns)
};

struct RunCommunicatorRow {
  int64_t id = 0;
  std::string backend = {};
  std::optional<std::string> uid = {};
  std::optional<std::string> description = {};
  int64_t ordinal = 0;
  std::optional<int64_t> size = {};
  std::optional<std::string> global_ranks = {};
  std::string members_origin = {};
  TUTTI_ROW(RunCommunicatorRow, "run_communicator", id, backend, uid, description, ordinal, size,
            global_ranks, members_origin)
};

struct RunCommunicatorMemberRow {
  int64_t communicator_id = 0;
  int64_t rank = 0;
  int64_t local_communicator_id = 0;
  std::optional<int64_t> group_rank = {};
  TUTTI_ROW(RunCommunicatorMemberRow, "run_communicator_member", communicator_id, rank,
            local_communicator_id, group_rank)
};

struct CollectiveRow {
  int64_t id = 0;
  std::optional<int64_t> communicator_id = {};
  std::optional<int64_t> sequence = {};
  std::string matched_by = {};
  std::string op = {};
  std::optional<std::string> dtype = {};
  std::optional<int64_t> bytes = {};
  std::optional<int64_t> step = {};
  int64_t ranks_expected = 0;
  int64_t ranks_seen = 0;
  std::string state = {};
  std::optional<int64_t> ready_ns = {};
  std::optional<int64_t> last_rank = {};
  std::optional<int64_t> skew_ns = {};
  std::optional<int64_t> transfer_ns = {};
  std::optional<int64_t> duration_ns = {};
  std::optional<double> algbw_gb_per_s = {};
  std::optional<double> busbw_gb_per_s = {};
  int64_t is_bw_raw = 0;
  int64_t clamped = 0;
  TUTTI_ROW(CollectiveRow, "collective", id, communicator_id, sequence, matched_by, op, dtype,
            bytes, step, ranks_expected, ranks_seen, state, ready_ns, last_rank, skew_ns,
            transfer_ns, duration_ns, algbw_gb_per_s, busbw_gb_per_s, is_bw_raw, clamped)
};

struct CollectiveCallRow {
  int64_t collective_id = 0;
  int64_t rank = 0;
  int64_t source_id = 0;
  std::optional<int64_t> step = {};
  std::optional<int64_t> enqueue_ns = {};
  std::optional<int64_t> arrival_ns = {};
  std::optional<int64_t> end_ns = {};
  std::optional<int64_t> wait_ns = {};
  std::optional<int64_t> transfer_ns = {};
  TUTTI_ROW(CollectiveCallRow, "collective_call", collective_id, rank, source_id, step, enqueue_ns,
            arrival_ns, end_ns, wait_ns, transfer_ns)
};

struct StepBackwardRow {
  int64_t rank = 0;
  int64_t step = 0;
  int64_t begin_ns = 0;
  int64_t first_gradient_ns = 0;
  int64_t end_ns = 0;
  int64_t compute_ns = 0;
  int64_t calls = 0;
  int64_t calls_after = 0;
  int64_t bytes = 0;
  int64_t bytes_after = 0;
  TUTTI_ROW(StepBackwardRow, "step_backward", rank, step, begin_ns, first_gradient_ns, end_ns,
            compute_ns, calls, calls_after, bytes, bytes_after)
};

struct StepInputRow {
  int64_t rank = 0;
  int64_t step = 0;
  int64_t waits = 0;
  int64_t wait_ns = 0;
  int64_t longest_ns = 0;
  std::optional<int64_t> min_queue_depth = {};
  TUTTI_ROW(StepInputRow, "step_input", rank, step, waits, wait_ns, longest_ns, min_queue_depth)
};

struct LoaderRow {
  int64_t rank = 0;
  std::string name = {};
  int64_t waits = 0;
  int64_t wait_ns = 0;
  int64_t p50_wait_ns = 0;
  int64_t p99_wait_ns = 0;
  std::optional<double> empty_queue_frac = {};
  std::optional<int64_t> workers = {};
  std::optional<int64_t> p50_load_ns = {};
  TUTTI_ROW(LoaderRow, "loader", rank, name, waits, wait_ns, p50_wait_ns, p99_wait_ns,
            empty_queue_frac, workers, p50_load_ns)
};

struct MemoryPeakRow {
  int64_t rank = 0;
  std::string device_type = {};
  int64_t device_id = 0;
  int64_t peak_bytes = 0;
  int64_t peak_time_ns = 0;
  std::optional<int64_t> peak_step = {};
  std::optional<int64_t> peak_reserved_bytes = {};
  int64_t end_bytes = 0;
  int64_t allocations = 0;
  int64_t releases = 0;
  int64_t allocated_bytes = 0;
  int64_t ooms = 0;
  TUTTI_ROW(MemoryPeakRow, "memory_peak", rank, device_type, device_id, peak_bytes, peak_time_ns,
            peak_step, peak_reserved_bytes, end_bytes, allocations, releases, allocated_bytes, ooms)
};

struct MemoryTimelineRow {
  int64_t rank = 0;
  std::string device_type = {};
  int64_t device_id = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t max_bytes = 0;
  int64_t last_bytes = 0;
  TUTTI_ROW(MemoryTimelineRow, "memory_timeline", rank, device_type, device_id, begin_ns, end_ns,
            max_bytes, last_bytes)
};

struct MemoryHolderRow {
  int64_t rank = 0;
  std::string device_type = {};
  int64_t device_id = 0;
  int64_t ordinal = 0;
  int64_t bytes = 0;
  int64_t blocks = 0;
  std::string stack = {};
  TUTTI_ROW(MemoryHolderRow, "memory_holder", rank, device_type, device_id, ordinal, bytes, blocks,
            stack)
};

struct MemoryStateRow {
  int64_t rank = 0;
  int64_t device_id = 0;
  int64_t segments = 0;
  int64_t reserved_bytes = 0;
  int64_t allocated_bytes = 0;
  int64_t pending_bytes = 0;
  int64_t free_segment_bytes = 0;
  int64_t inactive_split_bytes = 0;
  int64_t inactive_split_blocks = 0;
  int64_t largest_free_bytes = 0;
  TUTTI_ROW(MemoryStateRow, "memory_state", rank, device_id, segments, reserved_bytes,
            allocated_bytes, pending_bytes, free_segment_bytes, inactive_split_bytes,
            inactive_split_blocks, largest_free_bytes)
};

struct OpStatsRow {
  int64_t rank = 0;
  std::string kind = {};
  std::string name = {};
  int64_t on_compute = 0;
  std::optional<std::string> category = {};
  std::optional<int64_t> uses_tensor_cores = {};
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t self_ns = 0;
  int64_t min_ns = 0;
  int64_t p50_ns = 0;
  int64_t p90_ns = 0;
  int64_t p99_ns = 0;
  int64_t max_ns = 0;
  int64_t in_steps_count = 0;
  int64_t in_steps_self_ns = 0;
  TUTTI_ROW(OpStatsRow, "op_stats", rank, kind, name, on_compute, category, uses_tensor_cores,
            count, total_ns, self_ns, min_ns, p50_ns, p90_ns, p99_ns, max_ns, in_steps_count,
            in_steps_self_ns)
};

struct DeviceSummaryRow {
  int64_t rank = 0;
  int64_t device_id = 0;
  int64_t kernels = 0;
  int64_t copies = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t busy_ns = 0;
  int64_t compute_ns = 0;
  int64_t comm_ns = 0;
  int64_t copy_ns = 0;
  int64_t work_ns = 0;
  int64_t gaps = 0;
  int64_t idle_host_ns = 0;
  int64_t idle_launched_ns = 0;
  int64_t idle_unknown_ns = 0;
  int64_t tensor_able_ns = 0;
  int64_t tensor_core_ns = 0;
  TUTTI_ROW(DeviceSummaryRow, "device_summary", rank, device_id, kernels, copies, begin_ns, end_ns,
            busy_ns, compute_ns, comm_ns, copy_ns, work_ns, gaps, idle_host_ns, idle_launched_ns,
            idle_unknown_ns, tensor_able_ns, tensor_core_ns)
};

struct StepDeviceRow {
  int64_t rank = 0;
  int64_t step = 0;
  int64_t device_id = 0;
  int64_t step_ns = 0;
  int64_t kernels = 0;
  int64_t busy_ns = 0;
  int64_t compute_ns = 0;
  int64_t comm_ns = 0;
  int64_t copy_ns = 0;
  int64_t idle_host_ns = 0;
  int64_t idle_launched_ns = 0;
  int64_t idle_unknown_ns = 0;
  TUTTI_ROW(StepDeviceRow, "step_device", rank, step, device_id, step_ns, kernels, busy_ns,
            compute_ns, comm_ns, copy_ns, idle_host_ns, idle_launched_ns, idle_unknown_ns)
};

struct StreamIdleRow {
  int64_t rank = 0;
  int64_t device_id = 0;
  int64_t stream_id = 0;
  int64_t work = 0;
  int64_t busy_ns = 0;
  int64_t gaps = 0;
  int64_t longest_gap_ns = 0;
  int64_t host_wait_ns = 0;
  int64_t kernel_wait_ns = 0;
  int64_t latency_ns = 0;
  int64_t unknown_ns = 0;
  TUTTI_ROW(StreamIdleRow, "stream_idle", rank, device_id, stream_id, work, busy_ns, gaps,
            longest_gap_ns, host_wait_ns, kernel_wait_ns, latency_ns, unknown_ns)
};

struct StreamConcurrencyRow {
  int64_t rank = 0;
  int64_t device_id = 0;
  int64_t streams = 0;
  int64_t total_ns = 0;
  TUTTI_ROW(StreamConcurrencyRow, "stream_concurrency", rank, device_id, streams, total_ns)
};

struct StepCategoryRow {
  int64_t rank = 0;
  int64_t step = 0;
  std::string category = {};
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t longest_ns = 0;
  TUTTI_ROW(StepCategoryRow, "step_category", rank, step, category, count, total_ns, longest_ns)
};

struct StepKernelRow {
  int64_t rank = 0;
  int64_t step = 0;
  std::string name = {};
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t longest_ns = 0;
  TUTTI_ROW(StepKernelRow, "step_kernel", rank, step, name, count, total_ns, longest_ns)
};

struct StepKernelUseRow {
  int64_t rank = 0;
  int64_t step = 0;
  int64_t known = 0;
  int64_t known_ns = 0;
  int64_t unfilled_ns = 0;
  int64_t last_wave_ns = 0;
  int64_t beside_comm = 0;
  int64_t contended_ns = 0;
  int64_t serialized_ns = 0;
  TUTTI_ROW(StepKernelUseRow, "step_kernel_use", rank, step, known, known_ns, unfilled_ns,
            last_wave_ns, beside_comm, contended_ns, serialized_ns)
};

struct StepFlopRow {
  int64_t rank = 0;
  int64_t step = 0;
  int64_t operators = 0;
  int64_t flop = 0;
  TUTTI_ROW(StepFlopRow, "step_flop", rank, step, operators, flop)
};

struct WaitCauseRow {
  int64_t step = 0;
  int64_t rank = 0;
  int64_t late_rank = 0;
  int64_t cause_rank = 0;
  int64_t wait_ns = 0;
  TUTTI_ROW(WaitCauseRow, "wait_cause", step, rank, late_rank, cause_rank, wait_ns)
};

struct GraphNodeRow {
  int64_t rank = 0;
  int64_t graph_node_id = 0;
  std::string name = {};
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t p50_ns = 0;
  int64_t max_ns = 0;
  TUTTI_ROW(GraphNodeRow, "graph_node", rank, graph_node_id, name, count, total_ns, p50_ns, max_ns)
};

struct LaunchStatsRow {
  int64_t rank = 0;
  std::string name = {};
  int64_t calls = 0;
  int64_t work = 0;
  int64_t host_ns = 0;
  int64_t p50_ns = 0;
  int64_t p99_ns = 0;
  int64_t p50_delay_ns = 0;
  int64_t p99_delay_ns = 0;
  int64_t p50_queue_ns = 0;
  int64_t p99_queue_ns = 0;
  int64_t skewed = 0;
  int64_t max_skew_ns = 0;
  TUTTI_ROW(LaunchStatsRow, "launch_stats", rank, name, calls, work, host_ns, p50_ns, p99_ns,
            p50_delay_ns, p99_delay_ns, p50_queue_ns, p99_queue_ns, skewed, max_skew_ns)
};

struct StreamQueueRow {
  int64_t rank = 0;
  int64_t device_id = 0;
  int64_t stream_id = 0;
  int64_t launches = 0;
  int64_t before_capture = 0;
  int64_t launch_unknown = 0;
  int64_t max_length = 0;
  double mean_length = 0;
  int64_t p50_length = 0;
  int64_t full_ns = 0;
  TUTTI_ROW(StreamQueueRow, "stream_queue", rank, device_id, stream_id, launches, before_capture,
            launch_unknown, max_length, mean_length, p50_length, full_ns)
};

struct QueueTimelineRow {
  int64_t rank = 0;
  int64_t device_id = 0;
  int64_t stream_id = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t max_length = 0;
  TUTTI_ROW(QueueTimelineRow, "queue_timeline", rank, device_id, stream_id, begin_ns, end_ns,
            max_length)
};

struct CopyStatsRow {
  int64_t rank = 0;
  int64_t device_id = 0;
  std::string direction = {};
  std::string source = {};
  std::string destination = {};
  int64_t count = 0;
  int64_t in_steps_count = 0;
  int64_t bytes = 0;
  int64_t total_ns = 0;
  int64_t exposed_ns = 0;
  int64_t p50_bytes = 0;
  std::optional<double> gb_per_s = {};
  std::optional<double> min_gb_per_s = {};
  std::optional<double> p50_gb_per_s = {};
  std::optional<double> max_gb_per_s = {};
  TUTTI_ROW(CopyStatsRow, "copy_stats", rank, device_id, direction, source, destination, count,
            in_steps_count, bytes, total_ns, exposed_ns, p50_bytes, gb_per_s, min_gb_per_s,
            p50_gb_per_s, max_gb_per_s)
};

struct StepBatchRow {
  int64_t rank = 0;
  int64_t step = 0;
  std::optional<int64_t> samples = {};
  std::optional<int64_t> tokens = {};
  TUTTI_ROW(StepBatchRow, "step_batch", rank, step, samples, tokens)
};

struct StepLatenessRow {
  int64_t step = 0;
  int64_t rank = 0;
  int64_t late_ns = 0;
  int64_t others_wait_ns = 0;
  int64_t cost_ns = 0;
  TUTTI_ROW(StepLatenessRow, "step_lateness", step, rank, late_ns, others_wait_ns, cost_ns)
};

struct StragglerRow {
  int64_t rank = 0;
  int64_t collectives = 0;
  int64_t times_last = 0;
  int64_t own_wait_ns = 0;
  int64_t caused_wait_ns = 0;
  int64_t cost_ns = 0;
  int64_t net_cost_ns = 0;
  int64_t noise_ns = 0;
  std::optional<std::string> cause = {};
  std::optional<int64_t> cause_ns = {};
  TUTTI_ROW(StragglerRow, "straggler", rank, collectives, times_last, own_wait_ns, caused_wait_ns,
            cost_ns, net_cost_ns, noise_ns, cause, cause_ns)
};

struct RunMetricRow {
  std::string name = {};
  std::optional<Value> value = {};
  TUTTI_ROW(RunMetricRow, "run_metric", name, value)
};

struct PartSummaryRow {
  int64_t ordinal = 0;
  std::string part = {};
  int64_t total_ns = 0;
  std::optional<int64_t> median_ns = {};
  TUTTI_ROW(PartSummaryRow, "part_summary", ordinal, part, total_ns, median_ns)
};

struct RankPartSummaryRow {
  int64_t rank = 0;
  std::string part = {};
  int64_t total_ns = 0;
  int64_t median_ns = 0;
  TUTTI_ROW(RankPartSummaryRow, "rank_part_summary", rank, part, total_ns, median_ns)
};

struct RankSummaryRow {
  int64_t rank = 0;
  int64_t steps = 0;
  std::optional<int64_t> step_median_ns = {};
  std::optional<int64_t> step_p99_ns = {};
  int64_t step_total_ns = 0;
  int64_t comm_ns = 0;
  int64_t exposed_ns = 0;
  std::optional<int64_t> samples = {};
  std::optional<int64_t> tokens = {};
  TUTTI_ROW(RankSummaryRow, "rank_summary", rank, steps, step_median_ns, step_p99_ns, step_total_ns,
            comm_ns, exposed_ns, samples, tokens)
};

struct CollectiveSummaryRow {
  int64_t communicator_id = 0;
  std::string op = {};
  std::string dtype = {};
  int64_t bytes = 0;
  int64_t count = 0;
  int64_t complete = 0;
  int64_t wait_ns = 0;
  int64_t transfer_ns = 0;
  std::optional<int64_t> p50_wait_ns = {};
  std::optional<int64_t> p50_skew_ns = {};
  std::optional<int64_t> p50_transfer_ns = {};
  std::optional<int64_t> p99_transfer_ns = {};
  std::optional<int64_t> p50_duration_ns = {};
  std::optional<double> p50_busbw_gb_per_s = {};
  int64_t is_bw_raw = 0;
  TUTTI_ROW(CollectiveSummaryRow, "collective_summary", communicator_id, op, dtype, bytes, count,
            complete, wait_ns, transfer_ns, p50_wait_ns, p50_skew_ns, p50_transfer_ns,
            p99_transfer_ns, p50_duration_ns, p50_busbw_gb_per_s, is_bw_raw)
};

struct CallStatsRow {
  int64_t rank = 0;
  std::string name = {};
  int64_t blocks = 0;
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t in_steps_count = 0;
  int64_t in_steps_ns = 0;
  std::optional<int64_t> longest_id = {};
  TUTTI_ROW(CallStatsRow, "call_stats", rank, name, blocks, count, total_ns, in_steps_count,
            in_steps_ns, longest_id)
};

struct CommFitRow {
  int64_t communicator_id = 0;
  std::string op = {};
  int64_t collectives = 0;
  int64_t sizes = 0;
  int64_t latency_ns = 0;
  std::optional<double> bus_gb_per_s = {};
  double error_frac = 0;
  TUTTI_ROW(CommFitRow, "comm_fit", communicator_id, op, collectives, sizes, latency_ns,
            bus_gb_per_s, error_frac)
};

struct ParallelGroupRow {
  int64_t communicator_id = 0;
  std::string kind = {};
  std::string reason = {};
  TUTTI_ROW(ParallelGroupRow, "parallel_group", communicator_id, kind, reason)
};

struct PipelineStepRow {
  int64_t step = 0;
  int64_t rank = 0;
  int64_t stage = 0;
  int64_t stages = 0;
  int64_t microbatches = 0;
  int64_t step_ns = 0;
  int64_t compute_ns = 0;
  int64_t bubble_ns = 0;
  TUTTI_ROW(PipelineStepRow, "pipeline_step", step, rank, stage, stages, microbatches, step_ns,
            compute_ns, bubble_ns)
};

struct StepOutlierRow {
  int64_t step = 0;
  int64_t period_ns = 0;
  int64_t excess_ns = 0;
  int64_t rank = 0;
  std::string part = {};
  int64_t part_ns = 0;
  TUTTI_ROW(StepOutlierRow, "step_outlier", step, period_ns, excess_ns, rank, part, part_ns)
};

struct MemoryTrendRow {
  int64_t rank = 0;
  std::string device_type = {};
  int64_t device_id = 0;
  int64_t steps = 0;
  int64_t first_bytes = 0;
  int64_t last_bytes = 0;
  double bytes_per_step = 0;
  double rising_frac = 0;
  std::optional<int64_t> capacity_bytes = {};
  TUTTI_ROW(MemoryTrendRow, "memory_trend", rank, device_type, device_id, steps, first_bytes,
            last_bytes, bytes_per_step, rising_frac, capacity_bytes)
};

struct CriticalPathRow {
  int64_t step = 0;
  int64_t rank = 0;
  std::string part = {};
  int64_t total_ns = 0;
  TUTTI_ROW(CriticalPathRow, "critical_path", step, rank, part, total_ns)
};

struct CriticalPathNameRow {
  int64_t rank = 0;
  std::string part = {};
  std::string name = {};
  int64_t total_ns = 0;
  int64_t count = 0;
  TUTTI_ROW(CriticalPathNameRow, "critical_path_name", rank, part, name, total_ns, count)
};

struct CriticalPathPieceRow {
  int64_t ordinal = 0;
  int64_t step = 0;
  int64_t rank = 0;
  std::string part = {};
  std::string name = {};
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  TUTTI_ROW(CriticalPathPieceRow, "critical_path_piece", ordinal, step, rank, part, name, begin_ns,
            end_ns)
};

struct WhatIfRow {
  std::string scenario = {};
  int64_t step_ns = 0;
  int64_t saved_ns = 0;
  TUTTI_ROW(WhatIfRow, "what_if", scenario, step_ns, saved_ns)
};

struct FindingRow {
  int64_t id = 0;
  std::string kind = {};
  std::string title = {};
  std::optional<int64_t> cost_ns = {};
  std::optional<int64_t> replayed_ns = {};
  std::optional<double> share = {};
  std::string confidence = {};
  std::string reason = {};
  std::optional<std::string> cause = {};
  std::optional<int64_t> first_step = {};
  std::optional<int64_t> last_step = {};
  int64_t steps_seen = 0;
  std::string formula = {};
  std::string advice = {};
  TUTTI_ROW(FindingRow, "finding", id, kind, title, cost_ns, replayed_ns, share, confidence, reason,
            cause, first_step, last_step, steps_seen, formula, advice)
};

struct FindingRankRow {
  int64_t finding_id = 0;
  int64_t rank = 0;
  TUTTI_ROW(FindingRankRow, "finding_rank", finding_id, rank)
};

struct FindingEvidenceRow {
  int64_t finding_id = 0;
  int64_t ordinal = 0;
  std::optional<int64_t> rank = {};
  std::string source = {};
  std::optional<int64_t> row_id = {};
  std::optional<int64_t> begin_ns = {};
  std::optional<int64_t> end_ns = {};
  std::string note = {};
  TUTTI_ROW(FindingEvidenceRow, "finding_evidence", finding_id, ordinal, rank, source, row_id,
            begin_ns, end_ns, note)
};

// Every derived table, in the order of derived.sql.
using AllDerivedRows =
    std::tuple<RunMetaRow, InputFileRow, RankRow, DataIssueRow, PassRunRow, LaneRow, RunStepRow,
               StepWindowRow, StepBreakdownRow, StepWaitForRow, StepOverlapRow, MedianStepSpanRow,
               RunCommunicatorRow, RunCommunicatorMemberRow, CollectiveRow, CollectiveCallRow,
               StepBackwardRow, StepInputRow, LoaderRow, MemoryPeakRow, MemoryTimelineRow,
               MemoryHolderRow, MemoryStateRow, OpStatsRow, DeviceSummaryRow, StepDeviceRow,
               StreamIdleRow, StreamConcurrencyRow, StepCategoryRow, StepKernelRow,
               StepKernelUseRow, StepFlopRow, GraphNodeRow, LaunchStatsRow, StreamQueueRow,
               QueueTimelineRow, CopyStatsRow, StepBatchRow, StepLatenessRow, StragglerRow,
               WaitCauseRow, RunMetricRow, PartSummaryRow, RankPartSummaryRow, RankSummaryRow,
               CollectiveSummaryRow, CallStatsRow, CommFitRow, ParallelGroupRow, PipelineStepRow,
               StepOutlierRow, MemoryTrendRow, CriticalPathRow, CriticalPathNameRow,
               CriticalPathPieceRow, WhatIfRow, FindingRow, FindingRankRow, FindingEvidenceRow>;

}  // namespace tutti::schema
