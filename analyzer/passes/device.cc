// How busy each GPU and each stream is, over the trace and in each step; what it does, and
// why it does nothing.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/input/capture_gaps.h"
#include "analyzer/input/kernel_traits.h"
#include "analyzer/input/step_index.h"
#include "analyzer/metrics/breakdown.h"
#include "analyzer/metrics/device_gaps.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

// One stream's work in order of its begin.
struct Stream {
  std::vector<DeviceWork> work;
  std::vector<Interval> times;
};

// One GPU's work, by stream and by what it does.
struct Device {
  std::vector<DeviceWork> work;  // of all streams, by begin
  std::map<int64_t, Stream> streams;
  std::map<std::pair<KernelRole, int64_t>, std::vector<Interval>> by_role;  // and stream
  std::vector<int64_t> kernel_begins;
  int64_t copies = 0;
  int64_t work_ns = 0;
  int64_t tensor_able_ns = 0;
  int64_t tensor_core_ns = 0;
};

void Add(const DeviceEvent& event, std::span<const ApiEvent> calls, const KernelTraits& traits,
         Device& device) {
  DeviceWork work{event.time(), {}};
  if (event.launch >= 0) work.launched_ns = calls[static_cast<size_t>(event.launch)].end_ns;
  device.work.push_back(work);
  Stream& stream = device.streams[event.stream_id];
  stream.work.push_back(work);
  stream.times.push_back(event.time());
  device.by_role[{event.role, event.stream_id}].push_back(event.time());
  const int64_t length_ns = event.time().length_ns();
  device.work_ns += length_ns;
  if (event.kind == DeviceEvent::Kind::kKernel) {
    device.kernel_begins.push_back(event.begin_ns);
  } else {
    ++device.copies;
  }
  if (!traits.uses_tensor_cores) return;
  device.tensor_able_ns += length_ns;
  if (*traits.uses_tensor_cores) device.tensor_core_ns += length_ns;
}

// The sets of a GPU that rows are made of.
struct DeviceTime {
  IntervalSet busy;
  IntervalSet compute;
  IntervalSet comm;
  IntervalSet copy;
  GapCauses gaps;
};

IntervalSet UnionOfRole(const Device& device, KernelRole role) {
  std::vector<std::span<const Interval>> runs;
  for (const auto& [key, times] : device.by_role) {
    if (key.first == role) runs.emplace_back(times);
  }
  return UnionOfRuns(runs);
}

// What nobody saw is nobody's fault.
void MakeUnknown(const IntervalSet& unseen, GapCauses& gaps) {
  for (IntervalSet* known : {&gaps.host, &gaps.launched}) {
    gaps.unknown = Merge(gaps.unknown, Intersect(*known, unseen));
    *known = Subtract(*known, unseen);
  }
}

DeviceTime TimeOf(const Device& device, Interval capture, const IntervalSet& unseen) {
  DeviceTime time;
  std::vector<std::span<const Interval>> runs;
  for (const auto& [id, stream] : device.streams) runs.emplace_back(stream.times);
  time.busy = UnionOfRuns(runs);
  time.compute = UnionOfRole(device, KernelRole::kCompute);
  time.comm = UnionOfRole(device, KernelRole::kCommunication);
  time.copy = UnionOfRole(device, KernelRole::kPeerCopy);
  time.gaps = CausesOf(DeviceGaps(device.work, capture));
  MakeUnknown(unseen, time.gaps);
  return time;
}

Interval SpanOf(const Device& device) {
  Interval span{device.work.front().time.begin_ns, device.work.front().time.end_ns};
  for (const DeviceWork& work : device.work) span.end_ns = std::max(span.end_ns, work.time.end_ns);
  return span;
}

schema::DeviceSummaryRow SummaryOf(const Device& device, const DeviceTime& time, Interval span) {
  schema::DeviceSummaryRow row;
  row.kernels = static_cast<int64_t>(device.kernel_begins.size());
  row.copies = device.copies;
  row.begin_ns = span.begin_ns;
  row.end_ns = span.end_ns;
  row.busy_ns = TotalNs(time.busy);
  row.compute_ns = TotalNs(time.compute);
  row.comm_ns = TotalNs(time.comm);
  row.copy_ns = TotalNs(time.copy);
  row.work_ns = device.work_ns;
  row.gaps = static_cast<int64_t>(GapsBetween(device.work).size());
  row.idle_host_ns = TotalNs(Clip(time.gaps.host, span));
  row.idle_launched_ns = TotalNs(Clip(time.gaps.launched, span));
  row.idle_unknown_ns = TotalNs(Clip(time.gaps.unknown, span));
  row.tensor_able_ns = device.tensor_able_ns;
  row.tensor_core_ns = device.tensor_core_ns;
  return row;
}

// How many of the sorted moments lie in each window.
std::vector<int64_t> CountPerWindow(std::span<const int64_t> moments,
                                    std::span<const Interval> windows) {
  std::vector<int64_t> counts;
  for (const Interval& window : windows) {
    counts.push_back(std::lower_bound(moments.begin(), moments.end(), window.end_ns) -
                     std::lower_bound(moments.begin(), moments.end(), window.begin_ns));
  }
  return counts;
}

