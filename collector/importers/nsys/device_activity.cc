#include "collector/importers/nsys/device_activity.h"

#include <array>
#include <map>
#include <tuple>

#include "collector/conventions/nccl_call.h"

namespace tutti::collector::importers::nsys {
namespace {

// Columns that every kind of work on a GPU has, first in each list of columns.
enum Common : size_t { kStart, kEnd, kPid, kDevice, kContext, kStream, kCorrelation, kOwn };
#define TUTTI_NSYS_COMMON_COLUMNS \
  "start", "end", "globalPid", "deviceId", "contextId", "streamId", "correlationId"

constexpr int64_t kNoEvent = 0xffff'ffff;  // eventId where a call waits for no event

struct DeviceEvent {
  RankOutput* rank = nullptr;
  int64_t device_id = 0;
  int64_t stream_id = 0;
  std::optional<int64_t> begin_ns = {};  // empty: untimed
  std::optional<int64_t> end_ns = {};
  std::optional<int64_t> context_id = {};
  std::optional<int64_t> correlation_id = {};
};

// What all kinds share; absent, and counted, if the row can't be used.
std::optional<DeviceEvent> Read(ImportState& state, TableCursor& row) {
  DeviceEvent event;
  event.rank = state.RankOf(row.Int(kPid));
  if (event.rank == nullptr) {
    state.Skip(row, SkipReason::kNotARank);
    return std::nullopt;
  }
  event.rank->CountEvent();
  const auto device = row.Int(kDevice);
  const auto stream = row.Int(kStream);
  if (!device || !stream) {
    state.Skip(row, SkipReason::kMissingValue, event.rank);
    return std::nullopt;
  }
  const auto start = row.Int(kStart);
  const auto end = row.Int(kEnd);
  const bool is_untimed = start == 0 && end == 0;  // the driver gave no time
  if (!is_untimed) {
    const auto interval = IntervalOf(state, row, event.rank, start, end);
    if (!interval) return std::nullopt;
    event.begin_ns = interval->begin_ns;
    event.end_ns = interval->end_ns;
  }
  event.device_id = *device;
  event.stream_id = *stream;
  event.context_id = row.Int(kContext);
  event.correlation_id = row.Int(kCorrelation);
  return event;
}

// Columns of a row that all tables of work on a GPU call the same.
template <typename Row>
Row RowOf(const DeviceEvent& event) {
  event.rank->SawStream(event.device_id, event.stream_id);
  if (event.context_id) event.rank->SawContext(*event.context_id, event.device_id);
  Row row;
  row.device_id = event.device_id;
  row.stream_id = event.stream_id;
  row.begin_ns = event.begin_ns;
  row.end_ns = event.end_ns;
  row.correlation_id = event.correlation_id;
  return row;
}

void NoteOddValues(ImportState& state, const TableCursor& row, RankOutput* rank) {
  if (row.damaged()) state.Skip(row, SkipReason::kOddValue, rank);
}

// Reads all rows of |base|, if the file has it.
template <typename Function>
Status ForEach(ImportState& state, std::string_view base,
               const std::vector<std::string_view>& columns, Function&& function,
               std::string_view suffix = "") {
  const ExportTable* table = state.database.Find(base);
  if (table == nullptr) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(TableCursor row,
                         TableCursor::Open(state.database, *table, columns, suffix));
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool more, row.Next());
    if (!more) return OkStatus();
    const auto event = Read(state, row);
    if (!event) continue;
    TUTTI_RETURN_IF_ERROR(function(row, *event));
    NoteOddValues(state, row, event->rank);
  }
}

std::optional<int64_t> ClusterSize(std::optional<int64_t> x, std::optional<int64_t> y,
                                   std::optional<int64_t> z) {
  if (x.value_or(0) <= 0 || y.value_or(0) <= 0 || z.value_or(0) <= 0) return std::nullopt;
  int64_t size = 0;
  if (__builtin_mul_overflow(*x, *y, &size) || __builtin_mul_overflow(size, *z, &size)) {
    return std::nullopt;
  }
  return size;
}

enum Kernel : size_t {
  kDemangled = kOwn,
  kShort,
  kMangled,
  kGraphNode,
  kGridX,
  kGridY,
  kGridZ,
  kBlockX,
  kBlockY,
  kBlockZ,
  kRegisters,
  kStaticShared,
  kDynamicShared,
  kLocal,
  kClusterX,
  kClusterY,
  kClusterZ,
};

// The fullest name that the row has.
Result<RankOutput::Name> KernelName(RankOutput& rank, TableCursor& row) {
  for (const size_t column : {size_t{kDemangled}, size_t{kMangled}, size_t{kShort}}) {
    TUTTI_ASSIGN_OR_RETURN(RankOutput::Name name, rank.NameOf(row, column));
    if (name.id != 0) return name;
  }
  return RankOutput::Name();
}

