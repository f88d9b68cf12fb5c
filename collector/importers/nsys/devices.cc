#include "collector/importers/nsys/devices.h"

#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace tutti::collector::importers::nsys {
namespace {

// What the export tells about GPUs, streams and their names.
struct Target {
  std::map<int64_t, schema::DeviceRow> gpus;                            // by physical id
  std::map<std::pair<int64_t, int64_t>, int64_t> gpu_of;                // by pid and CUDA device
  std::map<std::pair<int64_t, int64_t>, int64_t> device_of;             // by pid and context
  std::map<std::tuple<int64_t, int64_t, int64_t>, int64_t> priorities;  // pid, device, stream
  std::map<std::tuple<int64_t, int64_t, int64_t>, std::string> names;   // the same

  int64_t GpuOf(int64_t pid, int64_t device) const {
    const auto gpu = gpu_of.find({pid, device});
    return gpu == gpu_of.end() ? device : gpu->second;
  }
};

// Calls |function| for each row of |base|, if the file has it.
template <typename Function>
Status ForEach(ImportState& state, std::string_view base,
               const std::vector<std::string_view>& columns, Function&& function) {
  const ExportTable* table = state.database.Find(base);
  if (table == nullptr) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(TableCursor row, TableCursor::Open(state.database, *table, columns));
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool more, row.Next());
    if (!more) return OkStatus();
    function(row);
  }
}

std::optional<int64_t> Product(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t product = 0;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &product)) return std::nullopt;
  return product;
}

Status ReadGpus(ImportState& state, Target& target) {
  return ForEach(state, "TARGET_INFO_GPU",
                 {"id", "name", "uuid", "smCount", "totalMemory", "computeMajor", "computeMinor",
                  "threadsPerWarp", "maxWarpsPerSm", "maxRegistersPerSm", "maxShmemPerSm"},
                 [&](TableCursor& row) {
                   const auto id = row.Int(0);
                   if (!id) return;
                   schema::DeviceRow gpu;
                   gpu.name = row.Text(1).value_or("");
                   gpu.uuid = row.Text(2);
                   gpu.sm_count = row.Int(3);
                   gpu.memory_bytes = row.Int(4);
                   const auto major = row.Int(5);
                   const auto minor = row.Int(6);
                   if (major && minor) {
                     gpu.compute_capability = std::to_string(*major) + "." + std::to_string(*minor);
                   }
                   gpu.warp_size = row.Int(7);
                   gpu.max_threads_per_sm = Product(row.Int(7), row.Int(8));
                   gpu.registers_per_sm = row.Int(9);
                   gpu.shared_bytes_per_sm = row.Int(10);
                   target.gpus.try_emplace(*id, std::move(gpu));
                 });
}

Status ReadStreams(ImportState& state, Target& target) {
  TUTTI_RETURN_IF_ERROR(
      ForEach(state, "TARGET_INFO_CUDA_DEVICE", {"pid", "cudaId", "gpuId"}, [&](TableCursor& row) {
        const auto gpu = row.Int(2);
        if (!gpu) return;
        target.gpu_of.try_emplace({row.Int(0).value_or(0), row.Int(1).value_or(0)}, *gpu);
      }));
  TUTTI_RETURN_IF_ERROR(ForEach(state, "TARGET_INFO_CUDA_CONTEXT_INFO",
                                {"processId", "contextId", "deviceId"}, [&](TableCursor& row) {
                                  target.device_of.try_emplace(
                                      {row.Int(0).value_or(0), row.Int(1).value_or(0)},
                                      row.Int(2).value_or(0));
                                }));
  TUTTI_RETURN_IF_ERROR(ForEach(
      state, "TARGET_INFO_CUDA_STREAM", {"processId", "contextId", "streamId", "priority"},
      [&](TableCursor& row) {
        const int64_t pid = row.Int(0).value_or(0);
        const auto device = target.device_of.find({pid, row.Int(1).value_or(0)});
        const auto priority = row.Int(3);
        if (device == target.device_of.end() || !priority) return;
        // A 32-bit number, negative for high priorities, stored without its sign.
        target.priorities.try_emplace({pid, device->second, row.Int(2).value_or(0)},
                                      static_cast<int32_t>(static_cast<uint32_t>(*priority)));
      }));
  return ForEach(state, "TARGET_INFO_NVTX_CUDA_STREAM",
                 {"processId", "deviceId", "streamId", "name"}, [&](TableCursor& row) {
                   if (auto name = row.Text(3)) {
                     target.names.try_emplace(
                         {row.Int(0).value_or(0), row.Int(1).value_or(0), row.Int(2).value_or(0)},
                         std::move(*name));
                   }
                 });
}

