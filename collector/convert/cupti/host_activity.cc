// ActivityRecords: what happens on the host. See activity_records.h.
#include <algorithm>
#include <string>
#include <utility>

#include "collector/convert/cupti/activity_names.h"
#include "collector/convert/cupti/activity_records.h"

namespace tutti::collector::convert::cupti {
namespace {

constexpr uint32_t kNoValue = 0xffff'ffff;  // CUPTI_SYNCHRONIZATION_INVALID_VALUE

std::optional<int64_t> Known(std::optional<uint32_t> value) {
  if (!value || *value == kNoValue) return std::nullopt;
  return *value;
}

}  // namespace

void ActivityRecords::OnApi(const wire::ActivityRecord& record, const ActivityView& view,
                            const char* api) {
  const Span span = context_.SpanOf(view.Get(ApiRecord::kStart), view.Get(ApiRecord::kEnd));
  if (!context_.Wanted(span.begin_ns, span.end_ns)) return;
  Names& names = names_[record.header.name];
  if (names.api_id < 0) {
    const std::string_view name = context_.strings.TextOf(record.header.name);
    const auto contains = [name](const char* part) {
      return name.find(part) != std::string_view::npos;
    };
    names.is_launch = contains("Launch");
    names.gives_work = names.is_launch || contains("Memcpy") || contains("Memset");
    names.api_id = context_.strings.Intern(
        name.empty() ? "call " + std::to_string(view.Get(ApiRecord::kCallbackId))
                     : std::string(ApiFunctionName(name)));
  }
  const auto thread = context_.threads.FindLatest(view.Get(ApiRecord::kThreadId));
  context_.threads.SawTime(thread, span.begin_ns, span.end_ns);
  schema::ApiCallRow row;
  row.id = context_.next_id.api_call++;
  row.tid = context_.threads.RowTid(thread);
  row.name_id = names.api_id;
  row.begin_ns = span.begin_ns;
  row.end_ns = span.end_ns;
  row.correlation_id = view.Int(ApiRecord::kCorrelationId);
  row.return_value = view.Int(ApiRecord::kReturnValue);
  row.api = api;
  if (names.is_launch) nccl_.OnLaunch(row.tid, row.begin_ns, row.correlation_id);
  if (names.gives_work) gpu_ranges_.OnLaunch(row.tid, row.begin_ns, row.correlation_id);
  context_.rows.Append(std::move(row));
}

void ActivityRecords::OnSynchronization(const ActivityView& view) {
  const char* kind = SynchronizationName(view.Get(SynchronizationRecord::kType));
  const DeviceTimes times =
      TimesOf(view.Get(SynchronizationRecord::kStart), view.Get(SynchronizationRecord::kEnd));
  if (times.begin_ns && !context_.Wanted(*times.begin_ns, *times.end_ns)) return;
  schema::SyncRow row;
  row.id = context_.next_id.sync++;
  row.kind = kind == nullptr ? "unknown" : kind;
  row.device_id = devices_.DeviceOf(view.Int(SynchronizationRecord::kContextId));
  row.stream_id = Known(view.Find(SynchronizationRecord::kStreamId));
  row.event_id = Known(view.Find(SynchronizationRecord::kEventId));
  if (const auto id = view.Find(SynchronizationRecord::kEventSyncId);
      id && row.event_id && *id != kNoValue && *id != UINT64_MAX) {
    row.event_sync_id = static_cast<int64_t>(*id);
  }
  row.begin_ns = times.begin_ns;
  row.end_ns = times.end_ns;
  row.correlation_id = view.Int(SynchronizationRecord::kCorrelationId);
  context_.rows.Append(std::move(row));
}

void ActivityRecords::OnOverhead(const ActivityView& view) {
  // CUpti_ActivityObjectKind
  constexpr uint32_t kThread = 2;
  constexpr uint32_t kDevice = 3;
  constexpr uint32_t kStream = 5;
  const uint32_t object = view.Get(OverheadRecord::kObjectKind);
  std::optional<uint32_t> thread_id;
  if (object == kThread) thread_id = view.Find(OverheadRecord::kObjectThreadId);
  std::optional<int64_t> device_id;
  if (object >= kDevice && object <= kStream) {
    device_id = view.Int(OverheadRecord::kObjectDeviceId);
  }
  AddOverhead(OverheadName(view.Get(OverheadRecord::kOverheadKind)), thread_id, device_id,
              context_.SpanOf(view.Get(OverheadRecord::kStart), view.Get(OverheadRecord::kEnd)));
}

void ActivityRecords::OnJit(const ActivityView& view) {
  AddOverhead(JitName(view.Get(JitRecord::kOperation), view.Get(JitRecord::kEntryType)),
              view.Find(JitRecord::kThreadId), view.Int(JitRecord::kDeviceId),
              context_.SpanOf(view.Get(JitRecord::kStart), view.Get(JitRecord::kEnd)));
}

void ActivityRecords::AddOverhead(const std::string& kind, std::optional<uint32_t> thread_id,
                                  std::optional<int64_t> device_id, Span span) {
  if (!context_.Wanted(span.begin_ns, span.end_ns)) return;
  schema::OverheadRow row;
  row.id = context_.next_id.overhead++;
  row.kind_id = context_.strings.Intern(kind);
  if (thread_id) {
    const auto thread = context_.threads.FindLatest(*thread_id);
    context_.threads.SawTime(thread, span.begin_ns, span.end_ns);
    row.tid = context_.threads.RowTid(thread);
  }
  row.device_id = device_id;
  row.begin_ns = span.begin_ns;
  row.end_ns = span.end_ns;
  context_.rows.Append(std::move(row));
}

void ActivityRecords::OnMemory(const ActivityView& view) {
  // CUpti_ActivityMemoryOperationType, CUpti_ActivityMemoryKind
  constexpr uint32_t kAllocation = 1;
  constexpr uint32_t kRelease = 2;
  constexpr uint32_t kPageable = 1;
  constexpr uint32_t kPinned = 2;
  constexpr size_t kMostAtOnce = 1'000'000;
  const uint32_t operation = view.Get(MemoryRecord::kOperation);
  const uint32_t kind = view.Get(MemoryRecord::kMemoryKind);
  if (operation != kAllocation && operation != kRelease) return;
  MemoryOperation event;
  event.ticks = view.Get(MemoryRecord::kTimestamp);
  event.is_allocation = operation == kAllocation;
  event.bytes = view.Int(MemoryRecord::kBytes);
  const bool is_host = kind == kPageable || kind == kPinned;
  event.row.device_type = is_host ? "cpu" : "cuda";
  if (!is_host) event.row.device_id = view.Int(MemoryRecord::kDeviceId);
  event.row.address = view.Int(MemoryRecord::kAddress);
  event.row.stream_id = Known(view.Find(MemoryRecord::kStreamId));
  constexpr uint32_t kLocalPool = 1;
  if (!is_host && view.Get(MemoryRecord::kPoolType) == kLocalPool) {
    event.pool_bytes = view.Int(MemoryRecord::kPoolBytes);
    event.pool_used = view.Int(MemoryRecord::kPoolUsed);
  }
  memory_.push_back(std::move(event));
  if (memory_.size() >= kMostAtOnce) WriteMemory();
}

// In order of time, so that sums are right.
void ActivityRecords::WriteMemory() {
  std::stable_sort(
      memory_.begin(), memory_.end(),
      [](const MemoryOperation& a, const MemoryOperation& b) { return a.ticks < b.ticks; });
  for (MemoryOperation& event : memory_) {
    schema::MemoryEventRow& row = event.row;
    row.time_ns = context_.TimeOf(event.ticks);
    const HeldMemory::Place place{row.device_type, row.device_id.value_or(-1)};
    const auto delta = held_.Apply(place, row.address, event.bytes, event.is_allocation);
    if (has_allocator_ && row.device_type == "cuda") {
      row.action = event.is_allocation ? "segment_alloc" : "segment_free";
      row.delta_bytes = 0;  // what the program holds does not change by it
      row.reserved_bytes = held_.Bytes(place);
    } else {
      row.delta_bytes = delta;
      row.allocated_bytes = held_.Bytes(place);
    }
    if (!context_.Wanted(row.time_ns, row.time_ns)) continue;
    if (event.pool_bytes >= 0) WritePool(event, row.time_ns);
    row.id = context_.next_id.memory_event++;
    context_.rows.Append(std::move(row));
  }
  memory_.clear();
}

// CUPTI does not say which of several pools of a GPU it was: the counters are of the last one.
void ActivityRecords::WritePool(const MemoryOperation& event, int64_t time_ns) {
  const int64_t device_id = event.row.device_id.value_or(0);
  constexpr size_t kMostDevices = 1'024;
  auto counter = pool_counters_.find(device_id);
  if (counter == pool_counters_.end()) {
    if (pool_counters_.size() >= kMostDevices) return;
    counter = pool_counters_.emplace(device_id, context_.next_id.counter).first;
    context_.rows.Append(schema::CounterRow{
        context_.next_id.counter++, "gpu.pool_bytes", "bytes", "gauge",
        "memory that the pool of the last stream-ordered allocation or release holds", device_id});
    context_.rows.Append(schema::CounterRow{context_.next_id.counter++, "gpu.pool_used", "bytes",
                                            "gauge", "memory of that pool that is in use",
                                            device_id});
  }
  context_.rows.Append(schema::CounterSampleRow{counter->second, time_ns, event.pool_bytes});
  context_.rows.Append(schema::CounterSampleRow{counter->second + 1, time_ns, event.pool_used});
}

void ActivityRecords::Finish() {
  WriteMemory();
  WriteChanged();
}

}  // namespace tutti::collector::convert::cupti