Status AddKernel(TableCursor& row, const DeviceEvent& event, NcclLaunches& launches) {
  TUTTI_ASSIGN_OR_RETURN(const RankOutput::Name name, KernelName(*event.rank, row));
  auto kernel = RowOf<schema::KernelRow>(event);
  kernel.context_id = event.context_id;
  kernel.name_id = name.id;
  kernel.graph_node_id = row.Int(kGraphNode);
  if (kernel.graph_node_id == 0) kernel.graph_node_id.reset();
  kernel.grid_x = row.Int(kGridX);
  kernel.grid_y = row.Int(kGridY);
  kernel.grid_z = row.Int(kGridZ);
  kernel.block_x = row.Int(kBlockX);
  kernel.block_y = row.Int(kBlockY);
  kernel.block_z = row.Int(kBlockZ);
  kernel.registers_per_thread = row.Int(kRegisters);
  kernel.static_shared_bytes = row.Int(kStaticShared);
  kernel.dynamic_shared_bytes = row.Int(kDynamicShared);
  kernel.local_bytes_per_thread = row.Int(kLocal);
  kernel.cluster_size = ClusterSize(row.Int(kClusterX), row.Int(kClusterY), row.Int(kClusterZ));
  event.rank->Append(std::move(kernel));
  if (name.is_nccl_kernel && event.begin_ns && event.correlation_id) {
    launches.AddKernel(event.rank->place(), {*event.begin_ns, *event.end_ns, event.device_id,
                                             event.stream_id, *event.correlation_id});
  }
  return OkStatus();
}

// ENUM_CUDA_MEMCPY_OPER
const char* CopyKind(int64_t kind) {
  constexpr std::array kNames = {"unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                 "DtoA",    "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"};
  return kind >= 0 && kind < static_cast<int64_t>(kNames.size()) ? kNames[static_cast<size_t>(kind)]
                                                                 : nullptr;
}

// ENUM_CUDA_MEM_KIND
std::optional<std::string> MemoryKind(std::optional<int64_t> kind) {
  constexpr std::array kNames = {"pageable", "pinned",        "device",        "array",
                                 "managed",  "device_static", "managed_static"};
  if (!kind || *kind < 0 || *kind >= static_cast<int64_t>(kNames.size())) return std::nullopt;
  return kNames[static_cast<size_t>(*kind)];
}

enum Copy : size_t { kBytes = kOwn, kCopyKind, kSourceKind, kTargetKind, kTarget, kCopyNode };

Status AddMemcpy(ImportState& state, TableCursor& row, const DeviceEvent& event) {
  const auto bytes = row.Int(kBytes);
  const auto kind = row.Int(kCopyKind);
  if (!bytes || !kind) {
    state.Skip(row, SkipReason::kMissingValue, event.rank);
    return OkStatus();
  }
  if (*bytes < 0) {
    state.Skip(row, SkipReason::kNegativeSize, event.rank);
    return OkStatus();
  }
  const char* name = CopyKind(*kind);
  if (name == nullptr) state.Skip(row, SkipReason::kOddValue, event.rank);
  auto copy = RowOf<schema::MemcpyRow>(event);
  copy.bytes = *bytes;
  copy.copy_kind = name == nullptr ? "unknown" : name;
  copy.source_kind = MemoryKind(row.Int(kSourceKind));
  copy.destination_kind = MemoryKind(row.Int(kTargetKind));
  if (copy.copy_kind == "PtoP") copy.peer_device_id = row.Int(kTarget);
  copy.graph_node_id = row.Int(kCopyNode);
  event.rank->Append(std::move(copy));
  return OkStatus();
}

enum Fill : size_t { kFillBytes = kOwn, kValue, kFillNode };

Status AddMemset(ImportState& state, TableCursor& row, const DeviceEvent& event) {
  const auto bytes = row.Int(kFillBytes);
  if (!bytes || *bytes < 0) {
    state.Skip(row, bytes ? SkipReason::kNegativeSize : SkipReason::kMissingValue, event.rank);
    return OkStatus();
  }
  auto fill = RowOf<schema::MemsetRow>(event);
  fill.bytes = *bytes;
  fill.value = row.Int(kValue);
  fill.graph_node_id = row.Int(kFillNode);
  event.rank->Append(std::move(fill));
  return OkStatus();
}

enum Sync : size_t { kSyncType = kOwn, kEvent, kEventSync };

const char* SyncKind(int64_t type) {
  constexpr std::array kNames = {"unknown", "event", "stream_wait_event", "stream", "context"};
  return type >= 0 && type < static_cast<int64_t>(kNames.size()) ? kNames[static_cast<size_t>(type)]
                                                                 : nullptr;
}

// Releases up to 2026.1 count the kinds from 0 though their enum table counts as CUPTI
// does, from 1: there a wait for a stream is 2, "stream wait event", without an event.
Result<int64_t> FirstSyncType(ImportState& state, const ExportTable& table) {
  if (!table.Has("syncType") || !table.Has("eventId")) return 0;
  const std::string sql = "SELECT EXISTS (SELECT 1 FROM " + Quoted(table.name) +
                          " WHERE syncType = 2 AND eventId IN (4294967295, -1))";
  TUTTI_ASSIGN_OR_RETURN(const int64_t exists, state.database.connection().QueryOne<int64_t>(sql));
  return exists;
}

std::optional<int64_t> KnownEvent(std::optional<int64_t> event) {
  if (!event || *event == kNoEvent || *event == -1) return std::nullopt;
  return event;
}

Status AddSync(ImportState& state, TableCursor& row, const DeviceEvent& event, int64_t first) {
  const auto type = row.Int(kSyncType);
  int64_t number = 0;
  const char* kind =
      type && !__builtin_add_overflow(*type, first, &number) ? SyncKind(number) : nullptr;
  if (kind == nullptr) {
    state.Skip(row, SkipReason::kUnknownType, event.rank);
    return OkStatus();
  }
  schema::SyncRow sync;
  sync.kind = kind;
  sync.device_id = event.rank->DeviceOf(event.context_id, event.device_id);
  const bool is_of_stream = sync.kind == "stream" || sync.kind == "stream_wait_event";
  if (is_of_stream) sync.stream_id = event.stream_id;
  sync.event_id = KnownEvent(row.Int(kEvent));
  sync.event_sync_id = KnownEvent(row.Int(kEventSync));
  sync.begin_ns = event.begin_ns;
  sync.end_ns = event.end_ns;
  sync.correlation_id = event.correlation_id;
  event.rank->Append(std::move(sync));
  return OkStatus();
}

}  // namespace