void WriteDevicesOf(RankOutput& rank, const Target& target) {
  const int64_t pid = PidOf(rank.process().key);
  std::set<int64_t> written;
  for (const auto& [device, stream] : rank.streams()) {
    if (written.insert(device).second) {
      const auto gpu = target.gpus.find(target.GpuOf(pid, device));
      schema::DeviceRow row = gpu == target.gpus.end() ? schema::DeviceRow() : gpu->second;
      row.id = device;
      if (row.name.empty()) row.name = "GPU " + std::to_string(device);
      rank.sink().Append(std::move(row));
    }
    schema::StreamRow row{device, stream, std::nullopt, std::nullopt};
    if (const auto name = target.names.find({pid, device, stream}); name != target.names.end()) {
      row.name = name->second;
    }
    const auto priority = target.priorities.find({pid, device, stream});
    if (priority != target.priorities.end()) row.priority = priority->second;
    rank.sink().Append(std::move(row));
  }
}

// "SM Active [Throughput %]" -> name and unit.
std::pair<std::string, std::string> SplitUnit(const std::string& metric) {
  const size_t open = metric.rfind(" [");
  if (open == std::string::npos || !metric.ends_with(']')) return {metric, ""};
  std::string unit = metric.substr(open + 2, metric.size() - open - 3);
  if (unit.ends_with('%')) unit = "%";
  return {metric.substr(0, open), std::move(unit)};
}

class MetricImporter {
 public:
  MetricImporter(ImportState& state, const Target& target) : state_(state) {
    for (RankOutput& rank : state.ranks) {
      for (const auto& [device, stream] : rank.streams()) {
        users_[target.GpuOf(PidOf(rank.process().key), device)].emplace(&rank, device);
      }
    }
  }

  Status Import() {
    TUTTI_RETURN_IF_ERROR(ForEach(
        state_, "TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName"},
        [&](TableCursor& row) {
          auto name = row.Text(2);
          if (!name) return;
          metrics_.try_emplace({row.Int(0).value_or(0), row.Int(1).value_or(0)}, std::move(*name));
        }));
    return ForEach(state_, "GPU_METRICS", {"timestamp", "typeId", "metricId", "value"},
                   [&](TableCursor& row) { Add(row); });
  }

 private:
  using Metric = std::pair<int64_t, int64_t>;  // type, metric

  void Add(TableCursor& row) {
    constexpr int64_t kGpuMask = 0xff;  // the low byte of a type is the GPU
    const auto type = row.Int(1);
    const auto users = users_.find(type.value_or(0) & kGpuMask);
    if (users == users_.end()) return state_.Skip(row, SkipReason::kNotARank);
    const auto time = row.Int(0);
    const auto value = row.Number(3);
    const auto metric = metrics_.find({type.value_or(0), row.Int(2).value_or(0)});
    for (const auto& [rank, device] : users->second) {
      rank->CountEvent();
      const auto time_ns = time ? state_.session.clock.ToTrace(*time) : std::nullopt;
      if (!time_ns || !value || metric == metrics_.end()) {
        state_.Skip(row, SkipReason::kMissingValue, rank);
        continue;
      }
      rank->sink().Append(
          schema::CounterSampleRow{CounterOf(*rank, device, *metric), *time_ns, *value});
    }
  }

  int64_t CounterOf(RankOutput& rank, int64_t device,
                    const std::pair<const Metric, std::string>& metric) {
    const auto [entry, is_new] = counters_.try_emplace({rank.place(), metric.first}, 0);
    if (is_new) {
      auto [name, unit] = SplitUnit(metric.second);
      entry->second =
          rank.sink().Add(schema::CounterRow{0, "gpu." + name, std::move(unit), "gauge",
                                             "GPU metric sampled by Nsight Systems", device});
    }
    return entry->second;
  }

  ImportState& state_;
  std::map<int64_t, std::set<std::pair<RankOutput*, int64_t>>> users_;  // by physical GPU
  std::map<Metric, std::string> metrics_;
  std::map<std::pair<size_t, Metric>, int64_t> counters_;  // by rank and metric
};

}  // namespace

Status ImportDevices(ImportState& state) {
  Target target;
  TUTTI_RETURN_IF_ERROR(ReadGpus(state, target));
  TUTTI_RETURN_IF_ERROR(ReadStreams(state, target));
  for (RankOutput& rank : state.ranks) WriteDevicesOf(rank, target);
  return MetricImporter(state, target).Import();
}

}  // namespace tutti::collector::importers::nsys
