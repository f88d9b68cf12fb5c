// What keeps kernels from using their GPU: too few blocks, a last wave that is not full,
// communication beside them, work of the default stream between those of others.
#include "analyzer/metrics/kernel_use.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/input/kernel_traits.h"
#include "analyzer/input/step_index.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

// CUPTI's numbers for the legacy default stream: of the first context, and before there is one.
bool IsDefaultStream(int64_t stream) { return stream == 7 || stream == 0; }

int64_t Share(int64_t duration_ns, double frac) {
  return std::llround(static_cast<double>(duration_ns) * frac);
}

GpuLimits LimitsOf(const schema::DeviceRow& row) {
  GpuLimits gpu;
  gpu.multiprocessors = row.sm_count.value_or(0);
  gpu.warp_size = row.warp_size.value_or(32);
  gpu.threads = row.max_threads_per_sm.value_or(0);
  gpu.registers = row.registers_per_sm.value_or(0);
  gpu.shared_bytes = row.shared_bytes_per_sm.value_or(0);
  return gpu;
}

// When something of a rank's GPU communicates.
std::map<int64_t, IntervalSet> CommunicationOf(std::span<const DeviceEvent> events) {
  std::map<int64_t, std::vector<Interval>> times;
  for (const DeviceEvent& event : events) {
    if (event.role == KernelRole::kCommunication) times[event.device_id].push_back(event.time());
  }
  std::map<int64_t, IntervalSet> unions;
  for (auto& [device, intervals] : times) unions[device] = Union(intervals);
  return unions;
}

int64_t TogetherNs(const IntervalSet& set, Interval time) {
  auto it = std::lower_bound(set.begin(), set.end(), time.begin_ns,
                             [](const Interval& i, int64_t t) { return i.end_ns <= t; });
  int64_t together_ns = 0;
  for (; it != set.end() && it->begin_ns < time.end_ns; ++it) {
    together_ns += std::min(it->end_ns, time.end_ns) - std::max(it->begin_ns, time.begin_ns);
  }
  return together_ns;
}

class RankUse {
 public:
  RankUse(RankTrace& trace, std::span<const DeviceEvent> events, std::span<const ApiEvent> calls,
          const StepIndex& steps)
      : trace_(trace), events_(events), calls_(calls), steps_(steps) {}

  Status AddShapes() {
    TUTTI_ASSIGN_OR_RETURN(shapes_, trace_.KernelShapes());
    if (shapes_.empty()) return OkStatus();
    TUTTI_ASSIGN_OR_RETURN(const auto devices, trace_.Devices());
    std::map<int64_t, GpuLimits> gpus;
    for (const schema::DeviceRow& row : devices) gpus[row.id] = LimitsOf(row);
    KernelTraitsOf traits(trace_);
    for (const DeviceEvent& event : events_) {
      const auto shape = shapes_.find(event.id);
      const GpuLimits& gpu = gpus[event.device_id];
      if (!IsCompute(event) || shape == shapes_.end()) continue;
      if (shape->second.blocks == 0 || gpu.multiprocessors <= 0) continue;
      schema::StepKernelUseRow* const row = RowOf(event);
      if (row == nullptr) continue;
      const int64_t duration_ns = event.time().length_ns();
      ++row->known;
      row->known_ns += duration_ns;
      row->unfilled_ns += Share(duration_ns, UnfilledFrac(shape->second, gpu));
      if (traits(event).category != "gemm") continue;
      row->last_wave_ns += Share(duration_ns, LastWaveFrac(shape->second, gpu));
    }
    return OkStatus();
  }

  void AddContention() {
    const std::map<int64_t, IntervalSet> communication = CommunicationOf(events_);
    if (communication.empty()) return;
    std::map<std::pair<int64_t, KernelShape>, int64_t> keys;
    std::vector<const DeviceEvent*> kernels;
    std::vector<KernelRun> runs;
    for (const DeviceEvent& event : events_) {
      if (!IsCompute(event)) continue;
      const auto shape = shapes_.find(event.id);
      const std::pair key(event.name_id, shape == shapes_.end() ? KernelShape() : shape->second);
      const auto place = keys.emplace(key, static_cast<int64_t>(keys.size())).first;
      const auto beside = communication.find(event.device_id);
      kernels.push_back(&event);
      runs.push_back(
          {place->second, event.time().length_ns(),
           beside == communication.end() ? 0 : TogetherNs(beside->second, event.time())});
    }
    const std::vector<std::optional<int64_t>> excess_ns = ExcessBeside(runs);
    for (size_t i = 0; i < runs.size(); ++i) {
      schema::StepKernelUseRow* const row = excess_ns[i] ? RowOf(*kernels[i]) : nullptr;
      if (row == nullptr) continue;
      ++row->beside_comm;
      row->contended_ns += *excess_ns[i];
    }
  }