Status ImportKernels(ImportState& state, NcclLaunches& launches) {
  return ForEach(
      state, "CUPTI_ACTIVITY_KIND_KERNEL",
      {TUTTI_NSYS_COMMON_COLUMNS, "demangledName", "shortName", "mangledName", "graphNodeId",
       "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "registersPerThread",
       "staticSharedMemory", "dynamicSharedMemory", "localMemoryPerThread", "clusterX", "clusterY",
       "clusterZ"},
      [&](TableCursor& row, const DeviceEvent& event) { return AddKernel(row, event, launches); });
}

Status ImportMemcpys(ImportState& state) {
  return ForEach(
      state, "CUPTI_ACTIVITY_KIND_MEMCPY",
      {TUTTI_NSYS_COMMON_COLUMNS, "bytes", "copyKind", "srcKind", "dstKind", "dstDeviceId",
       "graphNodeId"},
      [&](TableCursor& row, const DeviceEvent& event) { return AddMemcpy(state, row, event); });
}

Status ImportMemsets(ImportState& state) {
  return ForEach(
      state, "CUPTI_ACTIVITY_KIND_MEMSET",
      {TUTTI_NSYS_COMMON_COLUMNS, "bytes", "value", "graphNodeId"},
      [&](TableCursor& row, const DeviceEvent& event) { return AddMemset(state, row, event); });
}

Status ImportSyncs(ImportState& state) {
  const ExportTable* table = state.database.Find("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION");
  if (table == nullptr) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const int64_t first, FirstSyncType(state, *table));
  return ForEach(state, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                 {TUTTI_NSYS_COMMON_COLUMNS, "syncType", "eventId", "eventSyncId"},
                 [&](TableCursor& row, const DeviceEvent& event) {
                   return AddSync(state, row, event, first);
                 });
}

// With --cuda-graph-trace=graph a launched graph is one interval on its stream, and its
// kernels are not told. It is work of the GPU all the same.
Status ImportGraphs(ImportState& state) {
  return ForEach(state, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {TUTTI_NSYS_COMMON_COLUMNS, "graphId"},
                 [&](TableCursor& row, const DeviceEvent& event) {
                   const auto graph = row.Int(kOwn);
                   auto kernel = RowOf<schema::KernelRow>(event);
                   kernel.context_id = event.context_id;
                   kernel.name_id = event.rank->Intern(
                       graph ? "CUDA graph " + std::to_string(*graph) : "CUDA graph");
                   event.rank->Append(std::move(kernel));
                   event.rank->CountGraph();
                   return OkStatus();
                 });
}

}  // namespace tutti::collector::importers::nsys
