#include "collector/convert/cupti/activity_records.h"

#include <string>
#include <utility>

#include "collector/conventions/nccl_call.h"
#include "collector/conventions/nccl_kernel.h"
#include "collector/convert/cupti/activity_names.h"

namespace tutti::collector::convert::cupti {
namespace {

constexpr char kSource[] = "collector.cupti";

std::string VersionText(uint32_t version) { return std::to_string(version); }

}  // namespace

// True if a record of |kind| can be read. The traced process's own library said how long it is;
// where that is not what this build's table says, the table or the record is wrong.
bool ActivityRecords::CheckVersion(const wire::ActivityRecord& record, uint32_t kind) {
  if (record.cupti_version != expected_version_) {
    expected_version_ = record.cupti_version;
    for (uint32_t i = 0; i < expected_bytes_.size(); ++i) {
      expected_bytes_[i] = static_cast<uint16_t>(RecordBytes(i, expected_version_));
    }
    if (expected_version_ < kOldestVersion || expected_version_ > kNewestVersion) {
      context_.findings.Add({wire::NoteSeverity::kNotice, "cupti_version", kSource,
                             "the GPU was traced by CUPTI version " +
                                 VersionText(expected_version_) + "; this build knows " +
                                 VersionText(kOldestVersion) + " (CUDA 12.4) to " +
                                 VersionText(kNewestVersion) + " (CUDA 13.5)",
                             "fields that it moved are read wrongly: use a Tutti that knows it"});
    }
  }
  const size_t expected = kind < expected_bytes_.size() ? expected_bytes_[kind] : 0;
  const bool is_newer = expected_version_ > kNewestVersion;
  if (expected != 0 && (record.bytes == expected || (is_newer && record.bytes > expected))) {
    return true;
  }
  context_.findings.Add({wire::NoteSeverity::kDataLoss, "cupti_record", kSource,
                         expected == 0
                             ? "activity records of kinds that this build does not know"
                             : "activity records of another length than their CUPTI version has",
                         "report this with the version of CUDA"});
  return false;
}

void ActivityRecords::OnActivity(const wire::ActivityRecord& record,
                                 std::span<const std::byte> data) {
  if (record.bytes > data.size()) {
    context_.findings.Add({wire::NoteSeverity::kError, "cupti_record_cut", kSource,
                           "activity records that are longer than the cells that hold them", ""});
    return;
  }
  const ActivityView view(data.first(record.bytes));
  const uint32_t kind = view.Get(kKind);
  if (!CheckVersion(record, kind)) return;
  switch (static_cast<ActivityKind>(kind)) {
    case ActivityKind::kKernel:
    case ActivityKind::kConcurrentKernel:
      return OnKernel(record, view);
    case ActivityKind::kMemcpy:
      return OnMemcpy(view, false);
    case ActivityKind::kMemcpy2:
      return OnMemcpy(view, true);
    case ActivityKind::kMemset:
      return OnMemset(view);
    case ActivityKind::kGraphTrace:
      return OnGraph(view);
    case ActivityKind::kRuntime:
      return OnApi(record, view, "runtime");
    case ActivityKind::kDriver:
    case ActivityKind::kInternalLaunchApi:
      return OnApi(record, view, "driver");
    case ActivityKind::kSynchronization:
      return OnSynchronization(view);
    case ActivityKind::kOverhead:
      return OnOverhead(view);
    case ActivityKind::kJit:
      return OnJit(view);
    case ActivityKind::kMemory2:
      return OnMemory(view);
    case ActivityKind::kDevice:
      return devices_.OnDevice(view, context_.strings.TextOf(record.header.name));
    case ActivityKind::kContext:
      return devices_.OnContext(view);
    case ActivityKind::kStream:
      return devices_.OnStream(view);
    case ActivityKind::kName:
      return devices_.OnName(view, context_.strings.TextOf(record.header.name));
    default:
      return;  // known, and nothing that a table has a place for
  }
}

// CUPTI gives 0 for stamps that the GPU did not deliver, and has given ends before their begins.
ActivityRecords::DeviceTimes ActivityRecords::TimesOf(uint64_t start_ticks, uint64_t end_ticks) {
  if (start_ticks != 0 && end_ticks >= start_ticks) {
    return {context_.TimeOf(start_ticks), context_.TimeOf(end_ticks)};
  }
  context_.findings.Add({wire::NoteSeverity::kNotice, "gpu_untimed", kSource,
                         start_ticks == 0
                             ? "work of a GPU for which the driver gave no time"
                             : "work of a GPU that ended before it began, as the driver tells it",
                         "it is left out of all sums of time"});
  return {};
}

// The columns that all work on a GPU has; absent if `--steps` leaves it out.
template <typename Row, typename Layout>
std::optional<Row> ActivityRecords::DeviceWorkOf(const ActivityView& view, int64_t& next_id) {
  const DeviceTimes times = TimesOf(view.Get(Layout::kStart), view.Get(Layout::kEnd));
  if (times.begin_ns && !context_.Wanted(*times.begin_ns, *times.end_ns)) return std::nullopt;
  Row row;
  row.id = next_id++;
  row.device_id = view.Int(Layout::kDeviceId);
  row.stream_id = view.Int(Layout::kStreamId);
  row.begin_ns = times.begin_ns;
  row.end_ns = times.end_ns;
  row.correlation_id = view.Int(Layout::kCorrelationId);
  devices_.Saw(row.device_id, view.Int(Layout::kContextId), row.stream_id);
  return row;
}

namespace {

std::optional<int64_t> NonZero(int64_t value) {
  if (value == 0) return std::nullopt;
  return value;
}

std::optional<int64_t> ClusterSize(const ActivityView& view) {
  const uint64_t x = view.Get(KernelRecord::kClusterX);
  const uint64_t y = view.Get(KernelRecord::kClusterY);
  const uint64_t z = view.Get(KernelRecord::kClusterZ);
  uint64_t size = 0;
  if (__builtin_mul_overflow(x * y, z, &size) || size > INT64_MAX) return std::nullopt;
  return NonZero(static_cast<int64_t>(size));
}

}  // namespace

void ActivityRecords::OnKernel(const wire::ActivityRecord& record, const ActivityView& view) {
  auto row = DeviceWorkOf<schema::KernelRow, KernelRecord>(view, context_.next_id.kernel);
  if (!row) return;
  Names& names = names_[record.header.name];
  if (names.kernel_id < 0) {
    const std::string demangled = DemangledName(context_.strings.TextOf(record.header.name));
    names.kernel_id = context_.strings.Intern(demangled);
    if (conventions::IsNcclKernel(demangled)) names.nccl = conventions::ParseNcclKernel(demangled);
  }
  row->name_id = names.kernel_id;
  row->context_id = view.Int(KernelRecord::kContextId);
  row->graph_node_id = NonZero(view.Int(KernelRecord::kGraphNodeId));
  row->grid_x = view.Int(KernelRecord::kGridX);
  row->grid_y = view.Int(KernelRecord::kGridY);
  row->grid_z = view.Int(KernelRecord::kGridZ);
  row->block_x = view.Int(KernelRecord::kBlockX);
  row->block_y = view.Int(KernelRecord::kBlockY);
  row->block_z = view.Int(KernelRecord::kBlockZ);
  row->registers_per_thread = view.Int(KernelRecord::kRegistersPerThread);
  row->static_shared_bytes = view.Int(KernelRecord::kStaticSharedMemory);
  row->dynamic_shared_bytes = view.Int(KernelRecord::kDynamicSharedMemory);
  row->local_bytes_per_thread = view.Int(KernelRecord::kLocalMemoryPerThread);
  row->cluster_size = ClusterSize(view);
  // Only where latency stamps were asked for, else 0.
  if (const uint64_t queued = view.Get(KernelRecord::kQueued); queued != 0) {
    row->queued_ns = context_.TimeOf(queued);
  }
  if (const uint64_t submitted = view.Get(KernelRecord::kSubmitted); submitted != 0) {
    row->submitted_ns = context_.TimeOf(submitted);
  }
  row->channel_id = view.Int(KernelRecord::kChannelId);
  if (names.nccl) nccl_.OnKernel(*row, *names.nccl);
  gpu_ranges_.OnWork(*row);
  context_.rows.Append(std::move(*row));
}

namespace {

// A copy between devices stands where a copy's fields are, but for two.
struct PeerLayout : MemcpyRecord {
  static constexpr auto kCorrelationId = MemcpyPeerRecord::kCorrelationId;
};

}  // namespace

void ActivityRecords::OnMemcpy(const ActivityView& view, bool between_devices) {
  auto row = between_devices
                 ? DeviceWorkOf<schema::MemcpyRow, PeerLayout>(view, context_.next_id.memcpy)
                 : DeviceWorkOf<schema::MemcpyRow, MemcpyRecord>(view, context_.next_id.memcpy);
  if (!row) return;
  constexpr uint8_t kIsAsync = 1;
  row->bytes = view.Int(MemcpyRecord::kBytes);
  row->copy_kind = CopyKindName(view.Get(MemcpyRecord::kCopyKind));
  row->source_kind = MemoryKindName(view.Get(MemcpyRecord::kSourceKind));
  row->destination_kind = MemoryKindName(view.Get(MemcpyRecord::kDestinationKind));
  row->is_async = view.Get(MemcpyRecord::kFlags) & kIsAsync;
  row->graph_node_id = NonZero(
      view.Int(between_devices ? MemcpyPeerRecord::kGraphNodeId : MemcpyRecord::kGraphNodeId));
  if (between_devices) row->peer_device_id = view.Int(MemcpyPeerRecord::kDestinationDeviceId);
  gpu_ranges_.OnWork(*row);
  context_.rows.Append(std::move(*row));
}

void ActivityRecords::OnMemset(const ActivityView& view) {
  auto row = DeviceWorkOf<schema::MemsetRow, MemsetRecord>(view, context_.next_id.memset);
  if (!row) return;
  row->bytes = view.Int(MemsetRecord::kBytes);
  row->value = view.Int(MemsetRecord::kValue);
  row->graph_node_id = NonZero(view.Int(MemsetRecord::kGraphNodeId));
  gpu_ranges_.OnWork(*row);
  context_.rows.Append(std::move(*row));
}

// A launched graph as one interval: its kernels are not told then.
void ActivityRecords::OnGraph(const ActivityView& view) {
  auto row = DeviceWorkOf<schema::KernelRow, GraphTraceRecord>(view, context_.next_id.kernel);
  if (!row) return;
  row->context_id = view.Int(GraphTraceRecord::kContextId);
  row->name_id =
      context_.strings.Intern("CUDA graph " + std::to_string(view.Get(GraphTraceRecord::kGraphId)));
  gpu_ranges_.OnWork(*row);
  context_.rows.Append(std::move(*row));
}

}  // namespace tutti::collector::convert::cupti
