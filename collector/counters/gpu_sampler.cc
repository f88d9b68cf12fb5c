#include "collector/counters/gpu_sampler.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "collector/clock/clock_reading.h"

namespace tutti::collector::counters {
namespace {

using spool::GpuValue;
using spool::NodeSample;

int64_t& At(NodeSample& sample, GpuValue value) {
  return sample.values[static_cast<size_t>(value)];
}

// -1 if |field| has no number.
int64_t NumberOf(const nvml::FieldValue& field) {
  if (field.result != nvml::kSuccess) return -1;
  switch (field.type) {
    case nvml::kUnsignedInt:
      return static_cast<uint32_t>(field.value);
    case nvml::kUnsignedLong:
    case nvml::kUnsignedLongLong:
      return static_cast<int64_t>(field.value);
    default:
      return -1;
  }
}

// Adds what a counter that wraps round at 2^32 has grown by since |last|.
int64_t Continue(int64_t value, int64_t* last, int64_t* sum) {
  if (value < 0) return -1;
  constexpr int64_t kWrap = int64_t{1} << 32;
  if (*last >= 0) *sum += value >= *last ? value - *last : value + kWrap - *last;
  *last = value;
  return *sum;
}

}  // namespace

bool GpuSampler::Start() {
  unsigned count = 0;
  if (!nvml::Load(library_, &functions_) || functions_.device_count(&count) != nvml::kSuccess) {
    return false;
  }
  for (unsigned index = 0; index < count; ++index) {
    Gpu gpu{};
    std::array<char, 96> uuid{};
    if (functions_.device_by_index(index, &gpu.device) != nvml::kSuccess ||
        functions_.uuid(gpu.device, uuid.data(), uuid.size()) != nvml::kSuccess) {
      continue;
    }
    gpu.uuid = uuid.data();
    gpus_.push_back(std::move(gpu));
  }
  return !gpus_.empty();
}

std::vector<NodeSample> GpuSampler::Read() {
  std::vector<NodeSample> samples;
  for (Gpu& gpu : gpus_) {
    NodeSample sample = spool::EmptyNodeSample(spool::NodeSource::kGpu, gpu.uuid);
    sample.monotonic_raw_ns = clock::MonotonicRawNs();
    ReadMomentary(gpu, sample);
    ReadFields(gpu, sample);
    samples.push_back(sample);
  }
  return samples;
}

void GpuSampler::ReadMomentary(const Gpu& gpu, NodeSample& sample) const {
  const auto& nvml = functions_;
  constexpr int64_t kHzPerMhz = 1'000'000;
  nvml::Utilization busy{};
  if (nvml.utilization != nullptr && nvml.utilization(gpu.device, &busy) == nvml::kSuccess) {
    At(sample, GpuValue::kUtilization) = busy.gpu;
    At(sample, GpuValue::kMemoryUtilization) = busy.memory;
  }
  nvml::Memory memory{};
  if (nvml.memory != nullptr && nvml.memory(gpu.device, &memory) == nvml::kSuccess) {
    At(sample, GpuValue::kMemoryUsed) = static_cast<int64_t>(memory.used);
  }
  unsigned number = 0;
  const auto is_told = [](nvml::Return result) { return result == nvml::kSuccess; };
  if (nvml.clock != nullptr && is_told(nvml.clock(gpu.device, nvml::kSmClock, &number))) {
    At(sample, GpuValue::kSmClock) = number * kHzPerMhz;
  }
  if (nvml.clock != nullptr && is_told(nvml.clock(gpu.device, nvml::kMemoryClock, &number))) {
    At(sample, GpuValue::kMemoryClock) = number * kHzPerMhz;
  }
  if (nvml.temperature != nullptr &&
      is_told(nvml.temperature(gpu.device, nvml::kGpuTemperature, &number))) {
    At(sample, GpuValue::kTemperature) = number;
  }
  if (nvml.power != nullptr && is_told(nvml.power(gpu.device, &number))) {
    At(sample, GpuValue::kPower) = number;
  }
  unsigned long long bits = 0;
  if (nvml.throttle_reasons != nullptr && is_told(nvml.throttle_reasons(gpu.device, &bits))) {
    At(sample, GpuValue::kThrottleReasons) = static_cast<int64_t>(bits);
  }
  for (const auto& [type, value] : {std::pair(nvml::kCorrected, GpuValue::kEccCorrected),
                                    std::pair(nvml::kUncorrected, GpuValue::kEccUncorrected)}) {
    if (nvml.ecc_errors != nullptr &&
        is_told(nvml.ecc_errors(gpu.device, type, nvml::kSinceBoot, &bits))) {
      At(sample, value) = static_cast<int64_t>(bits);
    }
  }
}

void GpuSampler::ReadFields(Gpu& gpu, NodeSample& sample) const {
  if (functions_.field_values == nullptr) return;
  constexpr int64_t kBytesPerKib = 1024;
  std::array<nvml::FieldValue, 5> fields{};
  fields[0].id = nvml::kTotalEnergyField;
  fields[1].id = nvml::kNvlinkTransmitField;
  fields[2].id = nvml::kNvlinkReceiveField;
  fields[1].scope = fields[2].scope = nvml::kAllLinks;
  fields[3].id = nvml::kPcieTransmitField;
  fields[4].id = nvml::kPcieReceiveField;
  if (functions_.field_values(gpu.device, static_cast<int>(fields.size()), fields.data()) !=
      nvml::kSuccess) {
    return;
  }
  const auto in_bytes = [&](const nvml::FieldValue& field) {
    const int64_t kib = NumberOf(field);
    return kib < 0 ? -1 : kib * kBytesPerKib;
  };
  At(sample, GpuValue::kEnergy) = NumberOf(fields[0]);
  At(sample, GpuValue::kNvlinkTransmit) = in_bytes(fields[1]);
  At(sample, GpuValue::kNvlinkReceive) = in_bytes(fields[2]);
  At(sample, GpuValue::kPcieTransmit) =
      Continue(NumberOf(fields[3]), &gpu.pcie_last[0], &gpu.pcie_sum[0]);
  At(sample, GpuValue::kPcieReceive) =
      Continue(NumberOf(fields[4]), &gpu.pcie_last[1], &gpu.pcie_sum[1]);
}

}  // namespace tutti::collector::counters