std::vector<schema::StepDeviceRow> StepRows(const Device& device, const DeviceTime& time,
                                            const StepIndex& steps) {
  const std::span<const Interval> windows = steps.windows();
  std::vector<schema::StepDeviceRow> rows(windows.size());
  const auto fill = [&](const IntervalSet& set, int64_t schema::StepDeviceRow::*column) {
    const std::vector<int64_t> totals = TotalPerWindow(set, windows);
    for (size_t i = 0; i < rows.size(); ++i) rows[i].*column = totals[i];
  };
  fill(time.busy, &schema::StepDeviceRow::busy_ns);
  fill(time.compute, &schema::StepDeviceRow::compute_ns);
  fill(time.comm, &schema::StepDeviceRow::comm_ns);
  fill(time.copy, &schema::StepDeviceRow::copy_ns);
  fill(time.gaps.host, &schema::StepDeviceRow::idle_host_ns);
  fill(time.gaps.launched, &schema::StepDeviceRow::idle_launched_ns);
  fill(time.gaps.unknown, &schema::StepDeviceRow::idle_unknown_ns);
  const std::vector<int64_t> kernels = CountPerWindow(device.kernel_begins, windows);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].step = steps.steps()[i];
    rows[i].step_ns = windows[i].length_ns();
    rows[i].kernels = kernels[i];
  }
  return rows;
}

schema::StreamIdleRow IdleOf(const Stream& stream, const IntervalSet& device_busy) {
  schema::StreamIdleRow row;
  row.work = static_cast<int64_t>(stream.work.size());
  row.busy_ns = TotalNs(Union(stream.times));
  const std::vector<DeviceGap> gaps = GapsBetween(stream.work);
  row.gaps = static_cast<int64_t>(gaps.size());
  for (const DeviceGap& gap : gaps) {
    row.longest_gap_ns = std::max(row.longest_gap_ns, gap.time.length_ns());
  }
  const GapCauses causes = CausesOf(gaps);
  row.host_wait_ns = TotalNs(causes.host);
  row.kernel_wait_ns = TotalNs(Intersect(causes.launched, device_busy));
  row.latency_ns = TotalNs(causes.launched) - row.kernel_wait_ns;
  row.unknown_ns = TotalNs(causes.unknown);
  return row;
}

Status WriteDevice(RunContext& context, int64_t rank, int64_t device_id, const Device& device,
                   const DeviceTime& time, const StepIndex& steps) {
  const Interval span = SpanOf(device);
  schema::DeviceSummaryRow summary = SummaryOf(device, time, span);
  summary.rank = rank;
  summary.device_id = device_id;
  TUTTI_RETURN_IF_ERROR(context.Write(std::vector{summary}));
  std::vector<schema::StepDeviceRow> step_rows = StepRows(device, time, steps);
  for (schema::StepDeviceRow& row : step_rows) {
    row.rank = rank;
    row.device_id = device_id;
  }
  TUTTI_RETURN_IF_ERROR(context.Write(step_rows));
  std::vector<schema::StreamIdleRow> idle_rows;
  std::vector<IntervalSet> busy_streams;
  for (const auto& [stream_id, stream] : device.streams) {
    idle_rows.push_back(IdleOf(stream, time.busy));
    idle_rows.back().rank = rank;
    idle_rows.back().device_id = device_id;
    idle_rows.back().stream_id = stream_id;
    busy_streams.push_back(Union(stream.times));
  }
  TUTTI_RETURN_IF_ERROR(context.Write(idle_rows));
  std::vector<schema::StreamConcurrencyRow> concurrency;
  const std::vector<int64_t> at_once = ConcurrencyNs(busy_streams, span);
  for (size_t streams = 0; streams < at_once.size(); ++streams) {
    if (at_once[streams] == 0 && streams > 0) continue;
    concurrency.push_back({rank, device_id, static_cast<int64_t>(streams), at_once[streams]});
  }
  return context.Write(concurrency);
}

Status DevicesOfRank(RunContext& context, const schema::RankRow& rank, RankTrace& trace) {
  TUTTI_ASSIGN_OR_RETURN(const auto events, trace.DeviceEvents());
  if (events.empty()) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const auto calls, trace.ApiCalls());
  TUTTI_ASSIGN_OR_RETURN(const auto windows, context.Read<schema::StepWindowRow>(
                                                 "WHERE rank = ?1 ORDER BY step", rank.rank));
  const StepIndex steps(windows);
  TUTTI_ASSIGN_OR_RETURN(const IntervalSet unseen, CaptureGaps(trace));
  KernelTraitsOf traits(trace);
  std::map<int64_t, Device> devices;
  for (const DeviceEvent& event : events) {
    Add(event, calls, traits(event), devices[event.device_id]);
  }
  for (const auto& [device_id, device] : devices) {
    const DeviceTime time = TimeOf(device, {rank.begin_ns, rank.end_ns}, unseen);
    TUTTI_RETURN_IF_ERROR(WriteDevice(context, rank.rank, device_id, device, time, steps));
  }
  return OkStatus();
}

Status Run(RunContext& context) {
  return context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) {
    return DevicesOfRank(context, rank, trace);
  });
}

constexpr PassCheck kChecks[] = {
    {"the streams that work at once add up to the time of the GPU",
     "SELECT count(*) FROM device_summary AS d WHERE end_ns - begin_ns <> (SELECT sum(total_ns)"
     " FROM stream_concurrency AS c WHERE c.rank = d.rank AND c.device_id = d.device_id)"},
    {"no GPU is busy for longer than its work lasts",
     "SELECT count(*) FROM device_summary WHERE busy_ns > work_ns OR compute_ns > busy_ns"
     " OR comm_ns > busy_ns OR copy_ns > busy_ns"},
};

}  // namespace

extern const Pass kDevicePass;
const Pass kDevicePass{"device", Run, kChecks, PassScope::kRank};

}  // namespace tutti::analyzer
