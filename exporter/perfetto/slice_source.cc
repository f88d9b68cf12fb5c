#include "exporter/perfetto/slice_source.h"

#include <utility>

#include "exporter/perfetto/slice_nesting.h"

namespace tutti::exporter::perfetto {
namespace {

// Columns 0 to 7 of every source: lane (2), begin, end, name, category, arrow out, arrow in.
constexpr int kAnnotationsFrom = 8;

std::string InOrder(const std::string& lane) {
  return " ORDER BY " + lane + ", begin_ns, coalesce(end_ns, " +
         std::to_string(SliceNesting::kNever) + ") DESC, id";
}

std::string Text(const std::string& id) {
  return "(SELECT text FROM string WHERE id = " + id + ")";
}

constexpr const char* kCopyName =
    "'Memcpy ' || copy_kind || CASE WHEN source_kind IS NOT NULL AND destination_kind IS NOT NULL"
    " THEN ' (' || source_kind || ' -> ' || destination_kind || ')' ELSE '' END";
constexpr const char* kGrid =
    "'[' || grid_x || ',' || grid_y || ',' || grid_z || ']' AS grid,"
    " '[' || block_x || ',' || block_y || ',' || block_z || ']' AS block";

std::string DeviceWork(const std::string& table, const std::string& name,
                       const std::string& category, const std::string& annotations) {
  // Of several pieces of work of one launch (a graph), the arrow leads to the first.
  return "SELECT device_id, stream_id, begin_ns, end_ns, " + name + ", '" + category +
         "', NULL, key, " + annotations + " FROM " + table +
         " LEFT JOIN launch_flow ON key = correlation_id AND work = '" + table +
         " ' || id WHERE begin_ns IS NOT NULL" + InOrder("device_id, stream_id");
}

}  // namespace

SliceCursor::SliceCursor(schema::Statement rows, const SliceSource& source)
    : rows_(std::move(rows)), is_mark_(source.is_mark), flow_(source.flow) {
  for (int column = kAnnotationsFrom; column < rows_.column_count(); ++column) {
    names_.push_back(rows_.column_name(column));
  }
  slice_.annotations.resize(names_.size());
}

Result<SliceCursor> SliceCursor::Open(schema::Database& database, const SliceSource& source,
                                      std::optional<int64_t> parameter) {
  TUTTI_ASSIGN_OR_RETURN(schema::Statement rows, database.Prepare(source.sql));
  if (parameter) TUTTI_RETURN_IF_ERROR(rows.Bind(1, *parameter));
  SliceCursor cursor(std::move(rows), source);
  TUTTI_RETURN_IF_ERROR(cursor.Next());
  return cursor;
}

Status SliceCursor::Next() {
  TUTTI_ASSIGN_OR_RETURN(has_slice_, rows_.Step());
  if (!has_slice_) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(slice_.lane.first, rows_.Get<int64_t>(0));
  TUTTI_ASSIGN_OR_RETURN(slice_.lane.second, rows_.Get<int64_t>(1));
  TUTTI_ASSIGN_OR_RETURN(slice_.begin_ns, rows_.Get<int64_t>(2));
  TUTTI_ASSIGN_OR_RETURN(const auto end_ns, rows_.Get<std::optional<int64_t>>(3));
  slice_.end_ns = end_ns.value_or(SliceNesting::kNever);
  slice_.name = rows_.GetAny(4);
  TUTTI_ASSIGN_OR_RETURN(const auto category, rows_.Get<std::optional<std::string>>(5));
  slice_.category = category.value_or("");
  TUTTI_ASSIGN_OR_RETURN(slice_.flow_out, rows_.Get<std::optional<int64_t>>(6));
  TUTTI_ASSIGN_OR_RETURN(slice_.flow_in, rows_.Get<std::optional<int64_t>>(7));
  for (size_t i = 0; i < names_.size(); ++i) {
    slice_.annotations[i] = rows_.GetAny(kAnnotationsFrom + static_cast<int>(i));
  }
  return OkStatus();
}

// A launch is the first call with a correlation id that some timed work has too. A backward
// function follows the last forward operator that has its sequence number on the thread that
// it names, or what an arrow of an imported file says.
Status AddFlowViews(schema::Database& trace) {
  TUTTI_RETURN_IF_ERROR(trace.AddView(
      "launch_flow",
      "SELECT w.key, w.work, c.call_id FROM"
      " (SELECT correlation_id AS key, min(begin_ns), work FROM"
      "   (SELECT correlation_id, begin_ns, 'kernel ' || id AS work FROM kernel UNION ALL"
      "    SELECT correlation_id, begin_ns, 'memcpy ' || id FROM memcpy UNION ALL"
      "    SELECT correlation_id, begin_ns, 'memset ' || id FROM memset)"
      "   WHERE correlation_id <> 0 AND begin_ns IS NOT NULL GROUP BY correlation_id) AS w"
      " JOIN (SELECT correlation_id AS key, min(begin_ns), id AS call_id FROM api_call"
      "   WHERE correlation_id <> 0 GROUP BY correlation_id) AS c ON c.key = w.key"));
  TUTTI_RETURN_IF_ERROR(trace.AddView(
      "backward_link",
      "SELECT f.op_id AS forward_op, b.op_id AS backward_op FROM"
      " (SELECT forward_tid AS tid, sequence_nr AS number, min(begin_ns) AS begin_ns, id AS op_id"
      "   FROM cpu_op WHERE scope = 1 AND sequence_nr >= 0 AND forward_tid IS NOT NULL"
      "   GROUP BY 1, 2) AS b"
      " JOIN (SELECT torch_tid AS tid, sequence_nr AS number, max(begin_ns) AS begin_ns,"
      "   id AS op_id FROM cpu_op WHERE scope = 0 AND sequence_nr >= 0 AND torch_tid IS NOT NULL"
      "   AND coalesce(forward_tid, 0) = 0 GROUP BY 1, 2) AS f"
      " ON f.tid = b.tid AND f.number = b.number AND f.begin_ns <= b.begin_ns"
      " UNION ALL"
      " SELECT max(f.id), b.op_id FROM (SELECT l.id AS link_id, l.begin_tid, l.begin_ns,"
      "   max(o.id) AS op_id FROM flow AS l JOIN cpu_op AS o"
      "   ON o.tid = l.end_tid AND o.begin_ns = l.end_ns"
      "   WHERE l.kind = 'forward_backward' GROUP BY l.id) AS b"
      " JOIN cpu_op AS f ON f.tid = b.begin_tid AND f.begin_ns = b.begin_ns GROUP BY b.link_id"));
  // At most one arrow starts at an operator and at most one ends there.
  return trace.AddView("backward_flow",
                       "SELECT min(forward_op) AS forward_op, backward_op FROM"
                       " (SELECT forward_op, min(backward_op) AS backward_op FROM backward_link"
                       "  GROUP BY forward_op) GROUP BY backward_op");
}

const std::vector<SliceSource>& ThreadSources() {
  static const std::vector<SliceSource> sources = {
      {"SELECT tid, 0, begin_ns, end_ns, name_id, 'python_function', NULL, NULL,"
       " python_id AS \"python id\", parent_python_id AS \"python parent id\" FROM python_call" +
       InOrder("tid")},
      {"SELECT tid, 0, begin_ns, end_ns, phase, 'phase', NULL, NULL, origin FROM phase" +
       InOrder("tid")},
      {"SELECT tid, 0, begin_ns, end_ns, 'wait for data', 'data_wait', NULL, NULL, " +
       Text("loader_id") + " AS loader, queue_depth AS \"queue depth\", origin FROM data_wait" +
       InOrder("tid")},
      {"SELECT tid, 0, begin_ns, end_ns, name_id, CASE domain_id WHEN 0 THEN 'range' ELSE " +
       Text("domain_id") + " END, NULL, NULL, payload FROM range WHERE kind = 'push_pop'" +
       InOrder("tid")},
      {"SELECT o.tid, 0, o.begin_ns, o.end_ns, o.name_id, CASE o.scope WHEN 1 THEN"
       " 'backward_function' WHEN 7 THEN 'user_scope' ELSE 'cpu_op' END, out.forward_op,"
       " into_.forward_op, o.sequence_nr AS \"sequence number\", " +
           std::string("CASE WHEN o.shapes_id <> 0 THEN ") + Text("o.shapes_id") +
           " END AS shapes, o.external_id AS \"external id\", o.forward_tid AS"
           " \"forward thread\" FROM cpu_op AS o"
           " LEFT JOIN backward_flow AS out ON out.forward_op = o.id"
           " LEFT JOIN backward_flow AS into_ ON into_.backward_op = o.id"
           " ORDER BY o.tid, o.begin_ns, coalesce(o.end_ns, 9223372036854775807) DESC, o.id",
       false, FlowKind::kBackward},
      {"SELECT tid, 0, begin_ns, end_ns, name_id, CASE api WHEN 'driver' THEN 'cuda_driver' ELSE"
       " 'cuda_runtime' END, key, NULL, correlation_id AS correlation, return_value AS"
       " \"return value\", external_id AS \"external id\" FROM api_call"
       " LEFT JOIN launch_flow ON call_id = id" +
           InOrder("tid"),
       false, FlowKind::kLaunch},
      {"SELECT tid, 0, begin_ns, end_ns, kind_id, 'overhead', NULL, NULL FROM overhead"
       " WHERE tid IS NOT NULL" +
       InOrder("tid")},
      {"SELECT tid, 0, begin_ns, begin_ns AS end_ns, name_id, CASE domain_id WHEN 0 THEN 'range'"
       " ELSE " +
           Text("domain_id") +
           " END, NULL, NULL, payload FROM range WHERE kind = 'mark' ORDER BY tid, begin_ns, id",
       true},
      {"SELECT tid, 0, time_ns, time_ns, 'out of memory', 'memory', NULL, NULL,"
       " device_type AS device, device_id AS \"device id\", delta_bytes AS bytes FROM memory_event"
       " WHERE is_oom = 1 AND tid IS NOT NULL ORDER BY tid, time_ns, id",
       true},
  };
  return sources;
}

const std::vector<SliceSource>& StreamSources() {
  static const std::vector<SliceSource> sources = {
      {"SELECT device_id, stream_id, begin_ns, end_ns, name_id, 'gpu_range', NULL, NULL"
       " FROM gpu_range" +
       InOrder("device_id, stream_id")},
      {DeviceWork("kernel", "name_id", "kernel",
                  std::string("correlation_id AS correlation, ") + kGrid +
                      ", registers_per_thread AS \"registers per thread\","
                      " static_shared_bytes AS \"static shared bytes\","
                      " dynamic_shared_bytes AS \"dynamic shared bytes\","
                      " graph_node_id AS \"graph node\", external_id AS \"external id\""),
       false, FlowKind::kLaunch},
      {DeviceWork("memcpy", kCopyName, "memcpy",
                  "correlation_id AS correlation, bytes, is_async AS \"asynchronous\","
                  " peer_device_id AS peer, graph_node_id AS \"graph node\""),
       false, FlowKind::kLaunch},
      {DeviceWork("memset", "'Memset'", "memset",
                  "correlation_id AS correlation, bytes, graph_node_id AS \"graph node\""),
       false, FlowKind::kLaunch},
  };
  return sources;
}

const std::vector<SliceSource>& SyncSources() {
  static const std::vector<SliceSource> sources = {
      {"SELECT coalesce(device_id, -1), 0, begin_ns, end_ns, 'wait for ' || kind, 'sync', NULL,"
       " NULL, stream_id AS stream, event_id AS event, correlation_id AS correlation FROM sync"
       " WHERE begin_ns IS NOT NULL" +
       InOrder("coalesce(device_id, -1)")}};
  return sources;
}

const std::vector<SliceSource>& StepSources() {
  static const std::vector<SliceSource> sources = {
      {"SELECT 0, 0, begin_ns, end_ns, 'step ' || number, 'step', NULL, NULL, number, origin,"
       " tid AS thread FROM step" +
       InOrder("1")}};
  return sources;
}

const std::vector<SliceSource>& LooseRangeSources() {
  static const std::vector<SliceSource> sources = {
      {"SELECT 0, 0, begin_ns, end_ns, name_id, CASE domain_id WHEN 0 THEN 'range' ELSE " +
       Text("domain_id") +
       " END, NULL, NULL, tid AS thread, end_tid AS \"end thread\", payload"
       " FROM range WHERE kind = 'start_end'" +
       InOrder("1")}};
  return sources;
}

const std::vector<SliceSource>& OverheadSources() {
  static const std::vector<SliceSource> sources = {
      {"SELECT 0, 0, begin_ns, end_ns, kind_id, 'overhead', NULL, NULL, device_id AS device"
       " FROM overhead WHERE tid IS NULL" +
       InOrder("1")}};
  return sources;
}

const std::vector<SliceSource>& IssueSources() {
  static const std::vector<SliceSource> sources = {
      {"SELECT 0, 0, begin_ns, coalesce(end_ns, begin_ns) AS end_ns, name, severity, NULL, NULL,"
       " count, detail, advice, source FROM trace_stat WHERE begin_ns IS NOT NULL"
       " AND severity IN ('data_loss', 'error')" +
       InOrder("1")}};
  return sources;
}

const std::vector<SliceSource>& CollectiveSources() {
  static const std::vector<SliceSource> sources = {
      {"SELECT coalesce(c.communicator_id, -1), 0, k.arrival_ns, k.end_ns, c.op, 'collective',"
       " NULL, NULL, c.id AS \"collective id\", c.sequence, c.bytes, c.dtype, c.state,"
       " k.wait_ns AS \"wait ns\", k.transfer_ns AS \"transfer ns\", c.skew_ns AS \"skew ns\","
       " c.last_rank AS \"last rank\", c.busbw_gb_per_s AS \"bus bandwidth GB/s\", k.step"
       " FROM collective_call AS k JOIN collective AS c ON c.id = k.collective_id"
       " WHERE k.rank = ?1 AND k.arrival_ns IS NOT NULL"
       " ORDER BY 1, k.arrival_ns, coalesce(k.end_ns, 9223372036854775807) DESC, c.id"}};
  return sources;
}

}  // namespace tutti::exporter::perfetto
