#include "analyzer/input/rank_trace.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/input/limits.h"
#include "analyzer/metrics/communicators.h"
#include "schema/reader.h"
#include "schema/trace_file.h"

namespace tutti::analyzer {
namespace {

// The columns that passes need of the large tables.
struct OpColumns {
  int64_t id = 0;
  int64_t tid = 0;
  int64_t name_id = 0;
  int64_t scope = 0;
  int64_t begin_ns = 0;
  std::optional<int64_t> end_ns = {};
  TUTTI_ROW(OpColumns, "cpu_op", id, tid, name_id, scope, begin_ns, end_ns)
};
struct KernelColumns {
  int64_t id = 0;
  int64_t device_id = 0;
  int64_t stream_id = 0;
  int64_t name_id = 0;
  std::optional<int64_t> begin_ns = {};
  std::optional<int64_t> end_ns = {};
  std::optional<int64_t> correlation_id = {};
  std::optional<int64_t> graph_node_id = {};
  TUTTI_ROW(KernelColumns, "kernel", id, device_id, stream_id, name_id, begin_ns, end_ns,
            correlation_id, graph_node_id)
};
struct ShapeColumns {
  int64_t id = 0;
  std::optional<int64_t> grid_x = {};
  std::optional<int64_t> grid_y = {};
  std::optional<int64_t> grid_z = {};
  std::optional<int64_t> block_x = {};
  std::optional<int64_t> block_y = {};
  std::optional<int64_t> block_z = {};
  std::optional<int64_t> registers_per_thread = {};
  std::optional<int64_t> static_shared_bytes = {};
  std::optional<int64_t> dynamic_shared_bytes = {};
  TUTTI_ROW(ShapeColumns, "kernel", id, grid_x, grid_y, grid_z, block_x, block_y, block_z,
            registers_per_thread, static_shared_bytes, dynamic_shared_bytes)
};
struct ShapedOpColumns {
  int64_t name_id = 0;
  int64_t begin_ns = 0;
  int64_t shapes_id = 0;
  TUTTI_ROW(ShapedOpColumns, "cpu_op", name_id, begin_ns, shapes_id)
};
struct CopyColumns {
  int64_t id = 0;
  int64_t device_id = 0;
  int64_t stream_id = 0;
  std::optional<int64_t> begin_ns = {};
  std::optional<int64_t> end_ns = {};
  int64_t bytes = 0;
  std::string copy_kind = {};
  std::optional<std::string> source_kind = {};
  std::optional<std::string> destination_kind = {};
  std::optional<int64_t> correlation_id = {};
  std::optional<int64_t> graph_node_id = {};
  TUTTI_ROW(CopyColumns, "memcpy", id, device_id, stream_id, begin_ns, end_ns, bytes, copy_kind,
            source_kind, destination_kind, correlation_id, graph_node_id)
};
struct FillColumns {
  int64_t id = 0;
  int64_t device_id = 0;
  int64_t stream_id = 0;
  std::optional<int64_t> begin_ns = {};
  std::optional<int64_t> end_ns = {};
  int64_t bytes = 0;
  std::optional<int64_t> correlation_id = {};
  std::optional<int64_t> graph_node_id = {};
  TUTTI_ROW(FillColumns, "memset", id, device_id, stream_id, begin_ns, end_ns, bytes,
            correlation_id, graph_node_id)
};
struct ApiColumns {
  int64_t id = 0;
  int64_t tid = 0;
  int64_t name_id = 0;
  int64_t begin_ns = 0;
  std::optional<int64_t> end_ns = {};
  int64_t correlation_id = 0;
  TUTTI_ROW(ApiColumns, "api_call", id, tid, name_id, begin_ns, end_ns, correlation_id)
};
struct MemoryColumns {
  int64_t time_ns = 0;
  std::string device_type = {};
  std::optional<int64_t> device_id = {};
  std::optional<int64_t> delta_bytes = {};
  std::optional<int64_t> allocated_bytes = {};
  std::optional<int64_t> reserved_bytes = {};
  int64_t is_oom = 0;
  int64_t address = 0;
  int64_t stack_id = 0;
  TUTTI_ROW(MemoryColumns, "memory_event", time_ns, device_type, device_id, delta_bytes,
            allocated_bytes, reserved_bytes, is_oom, address, stack_id)
};

bool IsPossible(int64_t time_ns) { return time_ns > -kLatestTimeNs && time_ns < kLatestTimeNs; }

// Replaces values that can't be; returns how many there were.
template <typename Row>
int64_t ReplaceBadValues(Row&) {
  return 0;
}
int64_t ReplaceBadValues(schema::CommunicatorRow& row) {
  int64_t bad = EmptyUnlessIn(row.group_size, 1, kMostRanks) +
                EmptyUnlessIn(row.group_rank, 0, kMostRanks - 1);
  const std::vector<int64_t> ranks = ParseRankList(row.global_ranks.value_or(""));
  if (!ranks.empty() && *std::max_element(ranks.begin(), ranks.end()) >= kMostRanks) {
    row.global_ranks.reset();
    ++bad;
  }
  return bad;
}
int64_t ReplaceBadValues(schema::BatchRow& row) {
  return EmptyUnlessIn(row.samples, 0, kMostCount) + EmptyUnlessIn(row.tokens, 0, kMostCount);
}
int64_t ReplaceBadValues(schema::DataWaitRow& row) {
  return EmptyUnlessIn(row.queue_depth, 0, kMostCount);
}
int64_t ReplaceBadValues(schema::TraceStatRow& row) {
  return ReplaceUnlessIn(row.count, 0, kMostCount, 0);
}
int64_t ReplaceBadValues(schema::CollectiveSourceRow& row) {
  return EmptyUnlessIn(row.bytes, 0, kMostBytes) + EmptyUnlessIn(row.peer, 0, kMostRanks - 1) +
         EmptyUnlessIn(row.root, 0, kMostRanks - 1);
}
int64_t ReplaceBadValues(schema::MemorySegmentRow& row) {
  return ReplaceUnlessIn(row.bytes, 0, kMostBytes, 0);
}
int64_t ReplaceBadValues(schema::DeviceRow& row) {
  return EmptyUnlessIn(row.memory_bytes, 0, kMostBytes);
}
int64_t ReplaceBadValues(schema::MemoryBlockRow& row) {
  return ReplaceUnlessIn(row.bytes, 0, kMostBytes, 0);
}
int64_t ReplaceBadValues(MemoryEvent& event) {
  return EmptyUnlessIn(event.delta_bytes, -kMostBytes, kMostBytes) +
         EmptyUnlessIn(event.allocated_bytes, -kMostBytes, kMostBytes) +
         EmptyUnlessIn(event.reserved_bytes, 0, kMostBytes);
}

template <typename Event>
bool BeginsBefore(const Event& a, const Event& b) {
  return std::tie(a.begin_ns, a.id) < std::tie(b.begin_ns, b.id);
}

template <typename Row>
constexpr bool kHasInterval = requires(Row row) {
  row.begin_ns;
  row.end_ns;
};

// Makes room for about as many more rows as `table` has, if it isn't huge: a vector that grows by
// itself needs up to three times as much. Does not count the rows one by one.
template <typename Row>
Status ReserveFor(schema::Database& database, const std::string& table, std::vector<Row>& rows) {
  TUTTI_ASSIGN_OR_RETURN(const auto first,
                         database.QueryOne<std::optional<int64_t>>("SELECT min(id) FROM " + table));
  TUTTI_ASSIGN_OR_RETURN(const auto last,
                         database.QueryOne<std::optional<int64_t>>("SELECT max(id) FROM " + table));
  // Ids are dense in files of ours; in others they may be anything.
  constexpr int64_t kMostRows = (int64_t{256} << 20) / sizeof(Row);
  int64_t count = 0;
  if (!first || !last || __builtin_sub_overflow(*last, *first, &count)) return OkStatus();
  rows.reserve(rows.size() + static_cast<size_t>(std::min(count, kMostRows - 1)) + 1);
  return OkStatus();
}

}  // namespace

RankTrace::RankTrace(schema::Database database, Options options)
    : database_(std::move(database)), options_(std::move(options)) {}

Result<std::unique_ptr<RankTrace>> RankTrace::Open(const std::string& path, Options options) {
  // A damaged page is found when it is read: each is read anyway.
  TUTTI_ASSIGN_OR_RETURN(schema::Database database,
                         schema::OpenRankFile(path, {.quick_check = false}));
  std::unique_ptr<RankTrace> trace(new RankTrace(std::move(database), std::move(options)));
  TUTTI_RETURN_IF_ERROR(trace->ReadStrings());
  return trace;
}

Status RankTrace::ReadStrings() {
  return schema::ForEach<schema::StringRow>(database_, "", [&](const schema::StringRow& row) {
    resident_bytes_ += row.text.size() + sizeof(row) * 2;
    strings_.emplace(row.id, row.text);
  });
}

Status RankTrace::ReadEvents() {
  TUTTI_RETURN_IF_ERROR(Ops().status());
  TUTTI_RETURN_IF_ERROR(DeviceEvents().status());
  TUTTI_RETURN_IF_ERROR(ApiCalls().status());
  TUTTI_RETURN_IF_ERROR(MemoryEvents().status());
  return Collectives().status();
}

const std::string& RankTrace::Text(int64_t id) const {
  static const std::string kNone;
  const auto found = strings_.find(id);
  return found == strings_.end() ? kNone : found->second;
}

bool RankTrace::Align(int64_t& begin_ns, int64_t& end_ns) {
  if (!IsPossible(begin_ns) || !IsPossible(end_ns) || end_ns < begin_ns) {
    ++counted_->rows;
    return false;
  }
  begin_ns += options_.clock_offset_ns;
  end_ns += options_.clock_offset_ns;
  return true;
}

bool RankTrace::Align(int64_t& begin_ns, std::optional<int64_t>& end_ns) {
  int64_t end = end_ns.value_or(begin_ns);
  if (!Align(begin_ns, end)) return false;
  if (end_ns) end_ns = end;
  return true;
}

bool RankTrace::AlignInside(int64_t& begin_ns, int64_t& end_ns) {
  if (!Align(begin_ns, end_ns)) return false;
  if (begin_ns >= options_.begin_ns && end_ns <= options_.end_ns) return true;
  ++counted_->rows;
  return false;
}

template <typename Row, typename Reader>
Result<std::span<const Row>> RankTrace::Once(Table<Row>& table, Reader reader) {
  if (!table.is_read) {
    // Reading one table may read another.
    BadCounts* const outer = std::exchange(counted_, &bad_[table.name]);
    const Status status = reader();
    counted_ = outer;
    if (!status.ok()) {
      failed_ = true;
      return status;
    }
    table.is_read = true;
    resident_bytes_ += table.rows.capacity() * sizeof(Row);
  }
  return std::span<const Row>(table.rows);
}

Status RankTrace::ReadOps() {
  std::vector<OpEvent>& ops = ops_.rows;
  TUTTI_RETURN_IF_ERROR(ReserveFor(database_, "cpu_op", ops));
  TUTTI_RETURN_IF_ERROR(schema::ForEach<OpColumns>(database_, "", [&](const OpColumns& row) {
    OpEvent op{.id = row.id,
               .tid = row.tid,
               .begin_ns = row.begin_ns,
               .end_ns = row.end_ns.value_or(
                   std::max(row.begin_ns, options_.end_ns - options_.clock_offset_ns)),
               .name_id = row.name_id,
               .scope = static_cast<int32_t>(std::clamp<int64_t>(row.scope, -1, 255)),
               .is_open = !row.end_ns};
    if (AlignInside(op.begin_ns, op.end_ns)) ops.push_back(op);
  }));
  std::sort(ops.begin(), ops.end(), [](const OpEvent& a, const OpEvent& b) {
    if (a.tid != b.tid) return a.tid < b.tid;
    if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
    // Rows come in the order of their ends: of two with equal times the outer is later.
    return a.end_ns != b.end_ns ? a.end_ns > b.end_ns : a.id > b.id;
  });
  return OkStatus();
}

void RankTrace::AddDeviceEvent(DeviceEvent event, std::optional<int64_t> begin_ns,
                               std::optional<int64_t> end_ns) {
  if (!begin_ns || !end_ns) return;  // the driver gave no time
  event.begin_ns = *begin_ns;
  event.end_ns = *end_ns;
  if (AlignInside(event.begin_ns, event.end_ns)) device_events_.rows.push_back(event);
}

Status RankTrace::ReadKernels() {
  TUTTI_RETURN_IF_ERROR(ReserveFor(database_, "kernel", device_events_.rows));
  return schema::ForEach<KernelColumns>(database_, "", [&](const KernelColumns& row) {
    DeviceEvent event;
    event.id = row.id;
    event.device_id = row.device_id;
    event.stream_id = row.stream_id;
    event.name_id = row.name_id;
    event.correlation_id = row.correlation_id.value_or(0);
    event.graph_node_id = row.graph_node_id.value_or(0);
    if (row.begin_ns && row.end_ns) {
      AddDeviceEvent(event, row.begin_ns, row.end_ns);
    } else {
      untimed_kernels_.push_back({row.id, row.name_id, event.correlation_id});
    }
  });
}

Result<std::unordered_map<int64_t, KernelShape>> RankTrace::KernelShapes() {
  // As many as a launch may have; what is beyond is damage.
  constexpr int64_t kMost = int64_t{1} << 31;
  const auto size = [](const std::optional<int64_t>& value) {
    return value && *value > 0 && *value <= kMost ? *value : 0;
  };
  const auto product = [&](int64_t x, int64_t y, int64_t z) {
    const double blocks = static_cast<double>(x) * static_cast<double>(y) * static_cast<double>(z);
    return blocks <= 1e15 ? x * y * z : 0;
  };
  std::unordered_map<int64_t, KernelShape> shapes;
  const Status status = schema::ForEach<ShapeColumns>(
      database_, "WHERE grid_x IS NOT NULL", [&](const ShapeColumns& row) {
        KernelShape& shape = shapes[row.id];
        shape.blocks = product(size(row.grid_x), size(row.grid_y), size(row.grid_z));
        shape.threads = product(size(row.block_x), size(row.block_y), size(row.block_z));
        shape.registers = size(row.registers_per_thread);
        if (row.static_shared_bytes || row.dynamic_shared_bytes) {
          shape.shared_bytes = size(row.static_shared_bytes) + size(row.dynamic_shared_bytes);
        }
      });
  failed_ = failed_ || !status.ok();
  TUTTI_RETURN_IF_ERROR(status);
  return shapes;
}

Result<std::vector<ShapedOp>> RankTrace::ShapedOps() {
  std::vector<ShapedOp> ops;
  const Status status = schema::ForEach<ShapedOpColumns>(
      database_, "WHERE shapes_id > 0", [&](const ShapedOpColumns& row) {
        if (!IsPossible(row.begin_ns)) return;  // counted when operators were read
        ops.push_back({row.begin_ns + options_.clock_offset_ns, row.name_id, row.shapes_id});
      });
  failed_ = failed_ || !status.ok();
  TUTTI_RETURN_IF_ERROR(status);
  return ops;
}

Status RankTrace::ReadCopies() {
  std::map<CopyKind, int64_t> place_of;
  const auto event_of = [](const auto& row, DeviceEvent::Kind kind) {
    DeviceEvent event;
    event.kind = kind;
    event.role = KernelRole::kPeerCopy;
    event.id = row.id;
    event.device_id = row.device_id;
    event.stream_id = row.stream_id;
    event.correlation_id = row.correlation_id.value_or(0);
    event.graph_node_id = row.graph_node_id.value_or(0);
    event.bytes = row.bytes;
    return event;
  };
  TUTTI_RETURN_IF_ERROR(schema::ForEach<CopyColumns>(database_, "", [&](const CopyColumns& row) {
    DeviceEvent event = event_of(row, DeviceEvent::Kind::kMemcpy);
    counted_->values += ReplaceUnlessIn(event.bytes, 0, kMostBytes, 0);
    const CopyKind kind{row.copy_kind, row.source_kind.value_or(""),
                        row.destination_kind.value_or("")};
    const auto [place, is_new] = place_of.emplace(kind, static_cast<int64_t>(copy_kinds_.size()));
    if (is_new) copy_kinds_.push_back(kind);
    event.name_id = place->second;
    AddDeviceEvent(event, row.begin_ns, row.end_ns);
  }));
  return schema::ForEach<FillColumns>(database_, "", [&](const FillColumns& row) {
    DeviceEvent event = event_of(row, DeviceEvent::Kind::kMemset);
    counted_->values += ReplaceUnlessIn(event.bytes, 0, kMostBytes, 0);
    AddDeviceEvent(event, row.begin_ns, row.end_ns);
  });
}

// Sets the launch and the role of each event.
Status RankTrace::LinkDeviceEvents() {
  TUTTI_ASSIGN_OR_RETURN(const std::span<const ApiEvent> calls, ApiCalls());
  const LaunchIndex launches(calls);
  for (DeviceEvent& event : device_events_.rows) {
    event.launch = launches.Find(event.correlation_id, event.begin_ns);
  }
  for (UntimedKernel& kernel : untimed_kernels_) {
    kernel.launch = launches.Find(kernel.correlation_id, std::numeric_limits<int64_t>::max());
  }
  TUTTI_ASSIGN_OR_RETURN(const std::span<const CollectiveEvent> calls_of_collectives,
                         Collectives());
  std::vector<DeviceCollective> collectives;
  for (const CollectiveEvent& call : calls_of_collectives) {
    collectives.push_back({call.row.correlation_id.value_or(0), call.row.device_id,
                           call.row.stream_id, call.row.begin_ns});
  }
  SetRoles(device_events_.rows, collectives, options_.kernel_rules,
           [this](int64_t name_id) -> const std::string& { return Text(name_id); });
  return OkStatus();
}

Status RankTrace::ReadDeviceEvents() {
  TUTTI_RETURN_IF_ERROR(ReadKernels());
  TUTTI_RETURN_IF_ERROR(ReadCopies());
  std::vector<DeviceEvent>& events = device_events_.rows;
  std::sort(events.begin(), events.end(), [](const DeviceEvent& a, const DeviceEvent& b) {
    return std::tie(a.begin_ns, a.kind, a.id) < std::tie(b.begin_ns, b.kind, b.id);
  });
  return LinkDeviceEvents();
}

const std::string& RankTrace::NameOf(const DeviceEvent& event) const {
  static const std::string kMemset = "memset";
  if (event.kind == DeviceEvent::Kind::kKernel) return Text(event.name_id);
  return event.kind == DeviceEvent::Kind::kMemset ? kMemset : CopyKindOf(event).direction;
}

Status RankTrace::ReadApiCalls() {
  TUTTI_RETURN_IF_ERROR(ReserveFor(database_, "api_call", api_calls_.rows));
  TUTTI_RETURN_IF_ERROR(schema::ForEach<ApiColumns>(database_, "", [&](const ApiColumns& row) {
    ApiEvent call{.id = row.id,
                  .tid = row.tid,
                  .begin_ns = row.begin_ns,
                  .end_ns = row.end_ns.value_or(
                      std::max(row.begin_ns, options_.end_ns - options_.clock_offset_ns)),
                  .name_id = row.name_id,
                  .correlation_id = row.correlation_id};
    if (AlignInside(call.begin_ns, call.end_ns)) api_calls_.rows.push_back(call);
  }));
  std::sort(api_calls_.rows.begin(), api_calls_.rows.end(), BeginsBefore<ApiEvent>);
  return OkStatus();
}

Status RankTrace::ReadMemoryEvents() {
  std::vector<MemoryEvent>& events = memory_events_.rows;
  TUTTI_RETURN_IF_ERROR(ReserveFor(database_, "memory_event", events));
  TUTTI_RETURN_IF_ERROR(schema::ForEach<MemoryColumns>(database_, "", [&](const auto& row) {
    MemoryEvent event{row.time_ns,     row.device_type,     row.device_id.value_or(-1),
                      row.delta_bytes, row.allocated_bytes, row.reserved_bytes,
                      row.is_oom != 0, row.address,         row.stack_id};
    counted_->values += ReplaceBadValues(event);
    int64_t end_ns = event.time_ns;
    if (Align(event.time_ns, end_ns)) events.push_back(std::move(event));
  }));
  std::stable_sort(events.begin(), events.end(), [](const MemoryEvent& a, const MemoryEvent& b) {
    return a.time_ns < b.time_ns;
  });
  return OkStatus();
}

Status RankTrace::ReadCollectives() {
  const int64_t offset_ns = options_.clock_offset_ns;
  TUTTI_RETURN_IF_ERROR(ReserveFor(database_, "collective_source", collectives_.rows));
  return schema::ForEach<schema::CollectiveSourceRow>(
      database_, "ORDER BY id", [&](const schema::CollectiveSourceRow& row) {
        CollectiveEvent event{row, Text(row.op_id), Text(row.dtype_id)};
        counted_->values += ReplaceBadValues(event.row);
        if (row.enqueue_ns && !IsPossible(*row.enqueue_ns)) event.row.enqueue_ns.reset();
        if (event.row.enqueue_ns) *event.row.enqueue_ns += offset_ns;
        if (row.begin_ns) {
          if (!Align(*event.row.begin_ns, event.row.end_ns)) return;
        } else {
          event.row.end_ns.reset();
        }
        collectives_.rows.push_back(std::move(event));
      });
}

template <typename Row>
Status RankTrace::ReadSmall(Table<Row>& table) {
  TUTTI_RETURN_IF_ERROR(schema::ForEach<Row>(database_, "", [&](const Row& row) {
    Row aligned = row;
    counted_->values += ReplaceBadValues(aligned);
    if constexpr (requires { aligned.time_ns; }) {
      int64_t end_ns = aligned.time_ns;
      if (!Align(aligned.time_ns, end_ns)) return;
    } else if constexpr (kHasInterval<Row>) {
      if constexpr (std::is_same_v<decltype(aligned.begin_ns), int64_t>) {
        if (!Align(aligned.begin_ns, aligned.end_ns)) return;
      } else if (!aligned.begin_ns || !Align(*aligned.begin_ns, aligned.end_ns)) {
        aligned.begin_ns.reset();  // what it says holds without a time, too
        aligned.end_ns.reset();
      }
    }
    table.rows.push_back(std::move(aligned));
  }));
  if constexpr (requires(Row row) {
                  row.time_ns;
                  row.id;
                }) {
    std::sort(table.rows.begin(), table.rows.end(), [](const Row& a, const Row& b) {
      return std::tie(a.time_ns, a.id) < std::tie(b.time_ns, b.id);
    });
  } else if constexpr (kHasInterval<Row> && requires(Row row) { row.id; }) {
    std::sort(table.rows.begin(), table.rows.end(), BeginsBefore<Row>);
  }
  return OkStatus();
}

Result<std::span<const OpEvent>> RankTrace::Ops() {
  return Once(ops_, [this] { return ReadOps(); });
}
Result<std::span<const DeviceEvent>> RankTrace::DeviceEvents() {
  return Once(device_events_, [this] { return ReadDeviceEvents(); });
}
Result<std::span<const UntimedKernel>> RankTrace::UntimedKernels() {
  TUTTI_RETURN_IF_ERROR(DeviceEvents().status());
  return std::span<const UntimedKernel>(untimed_kernels_);
}
Result<std::span<const ApiEvent>> RankTrace::ApiCalls() {
  return Once(api_calls_, [this] { return ReadApiCalls(); });
}
Result<std::span<const MemoryEvent>> RankTrace::MemoryEvents() {
  return Once(memory_events_, [this] { return ReadMemoryEvents(); });
}
Result<std::span<const schema::MemorySegmentRow>> RankTrace::MemorySegments() {
  return Once(memory_segments_, [this] { return ReadSmall(memory_segments_); });
}
Result<std::span<const schema::MemoryBlockRow>> RankTrace::MemoryBlocks() {
  return Once(memory_blocks_, [this] { return ReadSmall(memory_blocks_); });
}
Result<std::span<const CollectiveEvent>> RankTrace::Collectives() {
  return Once(collectives_, [this] { return ReadCollectives(); });
}
Result<std::span<const schema::StepRow>> RankTrace::Steps() {
  return Once(steps_, [this] { return ReadSmall(steps_); });
}
Result<std::span<const schema::PhaseRow>> RankTrace::Phases() {
  return Once(phases_, [this] { return ReadSmall(phases_); });
}
Result<std::span<const schema::RangeRow>> RankTrace::Ranges() {
  return Once(ranges_, [this] { return ReadSmall(ranges_); });
}
Result<std::span<const schema::DataWaitRow>> RankTrace::DataWaits() {
  return Once(data_waits_, [this] { return ReadSmall(data_waits_); });
}
Result<std::span<const schema::BatchRow>> RankTrace::Batches() {
  return Once(batches_, [this] { return ReadSmall(batches_); });
}
Result<std::span<const schema::SyncRow>> RankTrace::Syncs() {
  return Once(syncs_, [this] { return ReadSmall(syncs_); });
}
Result<std::span<const schema::CommunicatorRow>> RankTrace::Communicators() {
  return Once(communicators_, [this] { return ReadSmall(communicators_); });
}
Result<std::span<const schema::ThreadRow>> RankTrace::Threads() {
  return Once(threads_, [this] { return ReadSmall(threads_); });
}
Result<std::span<const schema::StreamRow>> RankTrace::Streams() {
  return Once(streams_, [this] { return ReadSmall(streams_); });
}
Result<std::span<const schema::DeviceRow>> RankTrace::Devices() {
  return Once(devices_, [this] { return ReadSmall(devices_); });
}
Result<std::span<const schema::TraceStatRow>> RankTrace::Stats() {
  return Once(stats_, [this] { return ReadSmall(stats_); });
}

}  // namespace tutti::analyzer