  Status AddSerialized() {
    TUTTI_ASSIGN_OR_RETURN(const auto syncs, trace_.Syncs());
    std::map<int64_t, std::set<int64_t>> waits;  // of a stream for another, when it was told to
    for (const schema::SyncRow& sync : syncs) {
      if (sync.kind != "stream_wait_event" || !sync.begin_ns) continue;
      waits[sync.stream_id.value_or(-1)].insert(*sync.begin_ns);
    }
    std::map<int64_t, std::vector<StreamWork>> by_device;
    std::map<std::pair<int64_t, int64_t>, int64_t> last_launch;  // of a stream
    for (const DeviceEvent& event : events_) {
      if (event.launch < 0) continue;
      const ApiEvent& call = calls_[static_cast<size_t>(event.launch)];
      int64_t& before_ns = last_launch[{event.device_id, event.stream_id}];
      const bool is_told = IsBetween(waits, event.stream_id, before_ns, call.end_ns) ||
                           IsBetween(waits, -1, before_ns, call.end_ns);
      before_ns = call.end_ns;
      by_device[event.device_id].push_back(
          {event.stream_id, IsDefaultStream(event.stream_id), event.time(), call.end_ns, is_told});
    }
    for (const auto& [device, works] : by_device) {
      for (const Serialized& found : FindSerialized(works)) {
        const std::optional<int64_t> step = steps_.ByWindow(found.begin_ns);
        if (step) rows_[*step].serialized_ns += found.lost_ns;
      }
    }
    return OkStatus();
  }

  std::vector<schema::StepKernelUseRow> Rows(int64_t rank) {
    std::vector<schema::StepKernelUseRow> rows;
    for (auto& [step, row] : rows_) {
      row.rank = rank;
      row.step = step;
      row.contended_ns = std::max<int64_t>(row.contended_ns, 0);  // as fast beside it as alone
      rows.push_back(row);
    }
    return rows;
  }

 private:
  static bool IsCompute(const DeviceEvent& event) {
    return event.kind == DeviceEvent::Kind::kKernel && event.role == KernelRole::kCompute;
  }

  static bool IsBetween(const std::map<int64_t, std::set<int64_t>>& waits, int64_t stream,
                        int64_t after_ns, int64_t until_ns) {
    const auto of_stream = waits.find(stream);
    if (of_stream == waits.end()) return false;
    const auto first = of_stream->second.upper_bound(after_ns);
    return first != of_stream->second.end() && *first <= until_ns;
  }

  // Of the step that launched it; nullptr: none did.
  schema::StepKernelUseRow* RowOf(const DeviceEvent& event) {
    const std::optional<int64_t> step =
        event.launch < 0 ? steps_.ByWindow(event.begin_ns)
                         : steps_.ByHost(calls_[static_cast<size_t>(event.launch)].begin_ns);
    return step ? &rows_[*step] : nullptr;
  }

  RankTrace& trace_;
  std::span<const DeviceEvent> events_;
  std::span<const ApiEvent> calls_;
  const StepIndex& steps_;
  std::unordered_map<int64_t, KernelShape> shapes_;
  std::map<int64_t, schema::StepKernelUseRow> rows_;  // by step
};

Status Run(RunContext& context) {
  return context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) -> Status {
    TUTTI_ASSIGN_OR_RETURN(const auto events, trace.DeviceEvents());
    if (events.empty()) return OkStatus();
    TUTTI_ASSIGN_OR_RETURN(const auto calls, trace.ApiCalls());
    TUTTI_ASSIGN_OR_RETURN(const auto windows,
                           context.Read<schema::StepWindowRow>("WHERE rank = ?1", rank.rank));
    const StepIndex steps(windows);
    RankUse use(trace, events, calls, steps);
    TUTTI_RETURN_IF_ERROR(use.AddShapes());
    use.AddContention();
    TUTTI_RETURN_IF_ERROR(use.AddSerialized());
    return context.Write(use.Rows(rank.rank));
  });
}

}  // namespace

extern const Pass kKernelUsePass;
const Pass kKernelUsePass{"kernel_use", Run, {}, PassScope::kRank};

}  // namespace tutti::analyzer
